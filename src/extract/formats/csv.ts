import { parse, type Options } from "csv-parse/sync";
import { cleanText, cutText, singleSpaced } from "#extract/clean.ts";
import type { Format, FormatInput, FormatText } from "#extract/format.ts";
import { headerLine, rowLine } from "#extract/markdown-table.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { plainFormat } from "./plain.ts";

/**
 * Tables of separated values as Markdown rows. Each block of 50 rows is a section that repeats the header, so that a passage in the middle still
 * shows its columns.
 */
export const csvFormat: Format = {
  async extract(input): Promise<FormatText> {
    const decoded = input.decode();
    // Excel's first line, which names the delimiter, isn't a row.
    const [line = "", named] = /^sep=([^\r\n"])?[ \t]*\n/iu.exec(cleanText(decoded.text)) ?? [];
    const whole = cleanText(decoded.text).slice(line.length);
    const text = cutAtLine(whole, input.maxTextLength);
    const delimiter = input.mimeType === "text/tab-separated-values" ? "\t" : (named ?? detectDelimiter(text));
    const rows = delimiter === undefined ? undefined : parseRows(text, delimiter);
    if (rows === undefined || rows.length === 0) return plainText(input);
    const out = new TextBuilder(input.maxTextLength);
    writeRows(rows, out);
    const encoding = decoded.encoding === "utf-8" ? {} : { encoding: decoded.encoding };
    const properties = { rows: String(rows.length - 1), columns: String(rows[0]?.length ?? 0), ...encoding };
    return out.result({ properties, isCut: decoded.isCut || text.length < whole.length });
  },
};

const ROWS_PER_SECTION = 50;
const MAX_CELL_LENGTH = 5_000;
/** The minimum score: half of the lines have as many fields as the first. */
const MIN_SCORE = 50;

async function plainText(input: FormatInput): Promise<FormatText> {
  const result = await plainFormat.extract(input);
  return result.state === "ok" ? result : { state: "ok", text: "", sections: [], properties: {} };
}

/**
 * Finds the delimiter that splits the first lines into the same number of fields, at least two. If there are several, the one with the most fields is
 * used. A comma before a space belongs to a sentence or a date, unless nothing else divides the lines.
 */
function detectDelimiter(text: string): string | undefined {
  const lines = text
    .slice(0, 20_000)
    .split("\n", 20)
    .filter((line) => line.trim() !== "")
    // Delimiters within quoted fields are ignored.
    .map((line) => line.replaceAll(/"[^"]*"/gu, ""));
  const plain = lines.map((line) => line.replaceAll(", ", " "));
  const found = bestOf(plain);
  return found !== undefined && found.score >= MIN_SCORE ? found.delimiter : bestOf(lines)?.delimiter;
}

function bestOf(lines: readonly string[]): { delimiter: string; score: number } | undefined {
  let best: { delimiter: string; score: number } | undefined;
  for (const delimiter of [",", ";", "\t", "|"]) {
    const counts = lines.map((line) => line.split(delimiter).length);
    const first = counts[0] ?? 1;
    const same = counts.filter((count) => count === first).length / Math.max(1, counts.length);
    const score = first > 1 ? same * 100 + Math.min(first, 50) : 0;
    if (score > (best?.score ?? 0)) best = { delimiter, score };
  }
  return best;
}

function parseRows(text: string, delimiter: string): string[][] | undefined {
  const options: Options = { delimiter, relax_column_count: true, relax_quotes: true, skip_empty_lines: true };
  try {
    const rows: unknown = parse(text, options);
    // The cast is safe: without `columns` or `cast` the parser returns an array of arrays of strings.
    return rows as string[][];
  } catch {
    // For example, a quotation isn't closed. The text is still worth reading.
    return undefined;
  }
}

function writeRows(rows: readonly string[][], out: TextBuilder): void {
  const [header = [], ...body] = rows;
  const head = `${rowText(header)}\n${headerLine(header.length)}\n`;
  if (body.length === 0) out.add(head);
  for (let start = 0; start < body.length && !out.isFull; start += ROWS_PER_SECTION) {
    const end = Math.min(start + ROWS_PER_SECTION, body.length);
    if (start > 0) out.add("\n");
    if (body.length > ROWS_PER_SECTION) out.section(`Rows ${start + 1}–${end}`, 1);
    out.add(
      head +
        body
          .slice(start, end)
          .map((row) => `${rowText(row)}\n`)
          .join(""),
    );
  }
}

function rowText(row: readonly string[]): string {
  return rowLine(row.map((cell) => singleSpaced(cutText(cell, MAX_CELL_LENGTH))));
}

function cutAtLine(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.lastIndexOf("\n", maxLength);
  return end > 0 ? text.slice(0, end) : cutText(text, maxLength);
}
