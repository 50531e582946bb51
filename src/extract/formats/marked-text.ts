import { cleanText, cutText, oneLine } from "#extract/clean.ts";
import type { FormatInput, FormatText } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** The content that a markup language contributes for one line of a file. */
export interface MarkedLine {
  /** The line's text in the result. A comment becomes an empty line, so that line numbers are the same as in the file. */
  text: string;
  /** A heading that begins in this line, or in the line before it. */
  heading?: { name: string; level: number; isLineBefore?: boolean };
}

/** The document's metadata, collected while its lines are read. */
export interface MarkedDocument {
  title?: string;
  language?: string;
  properties: Record<string, string>;
}

/** Reads a text line by line. The text is kept unchanged, and its headings become sections. */
export function readMarkedText(
  input: Pick<FormatInput, "decode" | "maxTextLength">,
  document: MarkedDocument,
  readLine: (line: string, index: number, lines: readonly string[]) => MarkedLine,
): FormatText {
  const decoded = input.decode();
  const clean = cleanText(decoded.text);
  const whole = cutText(clean, input.maxTextLength);
  const out = new TextBuilder(input.maxTextLength);
  const lines = whole.split("\n");
  let before = 0;
  lines.forEach((line, index) => {
    const { text, heading } = readLine(line, index, lines);
    const start = out.offset;
    if (heading !== undefined)
      out.section(heading.name, Math.min(6, heading.level), heading.isLineBefore === true ? before : start);
    out.addClean(index < lines.length - 1 ? `${text}\n` : text);
    before = start;
  });
  return out.result({ ...document, firstLine: 1, isCut: decoded.isCut || whole.length < clean.length });
}

/** Stores a property of a document in one line; only the first value is kept. */
export function noteProperty(document: MarkedDocument, name: string, value: string): void {
  const key = oneLine(name, 60).toLowerCase();
  const words = oneLine(value, 500);
  if (key === "" || words === "" || Object.keys(document.properties).length >= MAX_PROPERTIES) return;
  if (key === "title") document.title ??= words;
  else if ((key === "lang" || key === "language") && /^[a-z]{2}\b/iu.test(words))
    document.language ??= words.slice(0, 2).toLowerCase();
  else if (/^[a-z][\w-]*$/u.test(key) && !Object.hasOwn(document.properties, key)) document.properties[key] = words;
}

const MAX_PROPERTIES = 40;
