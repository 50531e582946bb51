const DAY_MS = 86_400_000;
/** Time zones change their offset on whole quarters of an hour. */
const QUARTER_MS = 900_000;

/** Number of days before and after 1970 that are cached in an array: the years 1697 to 2243. */
const NEAR_DAYS = 100_000;
/** Limit of quarters of an hour that are cached. */
const MAX_QUARTERS = 50_000;
const UNKNOWN = -1;
const BEGINS_A_MONTH = -2;

/** The number of occurrences of each code. */
export type Counts = Uint32Array;

/** The months of instants in a time zone, as codes in order of first occurrence. */
export interface Months {
  count(times: Float64Array, ids: Uint16Array): Counts;
  nameOf(code: number): string | undefined;
}

/**
 * Makes months such as `2026-11`. Formatting is slow, so each UTC day is formatted only at its two ends. The few days
 * in which a month begins are formatted by the quarter of an hour.
 */
export function makeMonths(timeZone: string): Months {
  const names: string[] = [];
  const codes = new Map<string, number>();
  const codeOf = (name: string) => {
    let code = codes.get(name);
    if (code === undefined) codes.set(name, (code = names.push(name) - 1));
    return code;
  };
  let format: Intl.DateTimeFormat | undefined;
  const formatted = (time: number) => {
    format ??= new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit" });
    const parts = format.formatToParts(time);
    const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
    return codeOf(`${part("year")}-${part("month")}`);
  };
  const quarters = new Map<number, number>();
  const monthOfQuarter = (quarter: number) => {
    let known = quarters.get(quarter);
    if (quarters.size > MAX_QUARTERS) quarters.clear();
    if (known === undefined) quarters.set(quarter, (known = formatted(quarter * QUARTER_MS)));
    return known;
  };
  const days = new Int32Array(2 * NEAR_DAYS).fill(UNKNOWN);
  const monthOf = (time: number) => {
    const day = Math.floor(time / DAY_MS);
    if (Math.abs(day) >= NEAR_DAYS) return monthOfQuarter(Math.floor(time / QUARTER_MS));
    let month = days[day + NEAR_DAYS] ?? UNKNOWN;
    if (month === UNKNOWN) {
      const first = formatted(day * DAY_MS);
      month = formatted((day + 1) * DAY_MS - 1) === first ? first : BEGINS_A_MONTH;
      days[day + NEAR_DAYS] = month;
    }
    return month === BEGINS_A_MONTH ? monthOfQuarter(Math.floor(time / QUARTER_MS)) : month;
  };
  return {
    nameOf: (code) => names[code],
    count(times, ids) {
      const counts: number[] = [];
      for (let i = 0; i < ids.length; i++) {
        const time = times[ids[i] ?? 0] ?? Number.NaN;
        if (Number.isNaN(time)) continue;
        const month = monthOf(time);
        counts[month] = (counts[month] ?? 0) + 1;
      }
      return Uint32Array.from(counts);
    },
  };
}
