/** A clock this far ahead of now was set by a machine whose clock was wrong: it counts as never. */
const MOST_AHEAD_MS = 5 * 60_000;

/** When something is judged, and how long permissions of a source are believed. */
export interface Believing {
  now: number;
  maxAclAgeMs: number;
}

/** Until when something that was true at an instant is believed; undefined = it is not believed now. */
export function believedUntil(at: number | null, { now, maxAclAgeMs }: Believing): number | undefined {
  if (at === null || at > now + MOST_AHEAD_MS || at + maxAclAgeMs <= now) return undefined;
  return at + maxAclAgeMs;
}
