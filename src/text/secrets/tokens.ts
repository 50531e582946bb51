import type { Cut } from "./cut.ts";
import { NUMBER_FORMAT, SECRET_FORMATS, type SecretFormat } from "./formats.ts";
import { makeWebTokenFinder, type WebTokenFinder } from "./web-token.ts";

/**
 * Finds tokens, keys and passwords in distinctive formats, in order. Takes time in proportion to the text. Source: S67.
 */
export function findTokens(text: string): Cut[] {
  const cuts: Cut[] = [];
  const endOfWebToken = makeWebTokenFinder(text);
  for (let at = nextStart(text, nextRun(text, 0)); at < text.length;) {
    const cut = cutAt(text, at, endOfWebToken);
    if (cut !== undefined) cuts.push(cut);
    at = nextStart(text, cut?.end ?? at + 1);
  }
  return cuts;
}

/** The longest tokens, web tokens, can be somewhat longer than this; for them, the beginning is enough. */
const LONGEST_TOKEN = 20_000;
/** Characters that no token contains. */
const BREAK = /[\s"'<>`|,;(){}]/;

/**
 * Returns the start of a truncated text, up to a token that begins in it and may continue after the cut, because no format would recognize the rest
 * of the token. The whole text when there is no such token. Source: S37.
 */
export function beforeOpenToken(text: string): string {
  const from = Math.max(0, text.length - LONGEST_TOKEN);
  let lastBreak = text.length - 1;
  while (lastBreak >= from && !BREAK.test(text.charAt(lastBreak))) lastBreak--;
  const endOfWebToken = makeWebTokenFinder(text);
  for (let at = nextStart(text, nextRun(text, from)); at < text.length;) {
    const cut = cutAt(text, at, endOfWebToken);
    const start = cut === undefined ? secretAt(text, at) : undefined;
    if (start !== undefined && start > lastBreak) return text.slice(0, start);
    at = nextStart(text, cut?.end ?? at + 1);
  }
  return text;
}

/** Returns where the secret part of a token that begins here starts; undefined when no token begins here. */
function secretAt(text: string, at: number): number | undefined {
  if (isDigit(text.charCodeAt(at))) return endOf(NUMBER_START, text, at) === undefined ? undefined : at;
  for (const { literal, format } of startsAt(text, at)) {
    if (format.keeps === undefined) return at;
    const from = endOf(format.keeps, text, at + literal.length);
    if (from !== undefined) return from;
  }
  return undefined;
}

const NUMBER_START = /\d{8,10}:AA/y;

/** Every secret, including its prefix, contains a run of this many characters, which words and short paths don't. */
const SHORTEST_RUN = 12;

/** The roles of an ASCII code unit in a token, key or address, as bits; 0 = it occurs in none. */
const CLASS = new Uint8Array(128);
const PART = 1;
const WORD = 2;
const UPPER = 4;
const LOWER = 8;
const DIGIT = 16;
const DOT = 32;
/** A character with which a format or a number may begin. */
const FIRST = 64;

/**
 * Returns the start of the next run of `SHORTEST_RUN` token characters; the length of the text when there is none. It checks the last character of a
 * possible run first and goes back from there, so that only a fraction of the characters of ordinary text are checked.
 */
function nextRun(text: string, from: number): number {
  let start = from;
  while (start + SHORTEST_RUN <= text.length) {
    let at = start + SHORTEST_RUN - 1;
    while (at >= start && classOf(text, at) !== 0) at--;
    if (at < start) return start;
    start = at + 1;
  }
  return text.length;
}

/**
 * Returns the next position, from this one on, in a run where a word begins with a format's prefix; the length of the text when there is none. The
 * given position must be in a run or at the end of one.
 */
function nextStart(text: string, from: number): number {
  let before = from > 0 ? classOf(text, from - 1) : 0;
  for (let at = from; at < text.length; at++) {
    const kind = classOf(text, at);
    if (kind === 0) {
      at = nextRun(text, at) - 1;
      before = at >= 0 ? classOf(text, at) : 0;
      continue;
    }
    if ((kind & FIRST) !== 0 && beginsWord(kind, before) && mayBegin(text, at, kind)) return at;
    before = kind;
  }
  return text.length;
}

function classOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit < 128 ? (CLASS[unit] ?? 0) : 0;
}

/** True if the character before isn't a letter or digit, and at a capital within a name such as `awsSecretAccessKey`. */
function beginsWord(kind: number, before: number): boolean {
  return (before & WORD) === 0 || (kind & DOT) !== 0 || ((kind & UPPER) !== 0 && (before & LOWER) !== 0);
}

interface Start {
  literal: string;
  /** The third character; NaN if there is none. It distinguishes most formats that have the same first two characters. */
  third: number;
  /**
   * Indexed by ASCII code unit: 0 = the part after the prefix can't begin with this character. Most places that begin like a token are ruled out by
   * this table.
   */
  follows: Uint8Array;
  format: SecretFormat;
}

/** Matches the first character of the part after a prefix, if the pattern begins with a character set. */
const FIRST_OF = /^(?:\[(?!\^)(?:\\.|[^\]\\])*\]|\(\?:[^()]*\)(?=\{)|\\d)/;

function followersOf({ rest, keeps }: SecretFormat): Uint8Array {
  const [first] = (keeps === undefined && rest !== "web token" && FIRST_OF.exec(rest.source)) || [];
  if (first === undefined) return new Uint8Array(128).fill(1);
  const pattern = new RegExp(`^${first}`);
  // An escape is read together with the character that it escapes.
  return Uint8Array.from({ length: 128 }, (_, unit) => Number(pattern.test(`${String.fromCharCode(unit)}_`)));
}

/** Formats grouped by their first two characters. The table of positions, indexed by `first * 128 + second`, contains 0 if there are none. */
const STARTS: (readonly Start[])[] = [[]];
const STARTS_AT = new Uint8Array(128 * 128);

for (const format of SECRET_FORMATS) {
  const follows = followersOf(format);
  for (const start of format.starts) {
    for (const literal of new Set([start, start.replaceAll("_", "\\_")])) {
      const key = literal.charCodeAt(0) * 128 + literal.charCodeAt(1);
      const known = STARTS_AT[key] || (STARTS_AT[key] = STARTS.push([]) - 1);
      STARTS[known] = [...(STARTS[known] ?? []), { literal, third: literal.charCodeAt(2), follows, format }];
    }
  }
}
for (let unit = 0; unit < 128; unit++) {
  const char = String.fromCharCode(unit);
  if (/[A-Z]/.test(char)) CLASS[unit] = PART | WORD | UPPER;
  else if (/[a-z]/.test(char)) CLASS[unit] = PART | WORD | LOWER;
  else if (/[0-9]/.test(char)) CLASS[unit] = PART | WORD | DIGIT | FIRST;
  else if ("_-\\+/=:@".includes(char)) CLASS[unit] = PART;
  else if (char === ".") CLASS[unit] = PART | DOT;
}
for (const { literal } of STARTS.flat()) {
  const first = literal.charCodeAt(0);
  CLASS[first] = (CLASS[first] ?? 0) | FIRST;
}

/** True at the start of a number with several digits, and at the first two characters of a format. */
function mayBegin(text: string, at: number, kind: number): boolean {
  const second = at + 1 < text.length ? text.charCodeAt(at + 1) : 128;
  if ((kind & DIGIT) !== 0) return isDigit(second);
  return second < 128 && STARTS_AT[text.charCodeAt(at) * 128 + second] !== 0;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function cutAt(text: string, at: number, endOfWebToken: WebTokenFinder): Cut | undefined {
  const first = text.charCodeAt(at);
  if (isDigit(first)) {
    const end = endOf(NUMBER_FORMAT.rest, text, at);
    return end === undefined ? undefined : { start: at, end, mask: `[removed: ${NUMBER_FORMAT.label}]` };
  }
  const starts = STARTS[STARTS_AT[first * 128 + text.charCodeAt(at + 1)] ?? 0] ?? [];
  const third = text.charCodeAt(at + 2);
  for (const start of starts) {
    const after = at + start.literal.length;
    if (!isAt(text, at, start, third) || !mayFollow(text, after, start)) continue;
    const cut = match(text, at, after, start.format, endOfWebToken);
    if (cut !== undefined) return cut;
  }
  return undefined;
}

function startsAt(text: string, at: number): Start[] {
  const starts = STARTS[STARTS_AT[text.charCodeAt(at) * 128 + text.charCodeAt(at + 1)] ?? 0] ?? [];
  return starts.filter((start) => isAt(text, at, start, text.charCodeAt(at + 2)));
}

function isAt(text: string, at: number, { literal, third }: Start, unit: number): boolean {
  if (literal.length > 2 && third !== unit) return false;
  // Compared letter by letter, because a call of `startsWith` costs more.
  for (let of = 3; of < literal.length; of++) if (text.charCodeAt(at + of) !== literal.charCodeAt(of)) return false;
  return true;
}

function mayFollow(text: string, at: number, { follows }: Start): boolean {
  const unit = at < text.length ? text.charCodeAt(at) : 128;
  return unit < 128 && follows[unit] === 1;
}

function match(
  text: string,
  start: number,
  after: number,
  { label, keeps, rest }: SecretFormat,
  endOfWebToken: WebTokenFinder,
): Cut | undefined {
  const from = keeps === undefined ? after : endOf(keeps, text, after);
  if (from === undefined) return undefined;
  const end = rest === "web token" ? endOfWebToken(from) : endOf(rest, text, from);
  if (end === undefined) return undefined;
  return { start: keeps === undefined ? start : from, end, mask: `[removed: ${label}]` };
}

function endOf(sticky: RegExp, text: string, at: number): number | undefined {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : undefined;
}
