import { cleanText, singleSpaced } from "#extract/clean.ts";
import { headerLine, rowLine } from "#extract/markdown-table.ts";
import type { TextBuilder } from "#extract/text-builder.ts";

export interface SheetCell {
  /** Number of the column, from 0. */
  column: number;
  text: string;
}

export interface SheetRow {
  /** Number of the row, from 1. */
  number: number;
  cells: readonly SheetCell[];
}

const ROWS_PER_SECTION = 50;
/** Maximum number of title rows: rows at the top with only one cell are a title instead of a table. */
const MAX_TITLE_ROWS = 20;

/**
 * Writes sheets as Markdown tables. A sheet is a section with the range of its cells. A sheet with more than 50 rows has a subsection for each 50
 * rows, which begins with the header again, so that a passage in the middle shows its columns.
 */
export class SheetWriter {
  private readonly out: TextBuilder;
  private name = "";
  private rows: SheetRow[] = [];
  private header: SheetRow | undefined;
  private range: Range | undefined;
  private blocks = 0;
  private titleRows = 0;
  private sectionIndex: number | undefined;
  private isBegun = false;

  private readonly hasTime: () => boolean;

  constructor(out: TextBuilder, hasTime: () => boolean) {
    this.out = out;
    this.hasTime = hasTime;
  }

  /** True when more text has no effect, or the time for the file is used up. */
  get isFull(): boolean {
    return this.out.isFull || !this.hasTime();
  }

  beginSheet(name: string): void {
    this.name = name;
    this.rows = [];
    this.header = undefined;
    this.range = undefined;
    this.blocks = 0;
    this.titleRows = 0;
    this.sectionIndex = undefined;
    this.isBegun = false;
  }

  /** Adds a row without its empty cells. Rows must come in order. */
  row(row: SheetRow): void {
    if (row.cells.length === 0) return;
    if (this.rows.length >= ROWS_PER_SECTION) this.flush(true);
    this.rows.push(row);
  }

  endSheet(): void {
    if (this.rows.length > 0) this.flush(this.blocks > 0);
    const section = this.sectionIndex === undefined ? undefined : this.out.sections[this.sectionIndex];
    if (section !== undefined && this.range !== undefined) section.ref = rangeText(this.range);
  }

  /** Adds lines after the rows of the sheet: comments, links, text of its drawings. */
  lines(lines: readonly string[]): void {
    const clean = lines.map(cellText).filter((line) => line !== "");
    if (clean.length === 0) return;
    this.begin();
    this.out.add(`\n${clean.join("\n")}\n`);
  }

  private begin(): void {
    if (this.isBegun) return;
    this.isBegun = true;
    const words = cellText(this.name);
    if (this.out.offset > 0) this.out.add("\n");
    const count = this.out.sections.length;
    this.out.section(words, 1, undefined, { kind: "sheet" });
    if (this.out.sections.length > count) this.sectionIndex = count;
    this.out.add(`# ${words}\n`);
  }

  private flush(isPart: boolean): void {
    this.begin();
    this.out.add("\n");
    const range = rangeOf(this.rows);
    if (isPart) {
      const ref = rangeText(range);
      this.out.section(`${this.name} ${ref}`, 2, undefined, { kind: "sheet", ref });
    }
    this.range = this.range === undefined ? range : joined(this.range, range);
    this.blocks++;
    this.writeRows();
    this.rows = [];
  }

  private writeRows(): void {
    const rows = [...this.rows];
    while (this.header === undefined && rows[0]?.cells.length === 1 && this.titleRows < MAX_TITLE_ROWS) {
      this.titleRows++;
      this.out.add(`${cellText(rows.shift()?.cells[0]?.text ?? "")}\n`);
    }
    if (rows.length === 0) return;
    const isNew = this.header === undefined;
    if (isNew && this.titleRows > 0) this.out.add("\n");
    this.header ??= rows.shift();
    const all = this.header === undefined ? rows : [this.header, ...rows];
    // Columns that are empty in these rows are left out, because a cell far to the right would lengthen every row.
    const columns = [...new Set(all.flatMap(({ cells }) => cells.map(({ column }) => column)))].sort((a, b) => a - b);
    const [header = "", ...lines] = all.map((row) => lineOf(row, columns));
    this.out.add(`${[header, headerLine(columns.length), ...lines].join("\n")}\n`);
  }
}

/** Returns the letters of a column, counted from 0: A … Z, AA. */
export function columnLetters(column: number): string {
  let letters = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

/** Returns the column, counted from 0, of an address such as `AB12`; undefined when it has none. */
export function columnOf(address: string): number | undefined {
  const letters = /^\$?([A-Z]{1,3})/u.exec(address)?.[1];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

interface Range {
  firstRow: number;
  lastRow: number;
  firstColumn: number;
  lastColumn: number;
}

function rangeOf(rows: readonly SheetRow[]): Range {
  const range = {
    firstRow: rows[0]?.number ?? 1,
    lastRow: rows.at(-1)?.number ?? 1,
    firstColumn: Infinity,
    lastColumn: 0,
  };
  for (const { cells } of rows) {
    for (const { column } of cells) {
      range.firstColumn = Math.min(range.firstColumn, column);
      range.lastColumn = Math.max(range.lastColumn, column);
    }
  }
  return range;
}

function joined(a: Range, b: Range): Range {
  return {
    firstRow: Math.min(a.firstRow, b.firstRow),
    lastRow: Math.max(a.lastRow, b.lastRow),
    firstColumn: Math.min(a.firstColumn, b.firstColumn),
    lastColumn: Math.max(a.lastColumn, b.lastColumn),
  };
}

function rangeText({ firstRow, lastRow, firstColumn, lastColumn }: Range): string {
  return `${columnLetters(firstColumn)}${firstRow}:${columnLetters(lastColumn)}${lastRow}`;
}

function lineOf({ cells }: SheetRow, columns: readonly number[]): string {
  const byColumn = new Map(cells.map(({ column, text }) => [column, text]));
  return rowLine(columns.map((column) => cellText(byColumn.get(column) ?? "")));
}

function cellText(text: string): string {
  return singleSpaced(cleanText(text.replaceAll("\u00ad", "")));
}
