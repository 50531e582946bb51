import { z } from "zod";
import { MAX_FILE_MB } from "#sources/file-scope/file-size.ts";

/** Config keys of every chat source: how far back it reads, and whether it reads conversations between a few people. */
export const CHAT_CHOICES = {
  historyDays: z.number().int().min(1).max(36_500).default(365).meta({
    title: "History (days)",
    description: "How far back kb reads messages. For a thread, the date of its newest reply decides.",
  }),
  directMessages: z.boolean().default(false).meta({
    title: "Direct messages",
    description: "Read direct messages of the account, too. Only the people in a conversation can find it.",
  }),
  maxFileMb: MAX_FILE_MB,
};

const DAY_MS = 86_400_000;

/** Returns the time before which messages aren't read, in epoch milliseconds. */
export function windowStart({ historyDays }: { historyDays: number }, now: number): number {
  return now - historyDays * DAY_MS;
}
