/**
 * Splits a long text into pieces that are drawn separately, so that showing more text redraws nothing. When text is
 * added, every piece but the last stays the same.
 */

/**
 * The number of UTF-16 code units after which a piece ends, at the next blank line or else at the next line. A piece is
 * drawn at once: Markdown of 4,000 units takes 5 to 10 ms, and of 20,000 units took 50 ms.
 */
const WISHED = 4_000;
/** A longer line is cut. */
const LONGEST = 100_000;

/** Returns pieces of Markdown or prose. They end at blank lines, and never inside a code block unless it is huge. */
export function segmentsOf(text: string): string[] {
  const segments: string[] = [];
  let start = 0;
  let fence: string | undefined;
  let at = 0;
  while (at < text.length) {
    const lineFeed = text.indexOf("\n", at);
    const end = lineFeed < 0 ? text.length : lineFeed + 1;
    const mark = FENCE.exec(text.slice(at, Math.min(end, at + 80)))?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    const size = end - start;
    const isBlank = text.slice(at, end).trim() === "";
    if ((size >= WISHED && isBlank && fence === undefined) || size >= LONGEST) {
      for (; end - start > LONGEST; start += LONGEST) segments.push(text.slice(start, start + LONGEST));
      segments.push(text.slice(start, end));
      start = end;
      fence = undefined;
    }
    at = end;
  }
  if (start < text.length) segments.push(text.slice(start));
  return segments;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The number of lines of code in one piece. */
const LINES = 400;

/** Returns pieces of whole lines, each with the number of its first line. */
export function lineSegmentsOf(text: string): { first: number; lines: string[] }[] {
  const lines = text.split("\n");
  // A line feed at the end of a file doesn't start another line.
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const segments: { first: number; lines: string[] }[] = [];
  for (let at = 0; at < lines.length; at += LINES) segments.push({ first: at + 1, lines: lines.slice(at, at + LINES) });
  return segments;
}

/** Embeddings, overrides and isolates, which change the display order of the text after them. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Escapes the characters in a text that change its direction, because such characters can hide what code does.
 * Source: CVE-2021-42574.
 */
export function showDirection(text: string): string {
  return text.replace(DIRECTION, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);
}

/** Removes the characters of a text that change its direction. */
export function dropDirection(text: string): string {
  return text.replace(DIRECTION, "");
}
