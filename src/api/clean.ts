/**
 * Makes text from a source safe to print in tools, on the command line, on terminal screens and on the web page. Foreign text can then neither start
 * a line of ours, hide itself, reorder the text around it, nor load a remote picture. Source: S45.
 */
import { beforeOpenPicture, withoutPictures } from "./pictures.ts";
import { replaceEach, withLineFeeds } from "./replace-each.ts";
import { visible } from "./visible.ts";

/** Longest value of each kind, in UTF-16 code units. */
export const MAX_CHARS = {
  title: 200,
  person: 80,
  segment: 60,
  source: 120,
  section: 80,
  label: 60,
  key: 60,
  url: 2000,
  value: 200,
} as const;

/**
 * Returns the text as one line: every line and paragraph separator becomes a space, control, bidi, tag and invisible
 * characters are removed, pictures become `[image: alt]` and their definitions are disabled, runs of white space become
 * one space; cut to `maxChars` code units with `…` at the end. Idempotent for the same `maxChars`. Reads only the start
 * of a long text, so that the cost depends on what is shown, however long the text is. Source: S67.
 */
export function cleanLine(text: string, maxChars: number): string {
  const head = headOf(text, maxChars);
  const isWhole = head.length === text.length;
  if (PLAIN_LINE.test(head) && !head.includes("![") && !head.includes("]:"))
    return isWhole ? cut(head, maxChars) : cut(`${head}…`, maxChars);
  const shown = visible(head.replace(LINE_BREAKS, " ")).replace(/\s+/g, " ").trim();
  const line = withoutPictures(isWhole ? shown : beforeOpenPicture(shown)).trim();
  return isWhole || line === "" ? cut(line, maxChars) : cut(`${line}…`, maxChars);
}

/**
 * Returns the part of a text that needs cleaning for `maxChars`. The part can be longer than `maxChars`, because hidden characters and pictures may
 * precede the visible ones.
 */
function headOf(text: string, maxChars: number): string {
  const end = maxChars * 4 + 1024;
  if (text.length <= end) return text;
  return text.slice(0, isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end);
}

/** `cleanLine` for a value between ` | ` on a line of fields: a bar inside becomes `¦`. */
export function cleanField(text: string, maxChars: number): string {
  return cleanLine(text, maxChars).replaceAll("|", "¦");
}

/**
 * Returns a multi-line text without anything invisible or loadable; its line breaks are `\n`, its tabs stay. Print it
 * only through `quoteLines`.
 */
export function cleanBlock(text: string): string {
  return withoutPictures(visible(withLineFeeds(text, ANY_LINE_BREAK)));
}

/**
 * Returns a text that is safe to send to any reader: characters that can't be seen, reorder the text around them or
 * spell hidden words (controls, direction marks, tags, fillers) are removed; everything else, line breaks included,
 * stays.
 */
export function cleanText(text: string): string {
  return MAYBE_UNSEEN.test(text) ? visible(withLineFeeds(text, RETURNS)) : text;
}

/** Like `cleanText`, for a text with marked ranges, which are moved along with the text. */
export function cleanMarked(
  text: string,
  marks: readonly { start: number; end: number }[],
): { text: string; highlights: { start: number; end: number }[] } {
  if (!MAYBE_UNSEEN.test(text)) return { text, highlights: marks.map(({ start, end }) => ({ start, end })) };
  const cleaned = cleanText(text);
  const moved = movedOffsets(
    text,
    marks.flatMap(({ start, end }) => [start, end]),
  );
  const at = (offset: number) => Math.min(cleaned.length, moved.get(offset) ?? 0);
  return { text: cleaned, highlights: marks.map(({ start, end }) => ({ start: at(start), end: at(end) })) };
}

/** Returns the new position of each offset in the cleaned text. Each range between two offsets is cleaned once, even if there are many. */
function movedOffsets(text: string, offsets: readonly number[]): Map<number, number> {
  const moved = new Map<number, number>();
  let [from, length] = [0, 0];
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    length += cleanText(text.slice(from, offset)).length;
    moved.set(offset, length);
    from = Math.max(from, offset);
  }
  return moved;
}

/** Members that a caller sends back unchanged. They aren't cleaned, since a folder may have any name. */
const GIVEN_BACK = new Set(["config", "scope", "id", "parent"]);

/** Cleans every text in a JSON value, also names of members, with `cleanText`. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [cleanText(name), GIVEN_BACK.has(name) ? inner : cleanJson(inner)]),
  );
}

/** Prefixes each line with `> `, so that no line of the text can look like one of ours. */
export function quoteLines(text: string): string {
  return `> ${replaceEach(text, "\n", "\n> ")}`;
}

/**
 * Returns the URL in its normal form if it is http(s) and has at most 2,000 characters, without user name and password; otherwise undefined. The
 * result is ASCII, has no white space and stays on one line.
 */
export function cleanUrl(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  let url: URL;
  // Escapes make a URL longer, never shorter, so a URL far above the maximum isn't parsed.
  if (text.length > MAX_CHARS.url * 4) return undefined;
  try {
    url = new URL(text);
  } catch {
    // Not a URL: there is nothing to link to.
    return undefined;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.username = "";
  url.password = "";
  const href = url.href.replace(/[^!-~]/g, (char) => encodeURIComponent(wellFormed(char)));
  return href.length <= MAX_CHARS.url ? href : undefined;
}

/** Returns the URL that every item has on this server, `<base>/i/<kbId>`; for items whose source has no URL. */
export function permalinkOf(baseUrl: string, kbId: string): string {
  return `${baseUrl}/i/${kbId}`;
}

/** Cuts the text to `maxChars` code units, never inside a character, with `…` as the last one when something is missing. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = Math.max(0, maxChars - 1);
  if (isLowSurrogate(text.charCodeAt(end))) end -= 1;
  // Searches backwards from the end: a pattern would try each run of white space from each of its positions.
  while (end > 0 && LEAVES_WITH_CUT.test(text.charAt(end - 1))) end--;
  return `${text.slice(0, end)}…`;
}

/**
 * The location of an item and its name there, `docs/setup/README.md`, as one field: its folders, and its name if that
 * is a file's. Folders in the middle become `…` beyond `maxFolders`. "" when nothing is known beyond the title.
 */
export function placeOf(
  item: { kind: string; title: string; key: string | null; path: readonly string[] },
  maxFolders = 10,
): string {
  return placesOf(item, maxFolders).join("/");
}

/** Returns the parts of `placeOf`, for a breadcrumb. */
export function placesOf(
  item: { kind: string; title: string; key: string | null; path: readonly string[] },
  maxFolders = 10,
): string[] {
  const name = item.kind === "task" ? "" : cleanField(item.key ?? "", MAX_CHARS.key);
  const folders = item.path
    .map((segment) => cleanField(segment, MAX_CHARS.segment))
    .filter((segment) => segment !== "");
  if (folders.length === 0 && name === cleanField(item.title, MAX_CHARS.key)) return [];
  const left = folders.length - maxFolders;
  const shown = left > 0 ? [...folders.slice(0, 1), "…", ...folders.slice(left + 1)] : folders;
  return [...shown, ...(name === "" ? [] : [name])];
}

/** Words of ASCII with one space between words, without the `<` of a tag. Most names, places and keys have this form. */
const PLAIN_LINE = /^(?:[!-;=-~]+(?: [!-;=-~]+)*)?$/;
/** Removed at the end of a truncated text: a trailing joiner or style has lost its character. */
const LEAVES_WITH_CUT = /\s|\u200c|\u200d|\ufe0f/;
const LINE_BREAKS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
const RETURNS = ["\r\n", "\r"];
const ANY_LINE_BREAK = [...RETURNS, "\v", "\f", "\u0085", "\u2028", "\u2029"];

/** A cheap test for every outgoing text: most texts contain none of these characters. */
const MAYBE_UNSEEN =
  // oxlint-disable-next-line no-control-regex -- these are exactly the characters to take out
  /[\0-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|\p{Surrogate}/u;
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
