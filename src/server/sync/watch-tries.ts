import type { SourceProblem } from "#api/common.ts";
import { isApiError } from "#api/errors.ts";
import { findShortage } from "#core/shortage.ts";
import type { WatchFault } from "#server/connectors/deps.ts";
import { toProblem } from "./problem.ts";

/** Counts tries to listen to connectors. Kept by this process, as the watches are. */
export type WatchTries = ReturnType<typeof makeWatchTries>;

/** The first pause; each one is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 60_000;
const MOST_PAUSE_MS = 60 * 60_000;

/** Makes the count; a watch that lasted for the longest pause was one, and the next pause is the first one again. */
export function makeWatchTries(now: () => number) {
  const pauses = new Map<string, number>();
  const faults = new Map<string, WatchFault>();
  return {
    /** One has failed or ended that began then. @returns when to try again */
    failed(connectorId: string, error: unknown, beganAt: number): number {
      const at = now();
      const former = at - beganAt >= MOST_PAUSE_MS ? undefined : pauses.get(connectorId);
      const pauseMs = former === undefined ? FIRST_PAUSE_MS : Math.min(former * 2, MOST_PAUSE_MS);
      pauses.set(connectorId, pauseMs);
      faults.set(connectorId, { since: at, nextTryAt: at + pauseMs, problem: problemOf(error) });
      return at + pauseMs;
    },
    /** Why it isn't listened to; undefined where it is, or nobody tries. */
    find: (connectorId: string): WatchFault | undefined => faults.get(connectorId),
    /** It is listened to: what is wrong with it is over. The next failure waits as long as if it had never been. */
    began: (connectorId: string): void => void faults.delete(connectorId),
    /** It is another one now, or gone. */
    forget(connectorId: string): void {
      pauses.delete(connectorId);
      faults.delete(connectorId);
    },
  };
}

function problemOf(error: unknown): SourceProblem {
  if (isApiError(error) || findShortage(error)) return toProblem(error);
  return { code: "internal", message: "The server can't watch it. The reason is in the server's log." };
}
