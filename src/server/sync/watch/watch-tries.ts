import type { SourceProblem } from "#api/common.ts";
import { isApiError } from "#api/errors.ts";
import { findShortage } from "#core/shortage.ts";
import type { WatchFault } from "#server/connectors/deps.ts";
import { toProblem } from "#server/sync/problem.ts";

/** Counts attempts to watch connectors. The counts are in this process only, like the watches. */
export type WatchTries = ReturnType<typeof makeWatchTries>;

/** The first pause. Each further pause is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 60_000;
const MOST_PAUSE_MS = 60 * 60_000;

/**
 * Makes the counter. A watch that lasted for the longest pause counts as working, so the next pause is the first one
 * again.
 */
export function makeWatchTries(now: () => number) {
  const pauses = new Map<string, number>();
  const faults = new Map<string, WatchFault>();
  return {
    /** Records that a watch that began at `beganAt` has failed or ended. @returns when to try again */
    failed(connectorId: string, error: unknown, beganAt: number): number {
      const at = now();
      const former = at - beganAt >= MOST_PAUSE_MS ? undefined : pauses.get(connectorId);
      const pauseMs = former === undefined ? FIRST_PAUSE_MS : Math.min(former * 2, MOST_PAUSE_MS);
      pauses.set(connectorId, pauseMs);
      faults.set(connectorId, { since: at, nextTryAt: at + pauseMs, problem: problemOf(error) });
      return at + pauseMs;
    },
    /** Returns why the connector isn't watched; undefined if it is watched or if no one tried. */
    find: (connectorId: string): WatchFault | undefined => faults.get(connectorId),
    /**
     * Records that the connector is watched. Its failures are cleared, and after the next failure the pause is the
     * first one again.
     */
    began: (connectorId: string): void => void faults.delete(connectorId),
    /** Removes the record of a connector that has changed or is gone. */
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
