import { isWhite } from "#api/pictures.ts";
import { withLineFeeds } from "#api/replace-each.ts";
import { textOf } from "#api/visible.ts";
import { tidy } from "#sources/atlassian/tidy.ts";

/**
 * Returns the text of Jira's wiki markup, without most of its marks. Never fails: markup that can't be parsed stays in
 * its original form. No pattern searches past the next mark of its kind, so each position is read once. Source: S67.
 */
export function textOfWiki(markup: unknown): string {
  if (typeof markup !== "string") return "";
  let text = withLineFeeds(markup, ["\r\n"]);
  if (text.includes("{")) text = text.replaceAll(MACRO, "");
  text = plainLines(text);
  if (text.includes("["))
    text = text.replaceAll(PERSON, "@$1").replaceAll(NAMED_LINK, "$1 ($2)").replaceAll(BARE_LINK, "$1");
  if (text.includes("!")) text = text.replaceAll(PICTURE, "");
  if (/[*_+]/.test(text)) text = text.replaceAll(EMPHASIS, "$1$3");
  return tidy(text);
}

const MACRO = /\{(?:code|noformat|quote|panel|color)(?::[^{}\n]{0,500})?\}/g;
const PERSON = /\[~(?:accountid:)?([^[\]\n|]{1,200})\]/g;
const NAMED_LINK = /\[([^[\]\n|]{1,500})\|([^[\]\n|]{1,2000})(?:\|[^[\]\n]{0,200})?\]/g;
const BARE_LINK = /\[(https?:\/\/[^[\]\n|]{1,2000})\]/g;
const PICTURE = /![^!\n|]{1,300}(?:\|[^!\n]{0,300})?!/g;
const EMPHASIS = /(^|[\s(])([*_+])((?!\2)\S(?:(?:(?!\2)[^\n]){0,500}?(?!\2)\S)?)\2(?=$|[\s.,;:!?)])/gm;

const [BAR, SPACE, DASH] = [0x7c, 0x20, 0x2d];

/**
 * Removes the leading marks of lines: headings, quotes, list items, table rows. Works in one pass, since patterns would
 * take a twentieth of a second for a megabyte of short rows.
 */
function plainLines(text: string): string {
  if (!/^(?:[*#|-]|h[1-6]\.|bq\.)/m.test(text)) return text;
  // A single bar between two cells becomes three characters.
  const units = new Uint16Array(text.length * 3);
  let length = 0;
  const put = (from: number, to: number) => {
    for (let at = from; at < to; at++) units[length++] = text.charCodeAt(at);
  };
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed === -1 ? text.length : feed;
    if (text.charCodeAt(at) === BAR) length = putRow(text, [at, end], units, length);
    else {
      const begin = afterMark(text, at, end);
      if (begin > at && isItem(text.charCodeAt(at))) {
        units[length++] = DASH;
        units[length++] = SPACE;
      }
      put(begin, end);
    }
    put(end, Math.min(end + 1, text.length));
    at = end + 1;
  }
  return textOf(units.subarray(0, length));
}

function isItem(unit: number): boolean {
  return unit === 0x2a || unit === 0x23 || unit === DASH;
}

/**
 * Returns the position where the text of a line begins, after such a mark and a space, or otherwise the start of the
 * line.
 */
function afterMark(text: string, start: number, end: number): number {
  let at = start;
  if (isItem(text.charCodeAt(at))) while (at < start + 10 && isItem(text.charCodeAt(at))) at++;
  else if (text.startsWith("bq.", at) || HEADING.test(text.slice(at, at + 3))) at += 3;
  const mark = at;
  while (at < end && isWhite(text.charCodeAt(at))) at++;
  return at > mark && mark > start ? at : start;
}

const HEADING = /^h[1-6]\.$/;

/** Writes the cells of a row with ` | ` between them. @returns the length written so far */
function putRow(text: string, [start, end]: readonly [number, number], units: Uint16Array, from: number): number {
  let length = from;
  let to = endOfText(text, start, end);
  let at = afterBars(text, start, to);
  for (let bars = 0; bars < 2 && to > at && text.charCodeAt(to - 1) === BAR; bars++) to--;
  /** Start of the cell that is being written. */
  let cell = length;
  for (; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BAR) {
      while (length > cell && isWhite(units[length - 1] ?? 0)) length--;
      units[length++] = SPACE;
      units[length++] = BAR;
      units[length++] = SPACE;
      cell = length;
      at = afterBars(text, at, to) - 1;
    } else if (length > cell || !isWhite(unit)) units[length++] = unit;
  }
  while (length > cell && isWhite(units[length - 1] ?? 0)) length--;
  return length;
}

/** Skips the bar between cells. Cells of a header row are separated by two bars. */
function afterBars(text: string, at: number, end: number): number {
  return at + 1 < end && text.charCodeAt(at + 1) === BAR ? at + 2 : at + 1;
}

function endOfText(text: string, start: number, end: number): number {
  let to = end;
  while (to > start && isWhite(text.charCodeAt(to - 1))) to--;
  return to;
}
