/**
 * How far in the future a timestamp may be. A later one was recorded by a machine whose clock was wrong, so it is
 * treated as never.
 */
export const MOST_AHEAD_MS = 5 * 60_000;

/** Whether a timestamp was recorded before the clock was set back. */
export function isAhead(at: number, now: number): boolean {
  return at > now + MOST_AHEAD_MS;
}

/** The time of a decision, and how long a source's permissions are trusted. */
export interface Believing {
  now: number;
  maxAclAgeMs: number;
}

/** Returns until when a fact that was checked at an instant is trusted; undefined = it isn't trusted now. */
export function believedUntil(at: number | null, { now, maxAclAgeMs }: Believing): number | undefined {
  if (at === null || isAhead(at, now) || at + maxAclAgeMs <= now) return undefined;
  return at + maxAclAgeMs;
}
