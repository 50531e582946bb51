/** Formats a snippet for a terminal: cleaned, wrapped between words, matches in bold. */
import { cleanBlock } from "#api/clean.ts";
import { widthOf } from "./width.ts";

/** Placeholders for the ends of a match while the text is cleaned and wrapped. They are removed from the text itself first. */
const [START, END] = ["\ue000", "\ue001"];
const EITHER = /[\ue000\ue001]/g;

/**
 * Returns the lines of a snippet.
 *
 * @param highlights  matching ranges, in UTF-16 code units
 * @param width       columns of a line
 */
export function excerptLines(
  snippet: string,
  highlights: readonly { start: number; end: number }[],
  { width, most, bold }: { width: number; most: number; bold: (text: string) => string },
): string[] {
  const marked = cleanBlock(mark(snippet.replace(EITHER, " "), highlights)).trimEnd();
  const room = Math.max(20, width);
  const lines = marked.split("\n").flatMap((line) =>
    wrap(
      line.split(/(?<= )/).flatMap((word) => pieces(word, room)),
      room,
    ),
  );
  let isOn = false;
  return lines.slice(0, most).map((line) => {
    const parts = line.split(/([\ue000\ue001])/);
    return parts
      .map((part) => {
        if (part === START || part === END) isOn = part === START;
        else if (part !== "") return isOn ? bold(part) : part;
        return "";
      })
      .join("");
  });
}

function mark(text: string, highlights: readonly { start: number; end: number }[]): string {
  return highlights
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (all, { start, end }) => `${all.slice(0, start)}${START}${all.slice(start, end)}${END}${all.slice(end)}`,
      text,
    );
}

/** Wraps a line to at most `width` columns between words; a longer word, such as an address, stays whole. */
export function wrapLine(line: string, width: number): string[] {
  return wrap(line.split(/(?<= )/), Math.max(20, width));
}

function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const word of words) {
    if (current !== "" && used + shownWidth(word.trimEnd()) > width) {
      lines.push(current.trimEnd());
      current = "";
      used = 0;
    }
    current += word;
    used += shownWidth(word);
  }
  return [...lines, current.trimEnd()];
}

/** Splits a word that is longer than a line into pieces that fit. */
function pieces(word: string, width: number): string[] {
  if (shownWidth(word.trimEnd()) <= width) return [word];
  const found: string[] = [];
  let piece = "";
  let used = 0;
  for (const char of word) {
    const more = shownWidth(char);
    if (used + more > width && piece !== "") {
      found.push(piece);
      piece = "";
      used = 0;
    }
    piece += char;
    used += more;
  }
  return [...found, piece];
}

function shownWidth(text: string): number {
  return widthOf(text.replace(EITHER, ""));
}

/** Formats a snippet in one line for a program that accepts colours. */
export function excerptLine(
  snippet: string,
  highlights: readonly { start: number; end: number }[],
  bold: (text: string) => string,
): string {
  return excerptLines(snippet.replace(/\s/g, " "), highlights, { width: Infinity, most: 1, bold }).join("");
}
