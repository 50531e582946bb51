import { setTimeout } from "node:timers/promises";

/** A clock that never stops or goes back, in milliseconds since any moment, for measuring computing time. */
export const COMPUTING_TIME = { now: () => performance.now(), sleep: (ms: number): Promise<void> => setTimeout(ms) };

export type ComputingTime = typeof COMPUTING_TIME;

/**
 * How often callers check for a gap while people search. One caller begins in each gap: all at once would delay the
 * next search.
 */
const CHECK_MS = 3;
/** While searches leave no gap, one begins in this time. Source: docs/decisions/0043. */
const PACE_MS = 20;
/** After this long without a search, no one is assumed to be searching. */
const QUIET_MS = 25;

/** Makes the gaps of a gate. `isIdle` = no search is running or waiting. */
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
     * Waits for a moment without a search, one caller after the other. Callers go on one by one while people search,
     * and at a slow pace when searches leave no such moment.
     */
    async wait(): Promise<void> {
      if (waiting.length === 0 && isQuiet()) return;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (!isWatching) void watch();
      });
    },
    /** Call when a search has ended: a gap begins if none is running now. */
    begin(): void {
      endedAt = now();
    },
  };
}
