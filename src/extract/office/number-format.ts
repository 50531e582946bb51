import { twoDigits } from "#extract/iso-time.ts";
import { type FormatSection, readSections, withLiterals } from "./number-literals.ts";

/** The kind of the number in a cell, and the text that is shown around it. */
export type NumberKind = ValueKind & { sections?: readonly FormatSection[] };

type ValueKind =
  | { type: "number" | "date" | "time" | "datetime" | "duration" | "percent" }
  /** A number with leading zeros up to this many digits: postal codes, article numbers. */
  | { type: "padded"; digits: number };

/** Returns the kind for an Excel format: by its number if it is built in, otherwise by its code. */
export function numberKindOf(formatId: number, code: string | undefined): NumberKind {
  return code === undefined ? (BUILT_IN.get(formatId) ?? NUMBER) : readCode(code);
}

function readCode(code: string): NumberKind {
  const kind = kindOfCode(code);
  // The text in a date's format is left out, because dates are written in ISO 8601.
  const sections = AMOUNTS.has(kind.type) ? readSections(code) : undefined;
  return sections === undefined ? kind : { ...kind, sections };
}

const AMOUNTS = new Set(["number", "percent", "padded"]);

/**
 * Formats a number as text: dates in ISO 8601, percentages with their sign, others without the noise of their binary form. Thousands aren't separated
 * and decimals aren't truncated, because people search for the value. Words and currencies of the format are around it.
 *
 * @param value as in the file
 * @param startsIn1904 whether days are counted in the calendar that starts in 1904
 */
export function formatCellNumber(value: string, kind: NumberKind, startsIn1904 = false): string {
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number)) return value;
  const text = numberText(number, kind, startsIn1904);
  return kind.sections === undefined ? text : withLiterals(text, number, kind.sections);
}

function numberText(number: number, kind: ValueKind, startsIn1904: boolean): string {
  switch (kind.type) {
    case "percent":
      return percentText(number);
    case "date":
    case "datetime":
    case "time":
      return dateText(number, kind.type, startsIn1904) ?? plain(number);
    case "duration":
      return durationText(number);
    case "padded":
      return Number.isInteger(number) && number >= 0 ? String(number).padStart(kind.digits, "0") : plain(number);
    case "number":
      return plain(number);
  }
}

/** Formats a fraction as a percentage. */
export function percentText(share: number): string {
  return `${plain(share * 100)}%`;
}

const NUMBER: ValueKind = { type: "number" };

/** Formats that have a number instead of a code. Source: ECMA-376, part 1, 18.8.30. */
const BUILT_IN = new Map<number, ValueKind>([
  ...[14, 15, 16, 17, ...range(27, 36), ...range(50, 58)].map((id): [number, ValueKind] => [id, { type: "date" }]),
  ...[18, 19, 20, 21, 45, 47].map((id): [number, ValueKind] => [id, { type: "time" }]),
  [22, { type: "datetime" }],
  [46, { type: "duration" }],
  [9, { type: "percent" }],
  [10, { type: "percent" }],
]);

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function kindOfCode(code: string): ValueKind {
  // Words in quotes, escaped characters, fillers, colours and conditions are removed, because they aren't part of the pattern.
  const bare = code
    .slice(0, 500)
    .replaceAll(/"[^"]*"|\\.|[_*]./gu, "")
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/giu, "");
  const first = bare.split(";", 1)[0]?.toLowerCase() ?? "";
  if (first.includes("general") || first.includes("@")) return NUMBER;
  if (first.includes("%")) return { type: "percent" };
  if (/\[[hms]+\]/u.test(first)) return { type: "duration" };
  if (/^0{2,15}$/u.test(first)) return { type: "padded", digits: first.length };
  const letters = first.replaceAll(/am\/pm|a\/p|e[+-]/gu, "");
  // Asian versions use further letters for Japanese imperial and Buddhist years, and for weekdays.
  const hasDay = /[ydegb]|aaa/u.test(letters) || (letters.includes("m") && !/[hs]/u.test(letters));
  const hasTime = /[hs]/u.test(letters);
  if (hasDay) return { type: hasTime ? "datetime" : "date" };
  return hasTime ? { type: "time" } : NUMBER;
}

/** Formats a number without the digits that only its binary form has. */
export function plain(number: number): string {
  return String(Number(number.toPrecision(15)));
}

const DAY_MS = 86_400_000;
/** Day 0 of the 1900 calendar for days after 28 February 1900, because that calendar treats 1900 as a leap year; and day 0 of the 1904 calendar. */
const START_1900 = Date.UTC(1899, 11, 30);
const START_1904 = Date.UTC(1904, 0, 1);
/** The last day of the year 9999. */
const MAX_DAY = 2_958_465;

function dateText(days: number, kind: "date" | "time" | "datetime", startsIn1904: boolean): string | undefined {
  if (days < 0 || days > MAX_DAY + 1) return undefined;
  // The first 59 days of 1900 are shifted by one because of the nonexistent leap day.
  const start = startsIn1904 ? START_1904 : START_1900 + (days < 60 && days >= 1 ? DAY_MS : 0);
  const iso = new Date(start + Math.round((days * DAY_MS) / 1_000) * 1_000).toISOString();
  const day = iso.slice(0, 10);
  const time = iso.slice(11, 19);
  // The format shows only a time: the value is a time of day, or a moment whose date the format hides.
  if (kind === "time") return days < 1 ? time : `${day} ${time}`;
  return kind === "datetime" && time !== "00:00:00" ? `${day} ${time}` : day;
}

function durationText(days: number): string {
  const seconds = Math.round(Math.abs(days) * 86_400);
  const minutes = Math.floor(seconds / 60);
  const text = `${Math.floor(seconds / 3_600)}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
  return days < 0 ? `-${text}` : text;
}
