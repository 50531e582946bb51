/** Prints a command's output: data on stdout, talk on stderr; tables for people, tabs and JSON for programs. */
import { cleanBlock, cleanLine } from "#api/clean.ts";
import type { Input } from "#cli/line/command.ts";
import type { Deps, Io } from "#cli/host/deps.ts";
import { excerptLines, wrapLine } from "./excerpt.ts";
import { redact } from "#cli/host/failure.ts";
import { makePaint, type Paint } from "./paint.ts";
import type { Defaults } from "#cli/login/settings.ts";
import { cell, layOut, MAX_CELL, tabbed, toColumns, type Columns } from "./table.ts";

export type Format = "table" | "tsv" | "json";

export interface Output {
  format: Format;
  /** Prints a list or record of the contract: as JSON when requested, otherwise with `print`. If `print` returns a text, it is printed on stderr. */
  result<T>(value: T, print: (value: T) => string | void): void;
  /** Prints every record of a list, in the form of an answer. */
  list<T>(key: string, rows: readonly T[], columns: Columns<T>, empty: string): void;
  table<T>(rows: readonly T[], columns: Columns<T>, empty: string): void;
  /** Name and value pairs of one record; on a terminal only those with a value. */
  record(fields: readonly (readonly [string, unknown])[]): void;
  /** One line of data, cleaned. */
  line(text: string): void;
  /** Prints one line whose runs of spaces are kept; only for our own text. */
  layout(text: string): void;
  /** Prints data wrapped between words, each line after `prefix`. The text is first cleaned, then coloured. */
  painted(prefix: string, text: string, colour: (text: string) => string): void;
  /** Prints a snippet of foreign text in at most four lines after `prefix`, with matches in bold. */
  excerpt(prefix: string, text: string, matches: readonly { start: number; end: number }[]): void;
  /** Prints one JSON value per line, for streams. */
  ndjson(value: unknown): void;
  /** Prints messages for the person on stderr, never data. */
  talk(text: string): void;
  paint: Paint;
}

/**
 * The output of one command.
 *
 * @param defaults from the profile and kb.json
 */
export function makeOutput(
  input: Pick<Input, "options">,
  deps: Pick<Deps, "io" | "env">,
  defaults: Defaults = {},
): Output {
  const { io } = deps;
  const chosen = chosenFields(input);
  const format = input.options.json === undefined ? defaultFormat(io, defaults) : "json";
  const write = (text: string): void => void io.stdout.write(text);
  const self: Output = {
    format,
    paint: makePaint(input, deps, io.isStdoutTty),
    result(value, print) {
      if (format === "json") return write(`${safeJson(select(value, chosen), 2)}\n`);
      const text = print(value);
      if (typeof text === "string") self.talk(text);
    },
    list: (key, rows, columns, empty) =>
      self.result({ [key]: rows, nextCursor: null }, () => self.table(rows, columns, empty)),
    table(rows, byTitle, empty) {
      const columns = toColumns(byTitle);
      if (rows.length === 0) self.talk(empty);
      else if (format === "table") write(layOut(rows, columns, io.columns(), self.paint));
      else for (const row of rows) write(`${tabbed(row, columns, self.paint)}\n`);
    },
    record(pairs) {
      const { dim } = self.paint;
      const width = Math.max(...pairs.map(([name]) => name.length));
      const indent = " ".repeat(width + 2);
      for (const [name, value] of pairs) {
        const text = cell(value);
        if (format !== "table") write(`${dim(name)}\t${text}\n`);
        // An unset value is useless to a person.
        else if (text !== "") {
          const lines = wrapLine(text, io.columns() - indent.length);
          write(`${dim(name.padEnd(width))}  ${lines.join(`\n${indent}`)}\n`);
        }
      }
    },
    line: (text) => write(`${cleanLine(text, MAX_CELL)}\n`),
    layout: (text) => write(`${safeText(text)}\n`),
    painted(prefix, text, colour) {
      for (const line of wrapLine(cleanLine(text, MAX_CELL), io.columns() - prefix.length)) {
        write(`${prefix}${colour(line)}\n`);
      }
    },
    excerpt(prefix, text, matches) {
      const width = io.columns() - prefix.length;
      const { bold } = self.paint;
      for (const line of excerptLines(text, matches, { width, most: 4, bold })) write(`${prefix}${line}\n`);
    },
    ndjson: (value) => write(`${safeJson(value, 0)}\n`),
    talk: (text) => void io.stderr.write(`${wrapTalk(safeText(text), io)}\n`),
  };
  return self;
}

/** Makes text safe for a terminal: it can't move the cursor, hide, reorder, or reveal a secret. Line breaks are kept. */
export function safeText(text: string): string {
  return redact(cleanBlock(text));
}

/** Wraps a message for a terminal between words, with the following lines indented. Commands aren't wrapped, because they are copied. */
export function wrapTalk(text: string, io: Pick<Io, "isStderrTty" | "columns">): string {
  if (!io.isStderrTty) return text;
  const lines = text.split("\n").flatMap((line) => {
    if (/^ *kb [a-z]/.test(line)) return line;
    const start = /^(?:kb: | *)/.exec(line)?.[0] ?? "";
    const parts = wrapLine(line.slice(start.length), io.columns() - start.length);
    return parts.map((part, at) => (at === 0 ? start : " ".repeat(start.length)) + part);
  });
  return lines.join("\n");
}

/** Formats milliseconds for people: 0.4 s, 12 s, 3:07, 1:02:03. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = String(seconds % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Bytes with a unit of 1,000s: 812 B, 4.1 kB, 1.2 GB. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = value < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return power === 0 ? `${value} B` : `${(value / 1000 ** power).toFixed(1)} ${units[power]}`;
}

function defaultFormat(io: Io, defaults: Defaults): Format {
  return defaults.format ?? (io.isStdoutTty ? "table" : "tsv");
}

/** Returns the fields of `--json a,b`; the parser has checked them. */
export function chosenFields({ options: { json } }: Pick<Input, "options">): string[] | undefined {
  return json ? json.split(",").map((name) => name.trim()) : undefined;
}

/** Returns the chosen fields of a record. */
export function pick(value: object, fields: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => fields.includes(key)));
}

/** Returns the chosen fields of a record, or of each record in the lists of an envelope; the envelope stays unchanged. */
function select(value: unknown, fields: string[] | undefined): unknown {
  if (fields === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => select(item, fields));
  const entries = Object.entries(value);
  const isEnvelope =
    entries.some(([, item]) => Array.isArray(item) || isRecord(item)) && !fields.some((name) => name in value);
  if (isEnvelope) return Object.fromEntries(entries.map(([key, item]) => [key, select(item, fields)]));
  return pick(value, fields);
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** JSON whose strings contain only visible characters; escapes preserve every value. */
export function safeJson(value: unknown, indent: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

// Controls besides those that JSON escapes, line separators, and characters that a terminal shows as nothing (bidi
// marks, tags).
// oxlint-disable-next-line no-control-regex -- these are exactly the characters to escape
const UNSEEN = /[\u007f-\u009f\u2028\u2029]|\p{Default_Ignorable_Code_Point}/gu;
