/**
 * How far from the epoch an instant can be, in milliseconds: the range of `Date`. Internally, an instant is such a
 * number.
 */
export const MAX_INSTANT = 8.64e15;

/** The years 1 to 9999, which every form of a date here can write. */
const FIRST_INSTANT = -62_135_596_800_000;
const LAST_INSTANT = 253_402_300_799_999;

/**
 * Whether it is a moment of the years 1 to 9999: only those are accepted from a source, stored or shown. Source: S68.
 */
export function isInstant(ms: number): boolean {
  return ms >= FIRST_INSTANT && ms <= LAST_INSTANT;
}

/** An instant on the wire: ISO 8601 in UTC. */
export function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

/** The same for an instant that may be null. */
export function isoOrNull(instant: number | null): string | null {
  return instant === null ? null : isoOf(instant);
}
