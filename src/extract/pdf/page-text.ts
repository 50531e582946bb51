import { append } from "#core/append.ts";
import { byColumns } from "./columns.ts";
import type { PdfItems, TextItem } from "./open.ts";

/** Joins the pieces into lines according to the layout, with a blank line where the distance to the next line is that of a paragraph. */
export function joinItems(items: PdfItems): string {
  let text = "";
  let last: TextItem | undefined;
  for (const item of byColumns(inReadingOrder(items))) {
    if (last !== undefined && item.str.trim() !== "") text += gapBetween(last, item, text);
    text += item.str;
    if (item.str.trim() !== "") last = item;
    if (item.hasEOL) text += "\n";
  }
  const lines = withoutSpacing(withLetters(withLigatures(text)))
    .replaceAll(/[ \t]+\n/gu, "\n")
    .replaceAll(/\n{3,}/gu, "\n\n");
  return withWholeWords(lines).trim();
}

/**
 * Puts right-to-left lines in reading order. Programs that place each letter separately write them from left to right, as on the page; whole words
 * are already in order.
 */
function inReadingOrder(items: PdfItems): TextItem[] {
  const ordered: TextItem[] = [];
  let run: TextItem[] = [];
  const flush = () => {
    const letters = run.filter(({ str }) => str.trim() !== "");
    const isByPlace = letters.length > 1 && letters.every((item, i) => i === 0 || xOf(item) > xOf(letters[i - 1]));
    const [last] = run.slice(-1);
    if (isByPlace && last) {
      const isEnd = last.hasEOL;
      run = run.toReversed().map((item, i) => ({ ...item, hasEOL: isEnd && i === run.length - 1 }));
    }
    append(ordered, run);
    run = [];
  };
  for (const item of items) {
    if (!("str" in item)) continue;
    const isOfRun = item.dir === "rtl" || (run.length > 0 && item.str.trim() === "");
    if (!isOfRun || (run.length > 0 && item.transform[5] !== run[0]?.transform[5])) flush();
    if (isOfRun) run.push(item);
    else ordered.push(item);
    if (item.hasEOL) flush();
  }
  flush();
  return ordered;
}

function xOf(item: TextItem | undefined): number {
  return Number(item?.transform[4] ?? 0);
}

/** Returns the separator of two pieces of text: for the distance of a paragraph, or for a distance for which pdf.js returns no space. */
function gapBetween(last: TextItem, item: TextItem, text: string): string {
  const height = Math.max(1, item.height);
  if (text.endsWith("\n")) return Number(last.transform[5]) - Number(item.transform[5]) > 1.9 * height ? "\n" : "";
  if (/\s$/u.test(text) || /^\s/u.test(item.str)) return "";
  const [lastX, x] = [Number(last.transform[4]), Number(item.transform[4])];
  // The gap may be the leaders of a table of contents, or be between words of two directions in one line.
  const distance = Math.max(x - (lastX + last.width), lastX - (x + item.width));
  return distance > height * 0.15 || (last.dir !== item.dir && /[\p{L}\p{N}]$/u.test(text)) ? " " : "";
}

/**
 * Joins a word that was divided at the end of a line, with a hyphen that may or may not be part of it. Both are found, `microscopes` and
 * `well-known`. Source: docs/decisions/0064.
 */
function withWholeWords(lines: string): string {
  return lines.replaceAll(DIVIDED, (found, before: string, after: string) => {
    const isOne = /^\p{Ll}/u.test(after) || (/^\p{Lu}/u.test(before) && /^\p{Lu}{2}/u.test(after));
    return isOne ? `${before}-\u00ad${after}\n` : found;
  });
}

const DIVIDED = /(\p{L}\p{M}*)[-\u00ad\u2010]\n(\S+) ?\n?/gu;

/** Replaces shapes of Arabic letters with the letters themselves, which people search for. */
function withLetters(text: string): string {
  return text.replaceAll(/[\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]+/gu, (shapes) => shapes.normalize("NFKC"));
}

/** Joins a heading with spaced-out letters to one word. Columns named A, B, C aren't joined. */
function withoutSpacing(text: string): string {
  return text.replaceAll(SPACED, (letters) => {
    const word = letters.replaceAll(" ", "");
    const isSeries = [...word].every((letter, i, all) => i === 0 || letter > (all[i - 1] ?? ""));
    return isSeries ? letters : word;
  });
}

const SPACED = /(?<![\p{L}\p{N}] ?)[\p{Lu}\p{Ll}](?: [\p{Lu}\p{Ll}]){4,}(?! ?[\p{L}\p{N}])/gu;

/** Replaces ligatures of TeX fonts, which have codes for which the text has no letters. */
function withLigatures(text: string): string {
  return text.replaceAll(LIGATURE, (code) => LIGATURES[code] ?? code);
}

/* oxlint-disable no-control-regex -- control characters are what is looked for */
const LIGATURE = /(?<=\p{L})[\x0b-\x0c\x0e\x0f\x1b-\x1f]|[\x0b-\x0c\x0e\x0f\x1b-\x1f](?=\p{Ll})/gu;
const LIGATURES: Readonly<Record<string, string>> = {
  "\x0b": "ff",
  "\x0c": "fi",
  "\x0e": "ffi",
  "\x0f": "ffl",
  "\x1b": "ff",
  "\x1c": "fi",
  "\x1d": "fl",
  "\x1e": "ffi",
  "\x1f": "ffl",
};
