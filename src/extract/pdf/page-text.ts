import type { PdfPage } from "./open.ts";

type Items = Awaited<ReturnType<PdfPage["getTextContent"]>>["items"];
type TextItem = Extract<Items[number], { str: string }>;

/** Lines as the layout has them; a blank line where the distance to the next line is that of a paragraph. */
export function joinItems(items: Items): string {
  let text = "";
  let last: TextItem | undefined;
  for (const item of items) {
    if (!("str" in item)) continue;
    if (last !== undefined && item.str.trim() !== "") text += gapBetween(last, item, text);
    text += item.str;
    if (item.str.trim() !== "") last = item;
    if (item.hasEOL) text += "\n";
  }
  const lines = withLigatures(text)
    .replaceAll(/[ \t]+\n/gu, "\n")
    .replaceAll(/\n{3,}/gu, "\n\n");
  return withWholeWords(lines).trim();
}

/** What stands between two pieces of text: a paragraph's distance, or a distance that pdf.js gives no space for. */
function gapBetween(last: TextItem, item: TextItem, text: string): string {
  const height = Math.max(1, item.height);
  if (text.endsWith("\n")) return Number(last.transform[5]) - Number(item.transform[5]) > 1.9 * height ? "\n" : "";
  if (/\s$/u.test(text) || /^\s/u.test(item.str)) return "";
  const [lastX, x] = [Number(last.transform[4]), Number(item.transform[4])];
  // Leaders of a table of contents, and words of two directions in one line.
  const distance = Math.max(x - (lastX + last.width), lastX - (x + item.width));
  return distance > height * 0.15 || (last.dir !== item.dir && /[\p{L}\p{N}]$/u.test(text)) ? " " : "";
}

/**
 * A word that the end of a line divides becomes one, with a hyphen that may or may not be its own: whether it is
 * `microscopes` or `well-known`, both are found. Source: docs/decisions/0064.
 */
function withWholeWords(lines: string): string {
  return lines.replaceAll(DIVIDED, (found, before: string, after: string) => {
    const isOne = /^\p{Ll}/u.test(after) || (/^\p{Lu}/u.test(before) && /^\p{Lu}{2}/u.test(after));
    return isOne ? `${before}-\u00ad${after}\n` : found;
  });
}

const DIVIDED = /(\p{L}\p{M}*)[-\u00ad\u2010]\n(\S+) ?\n?/gu;

/** Fonts of TeX whose ligatures are named by their own codes, which text has no letters for. */
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
