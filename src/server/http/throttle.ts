import { ApiError } from "#api/errors.ts";
import type { Clock } from "#core/clock.ts";

/** Counts attempts per key and refuses those beyond the rate. */
export interface Throttle {
  /** Takes one token of the key's bucket. @throws ApiError `rate_limited` with the wait until the next token */
  take(key: string): void;
  /**
   * Takes one token of the key's bucket; returns 0, or the milliseconds until the next token if the bucket is empty.
   */
  tryTake(key: string): number;
  /** Milliseconds until the key's bucket has a token, else 0; takes none. */
  waitOf(key: string): number;
  /** Returns a token after a legitimate attempt. */
  giveBack(key: string): void;
}

/** A rate: sustained, and in a burst. */
export interface Rate {
  perMinute: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Maximum buckets, some 3 MB. Beyond it a tenth is dropped: full ones first, then the least recently used. */
const MAX_BUCKETS = 20_000;

/** A token bucket per key: `burst` tokens (by default the tokens of a minute), refilled evenly, in this process. */
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
    // Moved to the end: the map's order is the order of last use.
    buckets.delete(key);
    buckets.set(key, bucket);
    return bucket;
  }

  function makeRoom(now: number): void {
    for (const [key, bucket] of buckets) if (tokensOf(bucket, now) >= burst) buckets.delete(key);
    // Many at once, so that a flood of new keys doesn't scan all of them each time.
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

/** A throttle that never refuses: `KB_RATE_LIMITS=off`. */
export function makeNoThrottle(): Throttle {
  return { take: () => {}, tryTake: () => 0, waitOf: () => 0, giveBack: () => {} };
}
