/** Formats an instant as RFC 3339 in UTC, to the second. @param time  epoch milliseconds */
export function isoSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/u, "Z");
}

/** Formats a part of a date or time with two digits. */
export function twoDigits(value: number | string): string {
  return String(value).padStart(2, "0");
}
