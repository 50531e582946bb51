import { singleSpaced } from "#extract/clean.ts";
import { twoDigits } from "#extract/iso-time.ts";

/** The numbering of one level of a list. */
export interface ListLevel {
  /** `decimal`, `lowerLetter`, `upperLetter`, `lowerRoman`, `upperRoman`, `decimalZero`, `bullet`, `none`; others are treated as decimal. */
  format: string;
  start: number;
  /** A text with `%1` for the number of the first level and so on. */
  pattern: string;
}

/** Counts the items of one list and writes their markers as a person sees them. */
export class ListCounter {
  private readonly numbers: number[] = [];

  /**
   * Returns the marker of the next item.
   *
   * @param depth from 0
   * @returns `-` for a bullet, "" for none, otherwise the number in its pattern, as in `2.1` or `(a)`
   */
  next(depth: number, levels: readonly ListLevel[]): string {
    const level = levels[depth];
    this.numbers.length = Math.min(this.numbers.length, depth + 1);
    const before = this.numbers[depth];
    this.numbers[depth] = before === undefined ? (level?.start ?? 1) : before + 1;
    if (level === undefined || level.format === "bullet") return "-";
    if (level.format === "none") return "";
    return singleSpaced(
      level.pattern.replaceAll(/%([1-9])/gu, (_, digit: string) => this.numberAt(Number(digit) - 1, levels)),
    );
  }

  private numberAt(depth: number, levels: readonly ListLevel[]): string {
    const level = levels[depth];
    // A level that was skipped is treated as begun.
    this.numbers[depth] ??= level?.start ?? 1;
    return formatNumber(this.numbers[depth] ?? 1, level?.format ?? "decimal");
  }
}

/** Formats a list number in the format of a level. */
export function formatNumber(value: number, format: string): string {
  switch (format) {
    case "lowerLetter":
      return letters(value);
    case "upperLetter":
      return letters(value).toUpperCase();
    case "lowerRoman":
      return roman(value);
    case "upperRoman":
      return roman(value).toUpperCase();
    case "decimalZero":
      return twoDigits(value);
    default:
      return String(value);
  }
}

/** Formats a number as a … z, aa, bb: the letter is repeated, as office programs do. */
function letters(value: number): string {
  if (value < 1 || value > 780) return String(value);
  return String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26));
}

function roman(value: number): string {
  if (value < 1 || value > 4_999) return String(value);
  let rest = value;
  let text = "";
  for (const [sign, worth] of ROMAN_DIGITS) {
    while (rest >= worth) {
      text += sign;
      rest -= worth;
    }
  }
  return text;
}

const ROMAN_DIGITS: readonly (readonly [string, number])[] = [
  ["m", 1000],
  ["cm", 900],
  ["d", 500],
  ["cd", 400],
  ["c", 100],
  ["xc", 90],
  ["l", 50],
  ["xl", 40],
  ["x", 10],
  ["ix", 9],
  ["v", 5],
  ["iv", 4],
  ["i", 1],
];
