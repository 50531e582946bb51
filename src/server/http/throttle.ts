import { ApiError } from "#api/errors.ts";
import type { Clock } from "#core/clock.ts";

/** Counts attempts per key, and refuses attempts beyond the rate. */
export interface Throttle {
  /** Takes a token from the key's bucket. @throws ApiError `rate_limited` with the wait until the next token */
  take(key: string): void;
  /**
   * Takes a token from the key's bucket. Returns 0, or the milliseconds until the next token if the bucket is empty.
   */
  tryTake(key: string): number;
  /** Returns the milliseconds until the key's bucket has a token, or 0 if it has one. Takes none. */
  waitOf(key: string): number;
  /** Puts a token back after a legitimate attempt. */
  giveBack(key: string): void;
}

/** A sustained rate and a burst. */
export interface Rate {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Maximum number of buckets, some 3 MB. If it is exceeded, a tenth is dropped: full buckets first, then the least
 * recently used.
 */
const MAX_BUCKETS = 20_000;

/**
 * Makes a token bucket for each key, in the memory of this process. It has `burst` tokens (by default the tokens of a
 * minute) and is refilled evenly.
 */
export function makeThrottle(options: {
  perMinute: number;
  burst?: number;
  clock: Clock;
  message: string;
  maxBuckets?: number;
}): Throttle {
  const { perMinute, burst = perMinute, clock, message, maxBuckets = MAX_BUCKETS } = options;
  const buckets = new Map<string, Bucket>();
  const msPerToken = 60_000 / perMinute;
  const tokensOf = (bucket: Bucket, now: number) => Math.min(burst, bucket.tokens + (now - bucket.at) / msPerToken);

  function refilled(key: string): Bucket {
    const now = clock.now();
    const former = buckets.get(key);
    if (former === undefined && buckets.size >= maxBuckets) makeRoom(now);
    const bucket = { tokens: former === undefined ? burst : tokensOf(former, now), at: now };
    // The entry moves to the end, so that the map is in the order of last use.
    buckets.delete(key);
    buckets.set(key, bucket);
    return bucket;
  }

  function makeRoom(now: number): void {
    for (const [key, bucket] of buckets) if (tokensOf(bucket, now) >= burst) buckets.delete(key);
    // Drops many at once, so that a flood of new keys doesn't cause a scan for each key.
    for (const key of buckets.keys()) {
      if (buckets.size <= maxBuckets * 0.9) break;
      buckets.delete(key);
    }
  }

  const waitUntilOne = (tokens: number) => (tokens < 1 ? Math.ceil((1 - tokens) * msPerToken) : 0);

  function tryTake(key: string): number {
    const bucket = refilled(key);
    const waitMs = waitUntilOne(bucket.tokens);
    if (waitMs === 0) bucket.tokens -= 1;
    return waitMs;
  }

  return {
    tryTake,
    waitOf(key) {
      const bucket = buckets.get(key);
      return bucket === undefined ? 0 : waitUntilOne(tokensOf(bucket, clock.now()));
    },
    take(key) {
      const waitMs = tryTake(key);
      if (waitMs > 0) throw new ApiError("rate_limited", { message, retryAfterMs: waitMs });
    },
    giveBack(key) {
      const bucket = refilled(key);
      bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}

/** Makes a throttle that never refuses, for `KB_RATE_LIMITS=off`. */
export function makeNoThrottle(): Throttle {
  return { take: () => {}, tryTake: () => 0, waitOf: () => 0, giveBack: () => {} };
}
