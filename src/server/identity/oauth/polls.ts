import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import type { Clock } from "#core/clock.ts";
import { hashSecret } from "#core/secrets.ts";

/** Limits how often devices poll for approval of their code. */
export interface PollWatch {
  /** Counts a poll. Returns whether it came too early, which also makes the device wait longer. */
  isTooSoon(deviceCode: string): boolean;
}

/** Minimum seconds between two polls, and the increase for each early poll. Source: RFC 8628 §3.5. */
export const POLL_SECONDS = 5;
/** Network jitter can make a poll this much too early. */
const TOLERANCE_MS = 500;
const MAX_CODES = 5_000;

/** Makes the limiter, in the memory of this process. A code is valid for five minutes. */
export function makePollWatch(clock: Clock): PollWatch {
  const seen = new LRUCache<string, { at: number; seconds: number }>(atMost(MAX_CODES));
  return {
    isTooSoon(deviceCode) {
      const key = hashSecret(deviceCode);
      const last = seen.get(key);
      const now = clock.now();
      const isEarly = last !== undefined && now - last.at < last.seconds * 1000 - TOLERANCE_MS;
      seen.set(key, { at: now, seconds: (last?.seconds ?? POLL_SECONDS) + (isEarly ? POLL_SECONDS : 0) });
      return isEarly;
    },
  };
}
