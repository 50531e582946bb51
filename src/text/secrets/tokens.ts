import type { Cut } from "./cut.ts";
import { NUMBER_FORMAT, SECRET_FORMATS, type SecretFormat } from "./formats.ts";
import { makeWebTokenFinder, type WebTokenFinder } from "./web-token.ts";

/** Tokens, keys and passwords in formats of their own, in their order. Takes time in proportion to the text. Source: S67. */
export function findTokens(text: string): Cut[] {
  const cuts: Cut[] = [];
  const endOfWebToken = makeWebTokenFinder(text);
  for (let at = nextRun(text, 0); at < text.length; at = nextRun(text, at)) {
    // Every place in the run where a word begins.
    for (; isPart(text.charCodeAt(at)); at++) {
      if (!mayBegin(text, at) || !beginsWord(text, at)) continue;
      const cut = cutAt(text, at, endOfWebToken);
      if (cut === undefined) continue;
      cuts.push(cut);
      at = cut.end - 1;
    }
  }
  return cuts;
}

/** The longest token, a web token, has some more; of that one the beginning is enough. */
const LONGEST_TOKEN = 20_000;
/** What no token holds. */
const BREAK = /[\s"'<>`|,;(){}]/;

/**
 * The start of a text that was cut, up to where a token begins that nothing ends before the cut: of it most may be left, and no
 * format tells it any more. The text as it is when there is none. Source: S37.
 */
export function beforeOpenToken(text: string): string {
  const from = Math.max(0, text.length - LONGEST_TOKEN);
  let lastBreak = text.length - 1;
  while (lastBreak >= from && !BREAK.test(text.charAt(lastBreak))) lastBreak--;
  const endOfWebToken = makeWebTokenFinder(text);
  for (let at = nextRun(text, from); at < text.length; at = nextRun(text, at)) {
    for (; isPart(text.charCodeAt(at)); at++) {
      if (!mayBegin(text, at) || !beginsWord(text, at)) continue;
      const cut = cutAt(text, at, endOfWebToken);
      const start = cut === undefined ? secretAt(text, at) : undefined;
      if (start !== undefined && start > lastBreak) return text.slice(0, start);
      if (cut !== undefined) at = cut.end - 1;
    }
  }
  return text;
}

/** Where the secret part starts of what begins here as a token does; undefined when nothing does. */
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

/** Every secret, with what tells it, holds so many characters in a row that words and short paths do not. */
const SHORTEST_RUN = 12;

/** By code unit: 1 = may stand in a token, key or address, 2 = a letter or digit. */
const CLASS = new Uint8Array(128);
for (const char of "_-\\+/=.:@") CLASS[char.charCodeAt(0)] = 1;
for (let unit = 0; unit < 128; unit++) if (/[A-Za-z0-9]/.test(String.fromCharCode(unit))) CLASS[unit] = 2;

/**
 * Start of the next run of `SHORTEST_RUN` characters that tokens are made of; the length of the text when there is none.
 * Looks at the last character first and back from there: a text of words costs a fraction of a look at each.
 */
function nextRun(text: string, from: number): number {
  let start = from;
  while (start + SHORTEST_RUN <= text.length) {
    let at = start + SHORTEST_RUN - 1;
    while (at >= start && isPart(text.charCodeAt(at))) at--;
    if (at < start) return start;
    start = at + 1;
  }
  return text.length;
}

function isPart(unit: number): boolean {
  return unit < 128 && CLASS[unit] !== 0;
}

/** True after anything but a letter or digit, and at a capital within a name such as `awsSecretAccessKey`. */
function beginsWord(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const unit = text.charCodeAt(at);
  if (!(before < 128) || CLASS[before] !== 2) return true;
  return unit === DOT || (unit >= UPPER_A && unit <= UPPER_Z && before >= LOWER_A);
}

const DOT = 46;
const UPPER_A = 65;
const UPPER_Z = 90;
const LOWER_A = 97;

interface Start {
  literal: string;
  format: SecretFormat;
}

/** By the first two characters as `first * 128 + second`. */
const STARTS = new Map<number, Start[]>();
for (const format of SECRET_FORMATS) {
  for (const start of format.starts) {
    for (const literal of new Set([start, start.replaceAll("_", "\\_")])) {
      const key = literal.charCodeAt(0) * 128 + literal.charCodeAt(1);
      STARTS.set(key, [...(STARTS.get(key) ?? []), { literal, format }]);
    }
  }
}
const IS_START = new Uint8Array(128 * 128);
for (const key of STARTS.keys()) IS_START[key] = 1;

/** True where a number begins, and at the first two characters of a format. Cheap: it is asked at each character of a run. */
function mayBegin(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  return isDigit(first) || IS_START[first * 128 + text.charCodeAt(at + 1)] === 1;
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
  for (const { literal, format } of startsAt(text, at)) {
    const cut = match(text, at, at + literal.length, format, endOfWebToken);
    if (cut !== undefined) return cut;
  }
  return undefined;
}

function startsAt(text: string, at: number): Start[] {
  const starts = STARTS.get(text.charCodeAt(at) * 128 + text.charCodeAt(at + 1)) ?? [];
  return starts.filter(({ literal }) => text.startsWith(literal, at));
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
