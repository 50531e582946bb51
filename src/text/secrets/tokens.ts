import type { Cut } from "./cut.ts";
import { NUMBER_FORMAT, SECRET_FORMATS, type SecretFormat } from "./formats.ts";

/** Tokens, keys and passwords in formats of their own, in their order. */
export function findTokens(text: string): Cut[] {
  const cuts: Cut[] = [];
  for (let at = nextRun(text, 0); at < text.length; at = nextRun(text, at)) {
    // Every place in the run where a word begins.
    for (; isPart(text.charCodeAt(at)); at++) {
      if (!beginsWord(text, at)) continue;
      const cut = cutAt(text, at);
      if (cut === undefined) continue;
      cuts.push(cut);
      at = cut.end - 1;
    }
  }
  return cuts;
}

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
  const [before, unit] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
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

function cutAt(text: string, at: number): Cut | undefined {
  const first = text.charCodeAt(at);
  if (first >= 48 && first <= 57) return match(text, at, at, NUMBER_FORMAT);
  const key = first * 128 + text.charCodeAt(at + 1);
  if (IS_START[key] !== 1) return undefined;
  for (const { literal, format } of STARTS.get(key) ?? []) {
    if (!text.startsWith(literal, at)) continue;
    const cut = match(text, at, at + literal.length, format);
    if (cut !== undefined) return cut;
  }
  return undefined;
}

function match(text: string, start: number, after: number, format: Omit<SecretFormat, "starts">): Cut | undefined {
  const { label, keeps, rest } = format;
  const from = keeps === undefined ? after : endOf(keeps, text, after);
  const end = from === undefined ? undefined : endOf(rest, text, from);
  if (from === undefined || end === undefined) return undefined;
  return { start: keeps === undefined ? start : from, end, mask: `[removed: ${label}]` };
}

function endOf(sticky: RegExp, text: string, at: number): number | undefined {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : undefined;
}
