import { twoDigits } from "#extract/iso-time.ts";

/** Converts `Tue, 05 Mar 2024 10:11:12 +0100 (CET)` to `2024-03-05T10:11:12+01:00`; undefined if it isn't a date. Source: RFC 5322. */
export function readMailDate(text: string): string | undefined {
  const parts =
    /(\d{1,2})[\s-]+([A-Za-z]{3})[A-Za-z]*\.?[\s-]+(\d{2,4})[\s,]+(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?\s*(?:([+-])(\d\d):?(\d\d)|([A-Za-z]{1,5}))?/u.exec(
      text.slice(0, 200),
    );
  if (parts === null) return undefined;
  const [
    ,
    day = "",
    monthName = "",
    yearText = "",
    hour = "",
    minute = "",
    second = "00",
    sign,
    zoneHours,
    zoneMinutes,
  ] = parts;
  const month = MONTHS.indexOf(monthName.toLowerCase()) + 1;
  const year = yearText.length > 2 ? Number(yearText) : Number(yearText) + (Number(yearText) < 50 ? 2000 : 1900);
  if (month === 0 || year < 1900 || year > 9999) return undefined;
  const zone =
    sign === undefined ? (ZONES[parts[10]?.toUpperCase() ?? ""] ?? "Z") : `${sign}${zoneHours}:${zoneMinutes}`;
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}T${twoDigits(hour)}:${minute}:${second === "60" ? "59" : second}${zone}`;
  return Number.isNaN(Date.parse(date)) ? undefined : date;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
/** The names of RFC 5322; other names are treated as UTC. */
const ZONES: Readonly<Record<string, string>> = {
  EST: "-05:00",
  EDT: "-04:00",
  CST: "-06:00",
  CDT: "-05:00",
  MST: "-07:00",
  MDT: "-06:00",
  PST: "-08:00",
  PDT: "-07:00",
};
