import { LONGEST_WAIT_MS } from "./buckets.ts";

/** The budget of a run for retries after transient failures. */
export interface Repeats {
  /** Returns the wait before the next try in milliseconds; undefined = no further tries. */
  waitAfter(tries: number, retryAfterMs: number | undefined): number | undefined;
}

const WAITS_MS = [1_000, 4_000, 16_000];
const MOST_REPEATS = 30;
const MOST_MS = 600_000;

/**
 * Makes one budget for all requests of a run. Without it, a server that fails for a thousand pages would delay the run
 * for hours.
 */
export function makeRepeats(): Repeats {
  let left = MOST_REPEATS;
  let msLeft = MOST_MS;
  return {
    waitAfter(tries, retryAfterMs) {
      const usual = WAITS_MS[tries - 1];
      if (usual === undefined || left === 0) return undefined;
      const waitMs = retryAfterMs ?? usual;
      if (waitMs > Math.min(msLeft, LONGEST_WAIT_MS)) return undefined;
      left--;
      msLeft -= waitMs;
      return waitMs;
    },
  };
}
