import type { SourceProblem } from "#api/common.ts";
import { isApiError } from "#api/errors.ts";
import { findShortage } from "#core/shortage.ts";
import type { WatchFault } from "#server/connectors/deps.ts";
import { toProblem } from "#server/sync/problem.ts";

/** Counts tries to watch connectors. Kept by this process, as the watches are. */
export type WatchTries = ReturnType<typeof makeWatchTries>;

/** The first pause; each one is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 60_000;
const MOST_PAUSE_MS = 60 * 60_000;

/**
 * Makes the count. A watch that lasted for the longest pause counts as working: the next pause is the first one again.
 */
export function makeWatchTries(now: () => number) {
  const pauses = new Map<string, number>();
  const faults = new Map<string, WatchFault>();
  return {
    /** Records that a watch begun then has failed or ended. @returns when to try again */
    failed(connectorId: string, error: unknown, beganAt: number): number {
      const at = now();
      const former = at - beganAt >= MOST_PAUSE_MS ? undefined : pauses.get(connectorId);
      const pauseMs = former === undefined ? FIRST_PAUSE_MS : Math.min(former * 2, MOST_PAUSE_MS);
      pauses.set(connectorId, pauseMs);
      faults.set(connectorId, { since: at, nextTryAt: at + pauseMs, problem: problemOf(error) });
      return at + pauseMs;
    },
    /** Why it isn't watched; undefined if it is, or if it isn't tried. */
    find: (connectorId: string): WatchFault | undefined => faults.get(connectorId),
    /** Records that it is watched: its failures are cleared, and the next one waits the first pause again. */
    began: (connectorId: string): void => void faults.delete(connectorId),
    /** Forgets a connector that has changed or is gone. */
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
