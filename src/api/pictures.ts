/**
 * Removes pictures and other media from a text in one pass. No bracket is searched for more than once, and expensive work is done for a limited
 * number of pictures only. Source: S45, S67.
 */
import { replaceEach } from "./replace-each.ts";

/** In a text with more pictures than this, the remaining pictures only lose their marks, which is safe and costs next to nothing. */
const MAX_PICTURES = 1000;
/** A Markdown label has at most 999 characters. */
const MAX_LABEL_CHARS = 999;

/**
 * Replaces Markdown and HTML pictures with `[image: alt]`: so that a program that renders the text has nothing to load. Anything that could still be
 * parsed as a picture loses its mark.
 */
export function withoutPictures(text: string): string {
  return withoutDefinitions(withoutMarkdownPictures(withoutMedia(text)));
}

/** Removes the colon of each definition: it would turn `![label]` in another text, such as a title above it, into a picture. */
function withoutDefinitions(text: string): string {
  return replaceEach(text, "]:", "] :", leadsElsewhere);
}

/**
 * Whether the text after `[label]:` may be a URL: `https://…`, also on the next line and in a quotation. A text isn't a URL if it starts with a
 * digit, such as the port of `[::1]:80`, or has no character that marks a URL.
 */
function leadsElsewhere(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && (isWhite(text.charCodeAt(at)) || text.charCodeAt(at) === GREATER)) at++;
  if (at === text.length) return false;
  const isPort = isDigit(text.charCodeAt(at)) && (at === from || text.charCodeAt(at - 1) !== GREATER);
  if (isPort) return false;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === COLON || unit === SLASH || unit === AMPERSAND || unit === BACKSLASH) return true;
    if (isWhite(unit)) return false;
  }
  return false;
}

/** Returns the start of a longer text, up to a picture or a tag that begins in it and ends after it: in the whole text, that part would be hidden. */
export function beforeOpenPicture(head: string): string {
  let end = head.length;
  const tag = head.lastIndexOf("<");
  if (tag >= 0 && !head.includes(">", tag) && MAYBE_MEDIA.test(head.slice(tag, tag + 12))) end = tag;
  const mark = openMark(head);
  return head.slice(0, Math.min(end, mark));
}

/** Returns the position of the first `![` whose picture may end after the text; the text's length when there is none. */
function openMark(head: string): number {
  const [lastParenthesis, lastClose] = [head.lastIndexOf(")"), head.lastIndexOf("]")];
  let found = head.length;
  let depth = 0;
  for (let at = head.length - 1; at >= 0; at--) {
    const unit = head.charCodeAt(at);
    if (unit === CLOSE) {
      const next = head.charCodeAt(at + 1);
      const isTargetOpen = next === PARENTHESIS ? lastParenthesis < at : next === OPEN && lastClose === at;
      if (!isTargetOpen) depth++;
    } else if (unit === OPEN) {
      if (depth > 0) depth--;
      else if (head.charCodeAt(at - 1) === BANG) found = at - 1;
    }
  }
  return found;
}

const OPEN = 0x5b;
const CLOSE = 0x5d;
const PARENTHESIS = 0x28;
const BANG = 0x21;
const COLON = 0x3a;
const SLASH = 0x2f;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const GREATER = 0x3e;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

const MEDIA = "img|image|video|audio|source|iframe|embed|object|input";
const MAYBE_MEDIA = new RegExp(`^<(?:[a-z]*$|(?:${MEDIA})\\b)`, "i");
const MEDIA_TAG = new RegExp(`<(?:${MEDIA})\\b(?:[^<>]*>)?`, "gi");
const ALT = /\balt\s*=\s*(?:"([^"]*)"|'([^']*)')/i;

interface Picture {
  start: number;
  end: number;
  alt: string;
}

function withoutMarkdownPictures(text: string): string {
  if (!text.includes("![")) return text;
  const { pictures, seenTo } = findPictures(text);
  const head = withMarks(text.slice(0, seenTo), pictures);
  const isWhole = seenTo === text.length;
  return withoutOddMarks(head, !isWhole) + withoutPictureMarks(text.slice(seenTo));
}

/** Returns the pictures with matching brackets, only the outermost ones, and how far the text was searched for them. */
function findPictures(text: string): { pictures: Picture[]; seenTo: number } {
  const pictures: Picture[] = [];
  const opens: number[] = [];
  const labels = makeLabels(text);
  const findTarget = makeTargets(text);
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === LINE_FEED && text.charCodeAt(at + 1) === LINE_FEED) opens.length = 0;
    else if (unit === OPEN) {
      if (text.charCodeAt(at - 1) === BANG && ++marks > MAX_PICTURES) return { pictures, seenTo: at - 1 };
      opens.push(at);
    } else if (unit === CLOSE) {
      const open = opens.pop();
      if (open === undefined || text.charCodeAt(open - 1) !== BANG) continue;
      const end = findTarget(at + 1) ?? (labels.isDefined(open + 1, at) ? at + 1 : undefined);
      if (end === undefined) continue;
      while ((pictures.at(-1)?.start ?? -1) >= open) pictures.pop();
      pictures.push({ start: open - 1, end, alt: text.slice(open + 1, at) });
    }
  }
  return { pictures, seenTo: text.length };
}

/**
 * Finds the end of the `(…)` or `[…]` that begins at a position, if it ends on the same line. Call with ascending positions: each result is reused
 * for the next.
 */
function makeTargets(text: string): (at: number) => number | undefined {
  const find = (wanted: string) => {
    let found = -1;
    return (from: number): number => {
      if (found < from) {
        const next = text.indexOf(wanted, from);
        found = next < 0 ? Infinity : next;
      }
      return found;
    };
  };
  const [parenthesis, bracket, lineFeed] = [find(")"), find("]"), find("\n")];
  return (at) => {
    const unit = text.charCodeAt(at);
    const close = unit === PARENTHESIS ? parenthesis(at + 1) : unit === OPEN ? bracket(at + 1) : Infinity;
    return close < Infinity && close < lineFeed(at + 1) ? close + 1 : undefined;
  };
}

const DEFINITION = /^(?:[ \t>]*)\[([^\]\n]+)\]:[ \t]*\S/gm;

/** Finds the definitions that a lone `![label]` refers to. If the text has very many definitions, every label is treated as defined. */
function makeLabels(text: string): { isDefined(start: number, end: number): boolean } {
  let defined: Set<string> | "any" | undefined;
  return {
    isDefined(start, end) {
      defined ??= definitionsOf(text);
      if (defined === "any") return true;
      if (defined.size === 0 || end - start > MAX_LABEL_CHARS) return false;
      const label = text.slice(start, end);
      return !/[[\n]/.test(label) && defined.has(labelKey(label));
    },
  };
}

function definitionsOf(text: string): Set<string> | "any" {
  const defined = new Set<string>();
  if (!text.includes("]:")) return defined;
  let count = 0;
  for (const [, label = ""] of text.matchAll(DEFINITION)) {
    if (count++ === MAX_PICTURES) return "any";
    if (label.length <= MAX_LABEL_CHARS) defined.add(labelKey(label));
  }
  return defined;
}

function labelKey(label: string): string {
  return label.trim().replace(/\s+/g, " ").toLowerCase();
}

function withMarks(text: string, pictures: readonly Picture[]): string {
  if (pictures.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, alt } of pictures) {
    parts.push(text.slice(at, start), markAfter(text, start, alt));
    at = Math.min(end, text.length);
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/** A mark after `!` would be a picture again. */
function markAfter(text: string, at: number, alt: string): string {
  return `${text.charCodeAt(at - 1) === BANG ? " " : ""}${imageMark(alt)}`;
}

function imageMark(alt: string): string {
  const name = alt
    .replace(/[[\]<>]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return name === "" ? "[image]" : `[image: ${name}]`;
}

/**
 * Removes the mark of every `![` before the last `](` or `][` of its paragraph: such a picture is nested, broken or otherwise irregular. A picture
 * never spans paragraphs. @param isOpen whether the last paragraph continues after the text
 */
function withoutOddMarks(text: string, isOpen: boolean): string {
  if (!text.includes("![")) return text;
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const gap = text.indexOf("\n\n", start);
    const end = gap < 0 ? text.length : gap + 2;
    const odd = isOpen && gap < 0 ? end : lastTarget(text, start, end);
    parts.push(odd <= start ? "" : withoutPictureMarks(text.slice(start, odd)), text.slice(Math.max(start, odd), end));
    start = end;
  }
  return parts.join("");
}

function withoutPictureMarks(text: string): string {
  return replaceEach(text, "![", "! [");
}

/** Returns the position of the last `]` followed by a target, with up to three spaces in between; `start` when there is none. */
function lastTarget(text: string, start: number, end: number): number {
  for (let at = end - 1; at > start; at--) {
    const unit = text.charCodeAt(at);
    if (unit !== PARENTHESIS && unit !== OPEN) continue;
    let before = at - 1;
    while (at - before <= 3 && isSpace(text.charCodeAt(before))) before--;
    if (before >= start && text.charCodeAt(before) === CLOSE) return before;
  }
  return start;
}

function isSpace(unit: number): boolean {
  return unit === SPACE || (unit >= TAB && unit <= 0x0d) || unit === 0xa0;
}

/** The characters that `\s` matches. */
export function isWhite(unit: number): boolean {
  if (unit < 0x1680) return isSpace(unit);
  return unit >= 0x2000 && unit <= 0x3000 ? WHITE.test(String.fromCharCode(unit)) : unit === 0x1680 || unit === 0xfeff;
}

const WHITE = /\s/;

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Replaces a tag with the mark of a picture. An unclosed tag loses the character that makes it a tag. */
function withoutMedia(text: string): string {
  if (!text.includes("<")) return text;
  const parts: string[] = [];
  let at = 0;
  let tags = 0;
  for (const { 0: tag, index } of text.matchAll(MEDIA_TAG)) {
    if (++tags > MAX_PICTURES) return [...parts, replaceEach(text.slice(at), "<", "< ")].join("");
    const isClosed = tag.endsWith(">");
    const alt = isClosed ? ALT.exec(tag)?.slice(1).join("") : undefined;
    parts.push(text.slice(at, index), isClosed ? markAfter(text, index, alt ?? "") : `< ${tag.slice(1)}`);
    at = index + tag.length;
  }
  return [...parts, text.slice(at)].join("");
}
