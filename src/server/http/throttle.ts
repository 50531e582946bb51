import { ApiError } from "#api/errors.ts";
import type { Clock } from "#server/ports/clock.ts";

/** Counts attempts per key and refuses what comes too often. */
export interface Throttle {
  /** Takes one token of the key's bucket. @throws ApiError `rate_limited` with the wait until the next token */
  take(key: string): void;
  /** Gives a token back: the attempt was a legitimate one. */
  giveBack(key: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Buckets kept; beyond it the ones that are full again go first, then the oldest. */
const MAX_BUCKETS = 20_000;

/** A token bucket per key: `perMinute` tokens, refilled evenly. In the memory of this process. */
export function makeThrottle(options: { perMinute: number; clock: Clock; message: string }): Throttle {
  const { perMinute, clock, message } = options;
  const buckets = new Map<string, Bucket>();
  const msPerToken = 60_000 / perMinute;

  function refilled(key: string): Bucket {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: perMinute, at: now };
    bucket.tokens = Math.min(perMinute, bucket.tokens + (now - bucket.at) / msPerToken);
    bucket.at = now;
    // Moved to the end: the map's order is the order of last use.
    buckets.delete(key);
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    take(key) {
      if (buckets.size >= MAX_BUCKETS) sweep(buckets, perMinute, clock.now(), msPerToken);
      const bucket = refilled(key);
      if (bucket.tokens < 1) {
        throw new ApiError("rate_limited", { message, retryAfterMs: Math.ceil((1 - bucket.tokens) * msPerToken) });
      }
      bucket.tokens -= 1;
    },
    giveBack(key) {
      const bucket = refilled(key);
      bucket.tokens = Math.min(perMinute, bucket.tokens + 1);
    },
  };
}

/** A throttle that never refuses: `KB_RATE_LIMITS=off`. */
export function makeNoThrottle(): Throttle {
  return { take: () => {}, giveBack: () => {} };
}

function sweep(buckets: Map<string, Bucket>, perMinute: number, now: number, msPerToken: number): void {
  for (const [key, bucket] of buckets) {
    if (bucket.tokens + (now - bucket.at) / msPerToken >= perMinute) buckets.delete(key);
  }
  for (const key of buckets.keys()) {
    if (buckets.size < MAX_BUCKETS) break;
    buckets.delete(key);
  }
}
