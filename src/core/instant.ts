/**
 * How far from the epoch an instant can be, in milliseconds: the range of `Date`. Inside kb, an instant is such a
 * number.
 */
export const MAX_INSTANT = 8.64e15;

/** The beginning of the year 1. The years 1 to 9999 can be written in every date format that kb uses. */
const FIRST_INSTANT = -62_135_596_800_000;
const LAST_INSTANT = 253_402_300_799_999;

/**
 * Whether a number is an instant in the years 1 to 9999. Only those are accepted from a source, stored or shown.
 * Source: S68.
 */
export function isInstant(ms: number): boolean {
  return ms >= FIRST_INSTANT && ms <= LAST_INSTANT;
}

/** Formats an instant for the wire: ISO 8601 in UTC. */
export function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

/** Formats an instant that may be null like `isoOf`. */
export function isoOrNull(instant: number | null): string | null {
  return instant === null ? null : isoOf(instant);
}
