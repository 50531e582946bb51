/**
 * Makes text from a source safe to print: for tools, command line, terminal screens and the web page alike.
 * What a stranger wrote can then neither start a line of ours, hide itself, reorder the text around it, nor load a
 * remote picture. Source: S45.
 */

/** How long a value of each sort may get, in UTF-16 code units. */
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
 * The text as one line: every line and paragraph separator is a space, control, bidi, tag and invisible characters are
 * out, pictures are `[image: alt]`, runs of white space are one space; cut to `maxChars` code units with `…` at the end.
 * Idempotent for the same `maxChars`.
 */
export function cleanLine(text: string, maxChars: number): string {
  if (PLAIN_LINE.test(text) && !text.includes("![")) return cut(text, maxChars);
  const line = withoutImages(visible(text.replace(LINE_BREAKS, " ")))
    .replace(/\s+/g, " ")
    .trim();
  return cut(line, maxChars);
}

/** `cleanLine` for a value between ` | ` on a line of fields: a bar inside becomes `¦`. */
export function cleanField(text: string, maxChars: number): string {
  return cleanLine(text, maxChars).replaceAll("|", "¦");
}

/**
 * A text of several lines without anything invisible or loadable; its line breaks are `\n`, its tabs stay.
 * Print it only through `quoteLines`.
 */
export function cleanBlock(text: string): string {
  return withoutImages(visible(text.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, "\n")));
}

/**
 * A text as it may leave the server for any reader: what can't be seen, reorders the text around it or spells hidden
 * words (controls, direction marks, tags, fillers) is out; everything else, line breaks included, stays as it is.
 */
export function cleanText(text: string): string {
  return MAYBE_UNSEEN.test(text) ? visible(text.replace(/\r\n?/g, "\n")) : text;
}

/** `cleanText` of a text with marked stretches, which move with it. */
export function cleanMarked(
  text: string,
  marks: readonly { start: number; end: number }[],
): { text: string; highlights: { start: number; end: number }[] } {
  if (!MAYBE_UNSEEN.test(text)) return { text, highlights: marks.map(({ start, end }) => ({ start, end })) };
  const cleaned = cleanText(text);
  // The text before an offset, cleaned by itself, is as long as it is in the cleaned whole.
  const moved = (at: number) => Math.min(cleaned.length, cleanText(text.slice(0, at)).length);
  return { text: cleaned, highlights: marks.map(({ start, end }) => ({ start: moved(start), end: moved(end) })) };
}

/** Members that a caller gives back as they are: a folder may have any name. */
const GIVEN_BACK = new Set(["config", "scope", "id", "parent"]);

/** A value of JSON with every text in it, names of members too, cleaned by `cleanText`. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [cleanText(name), GIVEN_BACK.has(name) ? inner : cleanJson(inner)]),
  );
}

/** Each line after `> `, so that no line of the text can pass for one of ours. */
export function quoteLines(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/**
 * The address in its normal form when it is http(s) and at most 2,000 characters, without user name and password;
 * otherwise undefined. The result is ASCII, has no white space and stays on one line.
 */
export function cleanUrl(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // Not an address at all: there is nothing to link to.
    return undefined;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.username = "";
  url.password = "";
  const href = url.href.replace(/[^!-~]/g, (char) => encodeURIComponent(wellFormed(char)));
  return href.length <= MAX_CHARS.url ? href : undefined;
}

/** The address that every item has here, `<base>/i/<kbId>`: for those whose source has none. */
export function permalinkOf(baseUrl: string, kbId: string): string {
  return `${baseUrl}/i/${kbId}`;
}

/** The text cut to `maxChars` code units, never inside a character, with `…` as the last one when something is missing. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = Math.max(0, maxChars - 1);
  if (isLowSurrogate(text.charCodeAt(end))) end -= 1;
  return `${text.slice(0, end).replace(/[\s\u200c\u200d]+$/u, "")}…`;
}

/**
 * Where an item is and what it is called there, `docs/setup/README.md`, as one field: its folders, and its name where that
 * is a file's. Folders in the middle become `…` beyond `maxFolders`. "" when nothing is known that the title does not say.
 */
export function placeOf(
  item: { kind: string; title: string; key: string | null; path: readonly string[] },
  maxFolders = 10,
): string {
  return placesOf(item, maxFolders).join("/");
}

/** `placeOf` in its parts, for a breadcrumb. */
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

/** Words of ASCII with one space between them, without the `<` of a tag: most names, places and keys. */
const PLAIN_LINE = /^(?:[!-;=-~]+(?: [!-;=-~]+)*)?$/;
/** Nothing in it is hidden, reorders the text or is half of a character. */
const PLAIN_TEXT = /^[\t\n -~]*$/;

const LINE_BREAKS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
const ZWNJ = "\u200c";
const ZWJ = "\u200d";
const EMOJI_STYLE = "\ufe0f";

/** Controls except tab and line feed, interlinear marks, non-characters: never meant to be seen. */
const NEVER_SHOWN =
  // oxlint-disable-next-line no-control-regex -- these are exactly the characters to take out
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]|[\ufdd0-\ufdef]|\p{Noncharacter_Code_Point}/gu;
/** What a terminal or page shows as nothing: bidi marks, tags, fillers, selectors, joiners. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Cheap to ask of every text that leaves: most have none of these. */
const MAYBE_UNSEEN =
  // oxlint-disable-next-line no-control-regex -- these are exactly the characters to take out
  /[\0-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|\p{Surrogate}/u;
/** Scripts whose spelling needs the joiners. */
const JOINING_LETTER =
  /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$/u;
const PICTURE = /^\p{Extended_Pictographic}$/u;
const PICTURE_END = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const TAKES_EMOJI_STYLE = /^[\p{Extended_Pictographic}0-9#*]$/u;

function visible(text: string): string {
  if (PLAIN_TEXT.test(text)) return text;
  const shown = wellFormed(text)
    .replace(NEVER_SHOWN, "")
    .replace(IGNORABLE, (char) => (char === ZWNJ || char === ZWJ || char === EMOJI_STYLE ? char : ""));
  return /\u200c|\u200d|\ufe0f/.test(shown) ? withNeededJoiners(shown) : shown;
}

/** Keeps a joiner only where it changes the spelling or the picture: no place to hide bits in. */
function withNeededJoiners(text: string): string {
  const chars = [...text];
  let out = "";
  let last = "";
  chars.forEach((char, index) => {
    if (isKept(char, last, chars[index + 1] ?? "")) {
      out += char;
      last = char;
    }
  });
  return out;
}

function isKept(char: string, last: string, next: string): boolean {
  if (char === EMOJI_STYLE) return TAKES_EMOJI_STYLE.test(last) && (!/[0-9#*]/.test(last) || next === "\u20e3");
  if (char === ZWJ && PICTURE_END.test(last) && PICTURE.test(next)) return true;
  if (char === ZWJ || char === ZWNJ) return JOINING_LETTER.test(last) && JOINING_LETTER.test(next);
  return true;
}

// Every repetition is bounded: a text of nothing but `![` must not cost its length squared.
const INLINE_IMAGE =
  /!\[([^[\]]{0,300}(?:\[[^[\]]{0,100}\][^[\]]{0,100}){0,4})\](?:\([^)\n]{0,3000}\)|\[[^\]\n]{0,300}\])/g;
const IMAGE_TAIL = /\]\s{0,3}[([]/g;
const SHORTCUT_IMAGE = /!\[([^[\]\n]*)\]/g;
const DEFINITION = /^(?:[ \t>]*)\[([^\]\n]+)\]:[ \t]*\S/gm;
const MEDIA_TAG = /<(?:img|image|video|audio|source|iframe|embed|object|input)\b[^<>]*>/gi;
const OPEN_MEDIA_TAG = /<(?=(?:img|image|video|audio|source|iframe|embed|object)\b)/gi;

/** Markdown and HTML pictures become `[image: alt]`: a host that renders the text must have nothing to load. */
function withoutImages(text: string): string {
  if (!text.includes("![") && !text.includes("<")) return text;
  const defined = new Set([...text.matchAll(DEFINITION)].map((match) => labelKey(match[1] ?? "")));
  return text
    .replace(INLINE_IMAGE, (_all, alt: string) => imageMark(alt))
    .replace(SHORTCUT_IMAGE, (all, alt: string) => (defined.has(labelKey(alt)) ? imageMark(alt) : all))
    .split("\n\n")
    .map(withoutOddImages)
    .join("\n\n")
    .replace(MEDIA_TAG, (tag) => imageMark(/\balt\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag)?.slice(1).join("") ?? ""))
    .replace(OPEN_MEDIA_TAG, "< ");
}

/** What might still be read as a picture (nested or very long parts) loses its mark. A picture never spans paragraphs. */
function withoutOddImages(paragraph: string): string {
  if (!paragraph.includes("![")) return paragraph;
  const lastTail = [...paragraph.matchAll(IMAGE_TAIL)].at(-1)?.index ?? -1;
  return paragraph.replace(/!\[/g, (mark, at: number) => (at < lastTail ? "! [" : mark));
}

function imageMark(alt: string): string {
  const name = alt
    .replace(/[[\]<>]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return name === "" ? "[image]" : `[image: ${name}]`;
}

function labelKey(label: string): string {
  return label.trim().replace(/\s+/g, " ").toLowerCase();
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
