import { LONGEST_WAIT_MS } from "./buckets.ts";

/** How often a run may send again what failed in passing. */
export interface Repeats {
  /** The wait before the next try, in milliseconds; undefined = not again. */
  waitAfter(tries: number, retryAfterMs: number | undefined): number | undefined;
}

const WAITS_MS = [1_000, 4_000, 16_000];
const MOST_REPEATS = 30;
const MOST_MS = 600_000;

/** One budget for all requests of a run: a server that fails at a thousand pages would hold it for hours. */
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
