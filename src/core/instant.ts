/** How far from the epoch an instant can be, in milliseconds: the range of `Date`. Inside, an instant is such a number. */
export const MAX_INSTANT = 8.64e15;

/** Whether a date can show it. */
export function isInstant(ms: number): boolean {
  return Math.abs(ms) <= MAX_INSTANT;
}

/** An instant on the wire: ISO 8601 in UTC. */
export function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

/** The same of an instant that may be absent. */
export function isoOrNull(instant: number | null): string | null {
  return instant === null ? null : isoOf(instant);
}
