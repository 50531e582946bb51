import { test } from "vitest";
import { describeActivity, describeNotWatched } from "#api/activity-words.ts";
import type { ConnectorActivity } from "#api/connector-records.ts";

const AT = "2026-11-22T15:00:00.000Z";
const said = (activity: ConnectorActivity, isPushed = false) =>
  describeActivity({ activity, isPushed }, (at) => `at ${at.slice(11, 16)}`);

test("a connector says what it does now and when it does the next thing", ({ expect }) => {
  const syncing = { type: "syncing", mode: "full", since: AT, done: 0, total: null } as const;
  const failing = { type: "failing", failures: 1, nextTryAt: AT, reason: null } as const;
  const cases: [ConnectorActivity, string][] = [
    [{ type: "idle", nextRunAt: AT }, "Idle. Next sync at 15:00."],
    [{ type: "idle", nextRunAt: null }, "Idle. Syncs only when you start a sync."],
    [{ type: "queued", since: AT, before: 0 }, "Queued at 15:00. Next in line."],
    [{ type: "queued", since: AT, before: 1_200 }, "Queued at 15:00. Behind 1,200 other jobs."],
    [syncing, "Syncing. Started at 15:00."],
    [{ ...syncing, done: 1 }, "Syncing, 1 item so far. Started at 15:00."],
    [{ ...syncing, done: 20, total: 1_500 }, "Syncing, 20 of 1,500 items. Started at 15:00."],
    [{ ...syncing, mode: "identities" }, "Reading users and groups. Started at 15:00."],
    [{ type: "waiting", until: AT, reason: null }, "Waiting. Continues at 15:00."],
    [failing, "The last sync failed. Next try at 15:00."],
    [
      { ...failing, failures: 3, nextTryAt: null, reason: { code: "unreachable", message: "No one answers." } },
      "The last 3 syncs failed: No one answers. Tries again when you start a sync.",
    ],
  ];
  for (const [activity, words] of cases) expect(said(activity)).toBe(words);
});

test("a limit of the source is no reason to reconnect", ({ expect }) => {
  const limited: ConnectorActivity = { type: "waiting", until: AT, reason: { code: "rate_limited", message: "429" } };
  expect(said(limited)).toBe("Waiting, because the source limits requests. Continues at 15:00.");
});

test("what its state says is not said again, nor what no source is read for", ({ expect }) => {
  expect(said({ type: "stopped" })).toBeUndefined();
  expect(said({ type: "idle", nextRunAt: null }, true)).toBeUndefined();
});

test("a connector that kb can't watch says why, and when kb tries again", ({ expect }) => {
  const problem = { code: "unreachable", message: "The server can't be reached." } as const;
  const said = describeNotWatched({ nextTryAt: AT, problem }, (at) => `at ${at.slice(11, 16)}`);
  expect(said).toBe(
    "kb notices changes only when it syncs on schedule. The server can't be reached. It tries to watch the source again at 15:00.",
  );
});
