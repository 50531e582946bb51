import { expect, test } from "vitest";
import { slackWebhook } from "#sources/slack/webhook.ts";
import { SECRET, signed } from "./fixture.ts";

const event = (told: object) => ({ type: "event_callback", team_id: "T1", event_id: "Ev1", event: told });
const changesOf = (told: object) => {
  const said = slackWebhook.verify(SECRET, signed(event(told)));
  return said === "refused" ? said : said.changes;
};

test("a challenge is answered only when it is signed", () => {
  const body = { type: "url_verification", challenge: "abc" };
  expect(slackWebhook.verify(SECRET, signed(body))).toMatchObject({ reply: { body: "abc" } });
  expect(slackWebhook.verify(SECRET, signed(body, { secret: "another" }))).toBe("refused");
});

test("another body, no signature and a request of six minutes ago are refused", () => {
  const good = signed(event({ type: "message", channel: "C1", ts: "1.1" }));
  expect(slackWebhook.verify(SECRET, good)).toMatchObject({
    target: { instance: "https://slack.com", installation: "T1" },
    delivery: "Ev1",
  });
  expect(slackWebhook.verify(SECRET, { ...good, rawBody: Buffer.from("{}") })).toBe("refused");
  expect(slackWebhook.verify(SECRET, { ...good, headers: new Headers() })).toBe("refused");
  for (const off of [-6, 6]) {
    expect(slackWebhook.verify(SECRET, { ...good, receivedAt: good.receivedAt + off * 60_000 })).toBe("refused");
  }
});

test("what changed is the thread, or who is in the channel, or something", () => {
  const items = (id: string) => [{ t: "items", externalIds: [id] }];
  expect(changesOf({ type: "message", channel: "C1", ts: "2.1" })).toEqual(items("C1/2.1"));
  expect(changesOf({ type: "message", channel: "C1", ts: "3.1", thread_ts: "2.1" })).toEqual(items("C1/2.1"));
  const about = (ts: string, thread_ts?: string) => ({ ts, ...(thread_ts && { thread_ts }) });
  const message = { type: "message", channel: "C1", ts: "9.1" };
  expect(changesOf({ ...message, subtype: "message_changed", message: about("3.1", "2.1") })).toEqual(items("C1/2.1"));
  expect(changesOf({ ...message, subtype: "message_deleted", previous_message: about("3.1", "2.1") })).toEqual(
    items("C1/2.1"),
  );
  expect(changesOf({ ...message, subtype: "message_deleted", previous_message: about("2.1") })).toEqual([
    { t: "delta" },
  ]);
  expect(changesOf({ type: "member_left_channel", channel: "C1", user: "U1" })).toEqual([
    { t: "groups", ids: ["room:C1"] },
  ]);
  expect(changesOf({ type: "channel_rename", channel: { id: "C1" } })).toEqual([{ t: "delta" }]);
});
