import { tryJson } from "#core/json-record.ts";
import { looksLikeApi, looksLikeSchema, readApi, readSchema } from "#extract/api-description.ts";
import { cleanText } from "#extract/clean.ts";
import type { Format } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { plainFormat } from "./plain.ts";

/**
 * JSON and JSON lines as indented `key: value` lines, without punctuation between words. Invalid JSON (with comments, or truncated) is kept as
 * unchanged text.
 */
export const jsonFormat: Format = {
  extract(input) {
    const decoded = input.decode();
    const text = cleanText(decoded.text);
    const values = text.length > MAX_PARSED_LENGTH || decoded.isCut ? undefined : parseValues(text, input.mimeType);
    if (values === undefined) return plainFormat.extract(input);
    if (values.length === 1) {
      if (looksLikeApi(values[0])) return readApi(values[0], input.maxTextLength);
      if (looksLikeSchema(values[0])) return readSchema(values[0], input.maxTextLength);
    }
    const out = new TextBuilder(input.maxTextLength);
    values.forEach((value, index) => {
      if (values.length > 1 && index % LINES_PER_SECTION === 0) out.section(`Lines from ${index + 1}`, 1);
      writeValue(value, values.length === 1, out);
      if (values.length > 1) out.add("\n");
    });
    return out.result({ title: titleOf(values) });
  },
};

/** A parsed value takes up to 20 times the memory of its text. Larger files are data, and are read as text. */
const MAX_PARSED_LENGTH = 8_000_000;
const LINES_PER_SECTION = 50;
const MAX_INDENT = 8;

function parseValues(text: string, mimeType: string): unknown[] | undefined {
  // Files of JSON lines are often named .json.
  const whole = mimeType === "application/x-ndjson" ? undefined : tryJson(text);
  if (whole !== undefined) return [whole];
  const values: unknown[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const value = tryJson(line);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values.length > 0 ? values : undefined;
}

/** A position in the traversal: the rest of an object or list that isn't written yet. */
interface Place {
  entries: Iterator<[string | undefined, unknown]>;
  depth: number;
}

/** Writes the value without recursion, because JSON may be nested a hundred thousand levels deep. */
function writeValue(root: unknown, hasSections: boolean, out: TextBuilder): void {
  const places: Place[] = [{ entries: [[undefined, root] as [undefined, unknown]].values(), depth: -1 }];
  for (let place = places.at(-1); place !== undefined && !out.isFull; place = places.at(-1)) {
    const next = place.entries.next();
    if (next.done === true) {
      places.pop();
      continue;
    }
    const [key, value] = next.value;
    const { depth } = place;
    const indent = "  ".repeat(Math.min(Math.max(0, depth), MAX_INDENT));
    if (hasSections && depth === 0 && key !== undefined) out.section(key, 1);
    if (typeof value === "object" && value !== null) {
      if (key !== undefined) out.add(`${indent}${key}:\n`);
      else if (depth >= 0) out.add(`${indent}-\n`);
      places.push({ entries: entriesOf(value), depth: depth + 1 });
    } else {
      out.add(`${indent}${key === undefined ? (depth < 0 ? "" : "- ") : `${key}: `}${scalarText(value, indent)}\n`);
    }
  }
}

function* entriesOf(value: object): Generator<[string | undefined, unknown]> {
  if (Array.isArray(value)) for (const item of value) yield [undefined, item];
  else for (const [key, item] of Object.entries(value)) yield [key, item];
}

/** Writes the lines of a text below each other, indented. */
function scalarText(value: unknown, indent: string): string {
  const text = String(value);
  return text.includes("\n") ? text.replaceAll(/\r?\n/gu, `\n${indent}  `) : text;
}

function titleOf(values: readonly unknown[]): string | undefined {
  const [first] = values;
  if (values.length !== 1 || typeof first !== "object" || first === null) return undefined;
  const title = "title" in first ? first.title : undefined;
  return typeof title === "string" && title.length <= 300 ? cleanText(title).trim() : undefined;
}
