import { text, maybe } from "#sources/lenient.ts";
import { z } from "zod";
import { readHookJson, type Webhook, type WebhookChange, hmacOf, isSame } from "#sources/webhook.ts";
import type { SlackConfig } from "./config.ts";
import { FULL_MEMBERS } from "./people.ts";
import { threadId } from "./map.ts";

/**
 * The most age of a request. An older one may be a replay. Source:
 * https://docs.slack.dev/authentication/verifying-requests-from-slack
 */
const MOST_AGE_MS = 5 * 60_000;

/**
 * The webhook of Slack's Events API. All workspaces of an app use one URL and are distinguished by the workspace's id.
 */
export const slackWebhook: Webhook<SlackConfig> = {
  verify(secret, { headers, rawBody, receivedAt }) {
    const stamp = headers.get("x-slack-request-timestamp") ?? "";
    const isSigned = isSame(headers.get("x-slack-signature"), `v0=${hmacOf(secret, `v0:${stamp}:`, rawBody)}`);
    const isFresh = /^\d{1,12}$/.test(stamp) && Math.abs(receivedAt - Number(stamp) * 1_000) <= MOST_AGE_MS;
    if (!isSigned || !isFresh) return "refused";
    const { data } = Delivery.safeParse(readHookJson(rawBody));
    if (data?.type === "url_verification") {
      return { changes: [], reply: { contentType: "text/plain", body: data.challenge } };
    }
    if (data?.type !== "event_callback") return { changes: [] };
    return {
      target: { instance: "https://slack.com", installation: data.team_id },
      delivery: data.event_id,
      changes: changesOf(data.event),
    };
  },
};

const ChangedMessage = maybe(z.object({ ts: text, thread_ts: text }));
const Event = z.object({
  type: z.string(),
  subtype: text,
  channel: text,
  ts: text,
  thread_ts: text,
  message: ChangedMessage,
  previous_message: ChangedMessage,
  user: maybe(z.object({ deleted: z.boolean() })),
});

/** The subtypes of messages that Slack writes into a channel when its visibility changes. */
const CONVERTED: ReadonlySet<string> = new Set(["channel_convert_to_private", "channel_convert_to_public"]);

const Delivery = z.discriminatedUnion("type", [
  z.object({ type: z.literal("url_verification"), challenge: z.string().max(1_000) }),
  z.object({
    type: z.literal("event_callback"),
    team_id: z.string().min(1),
    event_id: z.string().min(1),
    event: Event,
  }),
]);

function changesOf(event: z.infer<typeof Event>): WebhookChange[] {
  const { type, subtype, channel } = event;
  switch (type) {
    case "message": {
      if (channel !== undefined && subtype !== undefined && CONVERTED.has(subtype)) {
        return [{ t: "delta" }, { t: "groups", ids: [`room:${channel}`] }];
      }
      const shown =
        subtype === "message_changed" ? event.message : subtype === "message_deleted" ? event.previous_message : event;
      const root = shown?.thread_ts ?? shown?.ts;
      const isGone = subtype === "message_deleted" && root === shown?.ts;
      if (isGone || channel === undefined || root === undefined) return [{ t: "delta" }];
      return [{ t: "items", externalIds: [threadId(channel, root)] }];
    }
    case "member_joined_channel":
    case "member_left_channel":
      return channel === undefined ? [{ t: "delta" }] : [{ t: "groups", ids: [`room:${channel}`] }];
    case "user_change":
      // Only a deactivation is reported as a change of people. Profiles change often, but accounts are rarely
      // deactivated.
      if (event.user?.deleted === true) return [{ t: "groups", ids: [FULL_MEMBERS] }, { t: "people" }];
      return [{ t: "groups", ids: [FULL_MEMBERS] }];
    case "team_join":
      return [{ t: "groups", ids: [FULL_MEMBERS] }];
    default:
      return [{ t: "delta" }];
  }
}
