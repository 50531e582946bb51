import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { ApiError } from "#api/errors.ts";
import { type LimitSpec, PER_MINUTE } from "#sources/http-contract.ts";

/** Waits for a time. Rejects with the signal's reason if the signal is aborted. */
export type AbortableSleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** The rate limit of one credential at one host, shared by all its connectors. */
export interface Bucket {
  /**
   * Waits for the turn of one request, at most `LONGEST_WAIT_MS`.
   *
   * @throws ApiError `source_rate_limited` immediately if the wait would be longer, so that the worker can process
   * other work
   */
  take(limits: LimitSpec, signal: AbortSignal): Promise<void>;
  /** Delays all requests until this time. */
  block(until: number): void;
}

/** The longest wait. A request that would have to wait longer fails. */
export const LONGEST_WAIT_MS = 20_000;
/** The longest wait that a provider can request. A longer one is shortened, after which requests are sent again. */
export const LONGEST_BLOCK_MS = 24 * 3_600_000;

const BURST = 60;

/**
 * Makes the buckets of a server. `of(credential, host)` returns the same bucket for every connector with that
 * credential.
 */
export function makeBuckets({ now, sleep }: { now(): number; sleep: AbortableSleep }) {
  const buckets = new LRUCache<string, Bucket>(atMost(20_000));
  return {
    of(credentialKey: string, host: string): Bucket {
      const key = `${credentialKey} ${host}`;
      const known = buckets.get(key);
      if (known) return known;
      const made = makeBucket(host, now, sleep);
      buckets.set(key, made);
      return made;
    },
  };
}

/** Makes a bucket with the generic cell rate algorithm. `due` is the time at which the bucket will be full again. */
function makeBucket(host: string, now: () => number, sleep: AbortableSleep): Bucket {
  let due = 0;
  let blockedUntil = 0;
  return {
    async take({ perMinute = PER_MINUTE, burst = BURST }, signal) {
      const intervalMs = 60_000 / perMinute;
      const at = now();
      const freeAt = Math.max(due - (burst - 1) * intervalMs, blockedUntil);
      if (freeAt - at > LONGEST_WAIT_MS) throw rateLimited(host, freeAt - at);
      due = Math.max(due, at) + intervalMs;
      if (freeAt > at) await sleep(freeAt - at, signal);
      // Meanwhile, the provider delayed another request with this credential.
      while (blockedUntil > now()) {
        const waitMs = blockedUntil - now();
        if (waitMs > LONGEST_WAIT_MS) throw rateLimited(host, waitMs);
        await sleep(waitMs, signal);
      }
    },
    block(until) {
      blockedUntil = Math.max(blockedUntil, Math.min(until, now() + LONGEST_BLOCK_MS));
    },
  };
}

export function rateLimited(host: string, retryAfterMs: number, status?: number): ApiError {
  return new ApiError("source_rate_limited", {
    message: `${host} asks to wait${status === undefined ? "" : ` (HTTP ${status})`}.`,
    retryAfterMs: Math.ceil(Math.min(Math.max(retryAfterMs, 1_000), LONGEST_BLOCK_MS)),
  });
}
