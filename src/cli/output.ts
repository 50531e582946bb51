/** What a command prints: data on stdout, talk on stderr; tables for people, tabs and JSON for programs. */
import { createColors } from "picocolors";
import { cleanBlock, cleanLine } from "#api/clean.ts";
import type { CommandInput } from "./command.ts";
import type { Deps, Io } from "./deps.ts";
import { excerptLines } from "./excerpt.ts";
import { widthOf } from "./width.ts";
import { redact } from "./failure.ts";
import type { Defaults } from "./settings.ts";

export type Format = "table" | "tsv" | "json";

export interface Column<T> {
  title: string;
  value(row: T): unknown;
  /** Gives way first when the terminal is narrow. */
  isFlexible?: boolean;
  /** Left out where the terminal is too narrow for the others to be read; a pipe has it always. */
  isOptional?: boolean;
}

export interface Output {
  format: Format;
  /** A list or record of the contract: as JSON when asked for, else through `print`. */
  result(value: unknown, print: () => void): void;
  table<T>(rows: readonly T[], columns: readonly Column<T>[], empty: string): void;
  /** Name and value pairs of one record. */
  record(fields: readonly (readonly [string, unknown])[]): void;
  /** One line of data, cleaned. */
  line(text: string): void;
  /** One line whose runs of spaces are meant: text of ours, not of others. */
  layout(text: string): void;
  /** One line of data after `prefix`, cleaned first and coloured then. */
  painted(prefix: string, text: string, colour: (text: string) => string): void;
  /** A snippet of others in at most four lines after `prefix`, with what matched in bold. */
  excerpt(prefix: string, text: string, matches: readonly { start: number; end: number }[]): void;
  /** One JSON value per line, for streams. */
  ndjson(value: unknown): void;
  /** Talk: never data. */
  talk(text: string): void;
  paint: Paint;
}

export interface Paint {
  isColorSupported: boolean;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

/**
 * The output of one command.
 *
 * @param defaults from the profile and kb.json
 */
export function makeOutput(input: CommandInput, deps: Pick<Deps, "io" | "env">, defaults: Defaults = {}): Output {
  const { io } = deps;
  const chosen = chosenFields(input);
  const format = input.options["json"] === undefined ? defaultFormat(io, defaults) : "json";
  const write = (text: string): void => void io.stdout.write(text);
  const self: Output = {
    format,
    paint: makePaint(input, deps, io.isStdoutTty),
    result(value, print) {
      if (format === "json") write(`${safeJson(select(value, chosen), 2)}\n`);
      else print();
    },
    table(rows, columns, empty) {
      if (rows.length === 0) self.talk(empty);
      else if (format === "table") write(layOut(rows, columns, io.columns(), self.paint));
      else for (const row of rows) write(`${columns.map((column) => cell(column.value(row))).join("\t")}\n`);
    },
    record(pairs) {
      const width = Math.max(...pairs.map(([name]) => name.length));
      for (const [name, value] of pairs) {
        const text = cell(value);
        write(format === "table" ? `${self.paint.dim(name.padEnd(width))}  ${text}\n` : `${name}\t${text}\n`);
      }
    },
    line: (text) => write(`${cleanLine(text, MAX_CELL)}\n`),
    layout: (text) => write(`${safeText(text)}\n`),
    painted: (prefix, text, colour) => write(`${prefix}${colour(cleanLine(text, MAX_CELL))}\n`),
    excerpt(prefix, text, matches) {
      const width = io.columns() - prefix.length;
      const { bold } = self.paint;
      for (const line of excerptLines(text, matches, { width, most: 4, bold })) write(`${prefix}${line}\n`);
    },
    ndjson: (value) => write(`${safeJson(value, 0)}\n`),
    talk: (text) => void io.stderr.write(`${safeText(text)}\n`),
  };
  return self;
}

/** Colours for a stream: `NO_COLOR`, `FORCE_COLOR`, `TERM=dumb` and --no-color decide before the terminal does. */
export function makePaint(input: Pick<CommandInput, "options">, deps: Pick<Deps, "env">, isTty: boolean): Paint {
  const { env } = deps;
  const isForced = Boolean(env["FORCE_COLOR"]) && env["FORCE_COLOR"] !== "0";
  const isForbidden = Boolean(env["NO_COLOR"]) || input.options["color"] === false || env["FORCE_COLOR"] === "0";
  return createColors(!isForbidden && (isForced || (isTty && env["TERM"] !== "dumb")));
}

/** Text for a terminal: nothing in it can move the cursor, hide, reorder or show a secret. Line breaks stay. */
export function safeText(text: string): string {
  return redact(cleanBlock(text));
}

/** A number with thousands separators. */
export function count(value: number): string {
  return String(Math.trunc(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "1 file", "2 files". */
export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** Milliseconds as people say them: 0.4 s, 12 s, 3:07, 1:02:03. */
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

const MAX_CELL = 4_000;
const GAP = "  ";
/** How narrow columns may become, step by step, before the next kind of column has to give way. */
const MIN_FLEXIBLE = [12, 6];
const READABLE = 24;
const MIN_OTHER = [10, 6, 3];

function defaultFormat(io: Io, defaults: Defaults): Format {
  return defaults.format ?? (io.isStdoutTty ? "table" : "tsv");
}

/** The fields of `--json a,b`; the parser has checked them. */
function chosenFields(input: CommandInput): string[] | undefined {
  const { json } = input.options;
  return typeof json === "string" && json !== "" ? json.split(",").map((name) => name.trim()) : undefined;
}

/** The chosen fields of a record, or of each record in the lists of an envelope; the envelope stays as it is. */
function select(value: unknown, fields: string[] | undefined): unknown {
  if (fields === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => select(item, fields));
  const entries = Object.entries(value);
  const isEnvelope =
    entries.some(([, item]) => Array.isArray(item) || isRecord(item)) && !fields.some((name) => name in value);
  if (isEnvelope) return Object.fromEntries(entries.map(([key, item]) => [key, select(item, fields)]));
  return Object.fromEntries(entries.filter(([key]) => fields.includes(key)));
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** JSON whose strings show nothing but visible characters; escapes keep every value what it is. */
export function safeJson(value: unknown, indent: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

// Controls beyond those JSON escapes, line separators, and what a terminal shows as nothing (bidi marks, tags).
// oxlint-disable-next-line no-control-regex -- these are exactly the characters to escape
const UNSEEN = /[\u007f-\u009f\u2028\u2029]|\p{Default_Ignorable_Code_Point}/gu;

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(cell).join(", ");
  return redact(cleanLine(typeof value === "object" ? JSON.stringify(value) : String(value), MAX_CELL));
}

function layOut<T>(rows: readonly T[], columns: readonly Column<T>[], width: number, paint: Paint): string {
  const given = rows.map((row) => columns.map((column) => cell(column.value(row))));
  const order = idsLast(given, columns.length).filter(roomFor(given, columns, width));
  return layOutCells(
    given.map((row) => order.map((at) => row[at] ?? "")),
    order.flatMap((at) => columns[at] ?? []),
    width,
    paint,
  );
}

/** The columns in the order of a terminal: ids are for copying, people read the rest first. */
function idsLast(cells: readonly (readonly string[])[], columns: number): number[] {
  const isId = (at: number): boolean => cells.every((row) => /^[a-z]{3}_[a-z0-9]+$/.test(row[at] ?? ""));
  const all = Array.from({ length: columns }, (_, at) => at);
  return [...all.filter((at) => !isId(at)), ...all.filter(isId)];
}

/** Says which columns stay: optional ones go, from the last, until the others have a readable width. */
function roomFor<T>(
  cells: readonly (readonly string[])[],
  columns: readonly Column<T>[],
  width: number,
): (at: number) => boolean {
  const needs = columns.map(({ title, isFlexible }, at) => {
    const widest = Math.max(title.length, ...cells.map((row) => widthOf(row[at] ?? "")));
    return GAP.length + (isFlexible === true ? Math.min(widest, READABLE) : widest);
  });
  const kept = new Set(needs.keys());
  for (const at of [...needs.keys()].toReversed()) {
    const total = [...kept].reduce((sum, each) => sum + (needs[each] ?? 0), 0);
    if (total > width && columns[at]?.isOptional === true) kept.delete(at);
  }
  return (at) => kept.has(at);
}

function layOutCells<T>(
  cells: readonly (readonly string[])[],
  columns: readonly Column<T>[],
  width: number,
  paint: Paint,
): string {
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cells.map((row) => widthOf(row[at] ?? ""))),
  );
  shrink(widths, columns, width);
  const lines = cells.map((row) => joinCells(row, widths));
  return [
    paint.dim(
      joinCells(
        columns.map((column) => column.title.toUpperCase()),
        widths,
      ),
    ),
    ...lines,
    "",
  ].join("\n");
}

/** Makes the widest columns narrower until the row fits: flexible ones first, then others, the last (an id) only at the end. */
function shrink<T>(widths: number[], columns: readonly Column<T>[], width: number): void {
  let over = widths.reduce((sum, item) => sum + item, 0) + GAP.length * (columns.length - 1) - width;
  const last = columns.length - 1;
  const rounds = [
    ...MIN_FLEXIBLE.map((min) => ({ min, isIn: (at: number) => columns[at]?.isFlexible === true })),
    ...MIN_OTHER.map((min) => ({ min, isIn: (at: number) => at !== last })),
    { min: 1, isIn: () => true },
  ];
  for (const { min, isIn } of rounds) {
    while (over > 0) {
      let widest = -1;
      widths.forEach((item, at) => {
        if (isIn(at) && item > min && (widest === -1 || item > (widths[widest] ?? 0))) widest = at;
      });
      if (widest === -1) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      over -= 1;
    }
  }
}

function joinCells(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((text, at) => {
      const width = widths[at] ?? 0;
      const shown = fit(text, width);
      return at === row.length - 1 ? shown : shown + " ".repeat(Math.max(0, width - widthOf(shown)));
    })
    .join(GAP)
    .trimEnd();
}

/** The text in at most `width` columns of a terminal, with `…` where something is missing. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let shown = "";
  let used = 0;
  for (const char of text) {
    const next = widthOf(char);
    if (used + next > width - 1) break;
    shown += char;
    used += next;
  }
  return `${shown}…`;
}
