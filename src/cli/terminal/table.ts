/** Formats rows and columns: for people to the width of their terminal, for programs with tabs. */
import { cleanLine } from "#api/clean.ts";
import { redact } from "#cli/host/failure.ts";
import type { Paint } from "./paint.ts";
import { widthOf } from "./width.ts";

/** One column of a list. */
export interface Column<T> {
  title: string;
  value(row: T): unknown;
  /** The value for people on a terminal; for programs, `value` is used. */
  shown?(row: T): unknown;
  /** The cell for programs, with colours if they are forced on a pipe. */
  tinted?(row: T, paint: Paint): string;
  /** Whether the column shrinks first when the terminal is narrow. */
  isFlexible?: boolean;
  /**
   * Whether the column is omitted if it is empty, or if the terminal is too narrow for the other columns to be readable. On a pipe it is always
   * present.
   */
  isOptional?: boolean;
}

/** The columns of a list by title: a field of a row, a value of a row, or more about the column. */
export type Columns<T> = Readonly<Record<string, Value<T> | ColumnData<T>>>;

type Value<T> = (keyof T & string) | ((row: T) => unknown);

interface ColumnData<T> extends Omit<Column<T>, "title" | "value"> {
  value: Value<T>;
}

/** A column that shrinks first when the terminal is narrow. */
export function flexible<T>(value: Value<T>): ColumnData<T> {
  return { value, isFlexible: true };
}

/** A column that is omitted if it is empty or the terminal too narrow. */
export function optional<T>(column: Value<T> | ColumnData<T>): ColumnData<T> {
  return { ...toData(column), isOptional: true };
}

/** A field in another form: `formatted(day, "createdAt")`. */
export function formatted<T, K extends keyof T>(format: (value: T[K]) => unknown, field: K): (row: T) => unknown {
  return (row) => format(row[field]);
}

/** A time: programs get the year too. */
export function time<T>(at: (row: T) => string | null | undefined): ColumnData<T> {
  return { value: (row) => minute(at(row)), shown: (row) => shortTime(at(row)) };
}

/** Returns the columns as a list for the layout. */
export function toColumns<T>(columns: Columns<T>): Column<T>[] {
  return Object.entries(columns).map(([title, column]) => {
    const { value, ...how } = toData(column);
    return { title, value: typeof value === "function" ? value : (row) => row[value], ...how };
  });
}

function toData<T>(column: Value<T> | ColumnData<T>): ColumnData<T> {
  return typeof column === "object" ? column : { value: column };
}

/** Maximum length of a cell. */
export const MAX_CELL = 4_000;
const GAP = "  ";
/** How narrow columns may become, step by step, before the next kind of column has to shrink. */
const MIN_FLEXIBLE = [12, 6];
const READABLE = 24;
const MIN_OTHER = [10, 6, 3];

/** Lays out the rows for a terminal: a header, aligned columns, ids last, nothing wider than `width`. */
export function layOut<T>(rows: readonly T[], columns: readonly Column<T>[], width: number, paint: Paint): string {
  const shownRows = rows.map((row) => columns.map((column) => cell((column.shown ?? column.value)(row))));
  const order = idsLast(shownRows, columns.length).filter(roomFor(shownRows, columns, width));
  return layOutCells(
    shownRows.map((row) => order.map((at) => row[at] ?? "")),
    order.flatMap((at) => columns[at] ?? []),
    width,
    paint,
  );
}

/** Returns the columns in the order for a terminal: ids are last, because they are for copying and people read the others first. */
function idsLast(cells: readonly (readonly string[])[], columns: number): number[] {
  const isIds = (at: number): boolean => cells.every((row) => isId(row[at] ?? ""));
  const all = Array.from({ length: columns }, (_, at) => at);
  return [...all.filter((at) => !isIds(at)), ...all.filter(isIds)];
}

/**
 * Decides which columns are shown. Empty optional columns are dropped, and then further optional ones, starting with the last, until the others have
 * a readable width.
 */
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
    const isEmpty = cells.every((row) => (row[at] ?? "") === "");
    if ((isEmpty || total > width) && columns[at]?.isOptional === true) kept.delete(at);
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
  const lines = cells.map((row) => joinCells(row, widths, paint));
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

/** Shrinks the widest columns until the row fits: flexible columns first, then others; the last column (an id) only at the end. */
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

function joinCells(row: readonly string[], widths: readonly number[], paint?: Paint): string {
  return row
    .map((text, at) => {
      const width = widths[at] ?? 0;
      const shown = fit(text, width);
      const space = at === row.length - 1 ? "" : " ".repeat(Math.max(0, width - widthOf(shown)));
      return (paint !== undefined && isId(text) ? paint.dim(shown) : shown) + space;
    })
    .join(GAP)
    .trimEnd();
}

function isId(text: string): boolean {
  return /^[a-z]{3}_[a-z0-9]+$/.test(text);
}

/** One row for a program: every column, separated by tabs; ids are dimmed if colours are forced. */
export function tabbed<T>(row: T, columns: readonly Column<T>[], paint: Paint): string {
  return columns
    .map((column) => {
      if (paint.isColorSupported && column.tinted !== undefined) return column.tinted(row, paint);
      const text = cell(column.value(row));
      return isId(text) ? paint.dim(text) : text;
    })
    .join("\t");
}

/** The day of a time: 2026-11-22; "" if there is none. */
export function day(at: string | null | undefined): string {
  return at?.slice(0, 10) ?? "";
}

/** Formats the day of a time; "never" if there is none. */
export function dayOrNever(at: string | null | undefined): string {
  return day(at) || "never";
}

/** A time to the minute: 2026-11-22 04:05, in UTC; "" if there is none. */
export function minute(at: string | null | undefined): string {
  return at?.slice(0, 16).replace("T", " ") ?? "";
}

/** A time without its year, which is obvious in lists: 11-22 04:05, in UTC. */
export function shortTime(at: string | null | undefined): string {
  return at?.slice(5, 16).replace("T", " ") ?? "";
}

/** A value in one line, cleaned and without secrets. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(cell).join(", ");
  return redact(cleanLine(typeof value === "object" ? JSON.stringify(value) : String(value), MAX_CELL));
}

/** Cuts the text to at most `width` columns of a terminal, with `…` where something is missing. */
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
