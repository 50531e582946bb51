import { cleanText, cutText } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { twoDigits } from "#extract/iso-time.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Logs, whose lines are kept unchanged. If they begin with the dates of several days, each day is a section. */
export const logFormat: Format = {
  extract({ decode, maxTextLength }): FormatText {
    const decoded = decode();
    const clean = cleanText(decoded.text);
    const text = cutText(clean, maxTextLength);
    const out = new TextBuilder(maxTextLength);
    for (const { day, start } of daysOf(text)) out.section(day, 1, start, { kind: "part", ref: day });
    const properties = decoded.encoding === "utf-8" ? {} : { encoding: decoded.encoding };
    return {
      state: "ok",
      text,
      sections: out.sections,
      properties,
      isCut: decoded.isCut || text.length < clean.length,
    };
  },
};

/** Maximum number of sections for days. A log with more changes of day isn't ordered by day. */
const MAX_DAYS = 1_000;

function daysOf(text: string): { day: string; start: number }[] {
  const days: { day: string; start: number }[] = [];
  let lines = 0;
  let dated = 0;
  let last = "";
  for (let at = 0; at < text.length;) {
    const lineFeed = text.indexOf("\n", at);
    lines++;
    const day = dayOf(text.slice(at, at + 40));
    if (day !== undefined) {
      dated++;
      if (day !== last) days.push({ day, start: at });
      last = day;
      if (days.length > MAX_DAYS) return [];
    }
    at = lineFeed < 0 ? text.length : lineFeed + 1;
  }
  // A fifth of the lines must have dates; stack traces and other continuation lines are between them.
  return days.length > 1 && dated * 5 >= lines ? days : [];
}

/** Finds the day with which a line begins: ISO, with slashes, `31/Jan/2024` of web servers, or `Jan 31` of syslog. */
function dayOf(start: string): string | undefined {
  const iso = /^[[(<"]{0,2}(\d{4})[-/.](\d\d)[-/.](\d\d)(?!\d)/u.exec(start);
  if (iso !== null) return `${iso[1]}-${iso[2]}-${iso[3]}`;
  const web = /^(?:[\d.:a-f]{3,39} \S{1,20} \S{1,20} )?\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):/u.exec(start);
  if (web !== null) return `${web[3]}-${monthOf(web[2])}-${web[1]}`;
  const syslog = /^([A-Z][a-z]{2}) {1,2}(\d{1,2}) \d\d:\d\d/u.exec(start);
  return syslog === null ? undefined : `${monthOf(syslog[1])}-${twoDigits(Number(syslog[2]))}`;
}

function monthOf(name: string | undefined): string {
  const at = MONTHS.indexOf(name ?? "") + 1;
  return at === 0 ? "??" : twoDigits(at);
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
