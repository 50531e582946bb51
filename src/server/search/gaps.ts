import { setTimeout } from "node:timers/promises";

/** A clock that never stops or goes back, in milliseconds from an arbitrary start, for measuring computing time. */
export const COMPUTING_TIME = { now: () => performance.now(), sleep: (ms: number): Promise<void> => setTimeout(ms) };

export type ComputingTime = typeof COMPUTING_TIME;

/**
 * How often callers check for a gap while people search. One caller starts in each gap, because all at once would delay
 * the next search.
 */
const CHECK_MS = 3;
/** While searches leave no gap, one caller starts in each interval of this length. Source: docs/decisions/0043. */
const PACE_MS = 20;
/** After this long without a search, the gate assumes that no one is searching. */
const QUIET_MS = 25;

/** Finds gaps between the searches of a gate. `isIdle` = no search is running or waiting. */
export function makeGaps(isIdle: () => boolean, { now, sleep }: ComputingTime) {
  const waiting: (() => void)[] = [];
  let endedAt = -Infinity;
  let isWatching = false;

  const isQuiet = () => isIdle() && now() - endedAt >= QUIET_MS;

  const watch = async () => {
    isWatching = true;
    let begunAt = now();
    while (waiting.length > 0) {
      await sleep(CHECK_MS);
      if (isQuiet()) for (const resolve of waiting.splice(0)) resolve();
      else if (isIdle() || now() - begunAt >= PACE_MS) {
        begunAt = now();
        waiting.shift()?.();
      }
    }
    isWatching = false;
  };

  return {
    /**
     * Waits for a moment without a search. While people search, callers continue one at a time. If searches leave no
     * such moment, callers continue at a slow pace.
     */
    async wait(): Promise<void> {
      if (waiting.length === 0 && isQuiet()) return;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (!isWatching) void watch();
      });
    },
    /** Call this when a search has ended. A gap begins if no search is running. */
    begin(): void {
      endedAt = now();
    },
  };
}
