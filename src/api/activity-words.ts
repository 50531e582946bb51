import type { Connector, ConnectorActivity } from "./connector-records.ts";
import { count, plural } from "./plural.ts";

/** A moment in a sentence: "in 5 minutes", "at 2026-11-22 15:00". */
export type When = (at: string) => string;

/**
 * Describes a connector's current activity in a sentence, with the time of the next one; undefined if the state alone describes it, and for push
 * connectors.
 */
export function describeActivity(
  { activity, isPushed }: Pick<Connector, "activity" | "isPushed">,
  when: When,
): string | undefined {
  if (isPushed) return undefined;
  switch (activity.type) {
    case "stopped":
      return undefined;
    case "idle":
      return activity.nextRunAt === null
        ? "Idle. Syncs only when you start a sync."
        : `Idle. Next sync ${when(activity.nextRunAt)}.`;
    case "queued": {
      const place = activity.before === 0 ? "Next in line" : `Behind ${plural(activity.before, "other job")}`;
      return `Queued ${when(activity.since)}. ${place}.`;
    }
    case "syncing":
      return `${describeProgress(activity)}. Started ${when(activity.since)}.`;
    case "waiting":
      return `${WAITS[activity.reason?.code ?? ""] ?? "Waiting"}. Continues ${when(activity.until)}.`;
    case "failing": {
      const failed = activity.failures === 1 ? "The last sync failed" : `The last ${activity.failures} syncs failed`;
      const why = activity.reason === null ? "." : `: ${activity.reason.message}`;
      const next =
        activity.nextTryAt === null ? "Tries again when you start a sync." : `Next try ${when(activity.nextTryAt)}.`;
      return `${failed}${why} ${next}`;
    }
  }
}

/** Describes that kb gets no changes between syncs, why, and when it tries again. */
export function describeNotWatched(
  { nextTryAt, problem }: Pick<NonNullable<Connector["notWatched"]>, "nextTryAt" | "problem">,
  when: When,
): string {
  return `kb notices changes only when it syncs on schedule. ${problem.message} It tries to watch the source again ${when(nextTryAt)}.`;
}

/** Why a run waits, by the code of its problem. */
const WAITS: Readonly<Record<string, string>> = {
  rate_limited: "Waiting, because the source limits requests",
  storage_full: "Waiting, because the server's disk is full",
  database_unusable: "Waiting, because the server's database can't be written",
  resources_exhausted: "Waiting, because the server is out of open files or processes",
};

function describeProgress({ mode, done, total }: Extract<ConnectorActivity, { type: "syncing" }>): string {
  if (mode === "identities") return "Reading users and groups";
  if (total !== null) return `Syncing, ${count(done)} of ${plural(total, "item")}`;
  return done > 0 ? `Syncing, ${plural(done, "item")} so far` : "Syncing";
}
