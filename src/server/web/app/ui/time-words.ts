const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Describes a time: `just now`, `5 minutes ago`, `in 3 days`, and from two weeks on the date.
 *
 * @param at   milliseconds since 1970
 * @param now  milliseconds since 1970
 */
export function describeTime(at: number, now: number, locale = "en-GB"): string {
  const distance = Math.abs(at - now);
  // The server's clock may be a little ahead of the browser's.
  if (distance < MINUTE) return at - now > 10_000 ? "in a moment" : "just now";
  if (distance >= 14 * DAY) return new Intl.DateTimeFormat(locale, { dateStyle: "medium" }).format(at);
  const [unit, size] =
    distance < HOUR
      ? (["minute", MINUTE] as const)
      : distance < DAY
        ? (["hour", HOUR] as const)
        : (["day", DAY] as const);
  return new Intl.RelativeTimeFormat(locale).format(Math.trunc((at - now) / size), unit);
}
