import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import type { Clock } from "#core/clock.ts";
import { hashSecret } from "#core/secrets.ts";

/** Keeps devices from asking too often whether their code was approved. */
export interface PollWatch {
  /** Counts one question; true when it comes before the device may ask again, which also makes it wait longer. */
  isTooSoon(deviceCode: string): boolean;
}

/** Seconds between two questions, and what each one too early adds. Source: RFC 8628 §3.5. */
export const POLL_SECONDS = 5;
/** A question may be early by as much as networks are uneven. */
const TOLERANCE_MS = 500;
const MAX_CODES = 5_000;

/** In the memory of this process; a code lives five minutes. */
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
