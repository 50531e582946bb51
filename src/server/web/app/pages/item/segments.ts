/**
 * Splits a long text into pieces that are drawn separately, so that showing more redraws nothing. Every piece but the
 * last stays the same when text is added.
 */

/**
 * UTF-16 code units after which the next blank line, else the next line, ends a piece. A piece is drawn in one go: at
 * 4,000 one of Markdown takes 5 to 10 ms, at 20,000 it took 50.
 */
const WISHED = 4_000;
/** A longer line is cut. */
const LONGEST = 100_000;

/** Pieces of Markdown or prose: they end at blank lines, never inside a code block unless it is huge. */
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

/** Lines of code in one piece. */
const LINES = 400;

/** Pieces of whole lines, each with the number of its first. */
export function lineSegmentsOf(text: string): { first: number; lines: string[] }[] {
  const lines = text.split("\n");
  // The line feed at the end of a file doesn't start a line.
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const segments: { first: number; lines: string[] }[] = [];
  for (let at = 0; at < lines.length; at += LINES) segments.push({ first: at + 1, lines: lines.slice(at, at + LINES) });
  return segments;
}

/** Embeddings, overrides and isolates: they change the display order of the text after them. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/** Escapes the characters of a text that change its direction, as code requires. Source: CVE-2021-42574. */
export function showDirection(text: string): string {
  return text.replace(DIRECTION, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);
}

/** Removes the characters of a text that change its direction. */
export function dropDirection(text: string): string {
  return text.replace(DIRECTION, "");
}
