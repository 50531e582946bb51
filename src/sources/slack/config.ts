import { baseUrlKey } from "#sources/base-url.ts";
import { z } from "zod";
import { CHAT_CHOICES } from "#sources/chat/config.ts";

/** Config of a Slack workspace. Unknown keys are errors. */
export const SlackConfig = z.strictObject({
  url: baseUrlKey("Give an https:// or http:// address without ? or #.").default("https://slack.com").meta({
    title: "Address",
    description: "Address of Slack. Leave it as it is, unless you use GovSlack.",
    fromAccount: "baseUrl",
  }),
  channels: z.array(z.string().min(1).max(200)).max(1_000).default([]).meta({
    title: "Channels",
    description: "IDs or names of channels. If empty, kb reads every channel that the app is in.",
  }),
  ...CHAT_CHOICES,
  historyDays: CHAT_CHOICES.historyDays.meta({
    title: "History (days)",
    description: "How far back kb reads messages. For a thread, the date of its first message decides.",
  }),
});
export type SlackConfig = z.infer<typeof SlackConfig>;

export const SlackCredentials = z.strictObject({
  token: z.string().min(1).max(1_000).meta({
    title: "Token",
    format: "password",
    description: "The bot token (xoxb-…) of your app, or a user token (xoxp-…).",
  }),
});
