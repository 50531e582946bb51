/** A clock this far ahead of now was set by a machine whose clock was wrong: it counts as never. */
export const MOST_AHEAD_MS = 5 * 60_000;

/** Whether an instant is one that the clock had before it went back. */
export function isAhead(at: number, now: number): boolean {
  return at > now + MOST_AHEAD_MS;
}

/** When something is judged, and how long permissions of a source are believed. */
export interface Believing {
  now: number;
  maxAclAgeMs: number;
}

/** Until when something that was true at an instant is believed; undefined = it is not believed now. */
export function believedUntil(at: number | null, { now, maxAclAgeMs }: Believing): number | undefined {
  if (at === null || isAhead(at, now) || at + maxAclAgeMs <= now) return undefined;
  return at + maxAclAgeMs;
}
