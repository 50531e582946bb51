import { expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeSlackFixture } from "./fixture.ts";

/** A workspace that was read, and what a second run leaves when a message of each page is changed so. */
async function readAgain(change: (message: Record<string, unknown>) => Record<string, unknown>) {
  const fixture = await makeSlackFixture();
  const replica = makeReplica();
  await runInto(fixture, replica);
  const before = [...replica.items.keys()].sort();
  const rewrite = (url: string, value: unknown) => {
    const { messages } = Object(value) as { messages?: Record<string, unknown>[] };
    if (!url.endsWith("conversations.history") || !messages?.[0]) return value;
    return { ...Object(value), messages: [change(messages[0]), ...messages.slice(1)] };
  };
  const { events } = await runInto({ ...fixture, rewrite }, replica);
  return { before, after: [...replica.items.keys()].sort(), events };
}

test("a message without files may say so by null", async () => {
  const { before, after, events } = await readAgain((message) => ({ ...message, files: message["files"] ?? null }));
  expect(after).toEqual(before);
  expect(events.filter(({ t }) => t === "skip")).toEqual([]);
});

test("a message that isn't understood stays as it was, and its channel is read", async () => {
  const { before, after, events } = await readAgain((message) => ({ ...message, files: "odd" }));
  expect(after).toEqual(before);
  const failed = events.flatMap((event) => (event.t === "skip" ? [event.externalId] : []));
  expect(failed.length).toBeGreaterThan(0);
  for (const externalId of failed) expect(externalId).toMatch(/^\w+\/\d+\.\d+$/);
});
