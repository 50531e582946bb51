/** Whole days in a person's time zone: parses the values of `after` and `before`, and formats the dates in answers. Source: B11. */

/** A range of whole days as epoch milliseconds, `until` exclusive. */
export interface DayRange {
  from: number;
  until: number;
}

/**
 * Parses a text to days, relative to the moment `now` in `timeZone`: `2026-11-01`, `2026-11`, `2026`, a timestamp (its
 * day), `today`, `yesterday`, `tomorrow`, `7d`/`2w`/`3m`/`1y` (ago), `+7d` (ahead), `last 7 days`, `this week`, `last
 * month`, `next year` …, and weekdays: `monday` is the latest one up to today (with `isAhead` the next one from today
 * on), `last monday` the one before today, `next monday` the one after, `this monday` that of this week. Undefined for
 * anything else. Weeks begin on Monday.
 */
export function parseDays(text: string, now: number, timeZone: string, isAhead = false): DayRange | undefined {
  if (text.length > MOST_CHARS) return undefined;
  const asked = text.trim().toLowerCase().replace(/\s+/g, " ");
  const today = dayOf(now, timeZone);
  const days =
    calendarDays(asked, timeZone) ??
    namedDays(asked, today) ??
    weekday(asked, today, isAhead) ??
    relativeDays(asked, today);
  if (days === undefined) return undefined;
  return { from: startOfDay(days.first, timeZone), until: startOfDay(days.next, timeZone) };
}

/** The longest valid form has fewer than half as many characters. */
const MOST_CHARS = 100;

/** The day of a moment in the zone, as `2026-11-19`. */
export function formatDay(at: number, timeZone: string): string {
  return printDay(dayOf(at, timeZone));
}

/** The distance of a day from now in the largest fitting unit: `2 days ago`, `today`, `in 3 weeks`. */
export function distanceOf(at: number, now: number, timeZone: string): string {
  const days = Math.round((utcOf(dayOf(now, timeZone)) - utcOf(dayOf(at, timeZone))) / DAY_MS);
  if (days === 0) return "today";
  if (days === 1) return "yesterday";
  if (days === -1) return "tomorrow";
  const size = Math.abs(days);
  const [count, unit] =
    size < 14
      ? [size, "day"]
      : size < 60
        ? [Math.floor(size / 7), "week"]
        : size < 730
          ? [Math.floor(size / 30.4), "month"]
          : [Math.floor(size / 365), "year"];
  const amount = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return days > 0 ? `${amount} ago` : `in ${amount}`;
}

/** `2026-11-21 Sat 10:20 Europe/Berlin`. */
export function formatNow(now: number, timeZone: string): string {
  const parts = partsOf(now, timeZone);
  const day: Day = { year: parts.year, month: parts.month, day: parts.day };
  const weekday = WEEKDAYS[new Date(utcOf(day)).getUTCDay()] ?? "";
  return `${printDay(day)} ${weekday} ${two(parts.hour)}:${two(parts.minute)} ${timeZone}`;
}

interface Day {
  year: number;
  /** 1–12. */
  month: number;
  day: number;
}

interface Days {
  first: Day;
  /** The day after the last day of the range. */
  next: Day;
}

const DAY_MS = 86_400_000;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function calendarDays(text: string, timeZone: string): Days | undefined {
  const full = /^(\d{4})-(\d{2})-(\d{2})(t.*| \d{2}:.*)?$/.exec(text);
  if (full !== null) {
    const instant = full[4] === undefined || !/(z|[+-]\d{2}:?\d{2})$/.test(full[4]) ? Number.NaN : Date.parse(text);
    if (!Number.isNaN(instant)) return single(dayOf(instant, timeZone));
    const day: Day = { year: Number(full[1]), month: Number(full[2]), day: Number(full[3]) };
    return isReal(day) ? single(day) : undefined;
  }
  const month = /^(\d{4})-(\d{2})$/.exec(text);
  if (month !== null) {
    const first: Day = { year: Number(month[1]), month: Number(month[2]), day: 1 };
    return isReal(first) ? { first, next: addMonths(first, 1) } : undefined;
  }
  const year = /^((?:19|20|21)\d{2})$/.exec(text);
  if (year === null) return undefined;
  const first: Day = { year: Number(year[1]), month: 1, day: 1 };
  return { first, next: addMonths(first, 12) };
}

function namedDays(text: string, today: Day): Days | undefined {
  if (text === "today" || text === "now") return single(today);
  if (text === "yesterday") return single(addDays(today, -1));
  if (text === "tomorrow") return single(addDays(today, 1));
  const named = /^(this|last|previous|next) (week|month|year)$/.exec(text);
  if (named === null) return undefined;
  const step = named[1] === "this" ? 0 : named[1] === "next" ? 1 : -1;
  if (named[2] === "week") {
    const monday = addDays(today, -((new Date(utcOf(today)).getUTCDay() + 6) % 7) + step * 7);
    return { first: monday, next: addDays(monday, 7) };
  }
  const months = named[2] === "month" ? 1 : 12;
  const first = addMonths({ year: today.year, month: months === 1 ? today.month : 1, day: 1 }, step * months);
  return { first, next: addMonths(first, months) };
}

const WEEKDAY = /^(?:on )?(?:(this|last|previous|past|next|coming) )?(sun|mon|tue|wed|thu|fri|sat)(?:[a-z]*)$/;
const DAY_NAMES = new Set(
  "sun sunday mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday sat saturday".split(
    " ",
  ),
);

function weekday(text: string, today: Day, isAhead: boolean): Days | undefined {
  const [, which, short = ""] = WEEKDAY.exec(text) ?? [];
  if (!DAY_NAMES.has(text.split(" ").at(-1) ?? "")) return undefined;
  const wanted = WEEKDAYS.findIndex((name) => name.toLowerCase() === short);
  const current = new Date(utcOf(today)).getUTCDay();
  // Days from the last such weekday up to today.
  const since = (current - wanted + 7) % 7;
  if (which === "this") return single(addDays(today, ((wanted + 6) % 7) - ((current + 6) % 7)));
  if (which === "next" || which === "coming") return single(addDays(today, 7 - since));
  if (which !== undefined) return single(addDays(today, since === 0 ? -7 : -since));
  return single(addDays(today, isAhead ? (7 - since) % 7 : -since));
}

function relativeDays(text: string, today: Day): Days | undefined {
  const short = /^([+-]?)(\d{1,4}) ?(d|w|m|y|days?|weeks?|months?|years?)( ago)?$/.exec(text);
  if (short !== null) {
    const count = Number(short[2]) * (short[1] === "+" && short[4] === undefined ? 1 : -1);
    return single(move(today, count, short[3] ?? "d"));
  }
  const ahead = /^in (\d{1,4}) (days?|weeks?|months?|years?)$/.exec(text);
  if (ahead !== null) return single(move(today, Number(ahead[1]), ahead[2] ?? "d"));
  const window = /^(last|past|next) (\d{1,4}) (days?|weeks?|months?|years?)$/.exec(text);
  if (window === null) return undefined;
  const away = move(today, Number(window[2]) * (window[1] === "next" ? 1 : -1), window[3] ?? "d");
  return window[1] === "next" ? { first: today, next: addDays(away, 1) } : { first: away, next: addDays(today, 1) };
}

function move(day: Day, count: number, unit: string): Day {
  if (unit.startsWith("d")) return addDays(day, count);
  if (unit.startsWith("w")) return addDays(day, count * 7);
  return addMonths(day, unit.startsWith("m") ? count : count * 12);
}

function single(day: Day): Days {
  return { first: day, next: addDays(day, 1) };
}

function addDays(day: Day, count: number): Day {
  return fromUtc(utcOf(day) + count * DAY_MS);
}

/** The same day of another month, or that month's last day. */
function addMonths(day: Day, count: number): Day {
  const months = day.year * 12 + day.month - 1 + count;
  const year = Math.floor(months / 12);
  const month = (months % 12) + 1;
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return { year, month, day: Math.min(day.day, lastDay) };
}

function isReal(day: Day): boolean {
  const back = fromUtc(utcOf(day));
  return day.year >= 1900 && back.year === day.year && back.month === day.month && back.day === day.day;
}

function utcOf(day: Day): number {
  return Date.UTC(day.year, day.month - 1, day.day);
}

function fromUtc(at: number): Day {
  const date = new Date(at);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function dayOf(at: number, timeZone: string): Day {
  const { year, month, day } = partsOf(at, timeZone);
  return { year, month, day };
}

/** The start of a day in a zone; if midnight is skipped (a clock change), the first moment that exists. */
function startOfDay(day: Day, timeZone: string): number {
  const wanted = utcOf(day);
  let at = wanted - offsetAt(wanted, timeZone);
  at = wanted - offsetAt(at, timeZone);
  return dayIsBefore(dayOf(at, timeZone), day) ? at + 3_600_000 : at;
}

function dayIsBefore(one: Day, other: Day): boolean {
  return utcOf(one) < utcOf(other);
}

function offsetAt(at: number, timeZone: string): number {
  return differenceOf(partsOf(at, timeZone), at);
}

interface Moment extends Day {
  hour: number;
  minute: number;
  second: number;
}

/** In this range, `Intl` uses the same calendar as `Date`. */
const [PLAIN_FROM, PLAIN_UNTIL] = [Date.UTC(1970, 0, 1), Date.UTC(2200, 0, 1)];

/** The local date and time in the zone. `Intl` takes 10 µs and more, and an answer prints dozens of dates. */
function partsOf(at: number, timeZone: string): Moment {
  const isPlain = at >= PLAIN_FROM && at < PLAIN_UNTIL;
  const offset = isPlain ? offsetOfUtcDay(Math.floor(at / DAY_MS), timeZone) : undefined;
  if (offset === undefined) return partsByIntl(at, timeZone);
  const date = new Date(at + offset);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/** By zone and UTC day; undefined for a day with a clock change. */
const offsets = new Map<string, Map<number, number | undefined>>();
const KEPT_ZONES = 500;
const KEPT_DAYS = 5_000;

/** Milliseconds by which a zone is ahead of UTC throughout a UTC day. */
function offsetOfUtcDay(day: number, timeZone: string): number | undefined {
  if (timeZone === "UTC") return 0;
  let known = offsets.get(timeZone);
  if (known === undefined || known.size > KEPT_DAYS) {
    if (offsets.size > KEPT_ZONES) offsets.clear();
    offsets.set(timeZone, (known = new Map()));
  }
  if (known.has(day)) return known.get(day);
  const [first, next] = [day * DAY_MS, (day + 1) * DAY_MS];
  const offset = differenceOf(partsByIntl(first, timeZone), first);
  const lasting = differenceOf(partsByIntl(next, timeZone), next) === offset ? offset : undefined;
  known.set(day, lasting);
  return lasting;
}

function differenceOf({ year, month, day, hour, minute, second }: Moment, at: number): number {
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsByIntl(at: number, timeZone: string): Moment {
  let format = formats.get(timeZone);
  if (format === undefined) {
    // Creating one costs 50 µs and more; there are few zones.
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (formats.size > 500) formats.clear();
    formats.set(timeZone, format);
  }
  const value = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const part of format.formatToParts(at)) {
    if (part.type in value) value[part.type as keyof typeof value] = Number(part.value); // checked by the `in` before
  }
  return value;
}

function printDay(day: Day): string {
  return `${String(day.year).padStart(4, "0")}-${two(day.month)}-${two(day.day)}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
