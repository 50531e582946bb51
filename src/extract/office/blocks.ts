import { append } from "#core/append.ts";
import type { Section } from "#core/sections.ts";
import { cleanText, oneLine, singleSpaced } from "#extract/clean.ts";
import { headerLine, rowLine } from "#extract/markdown-table.ts";
import type { TextBuilder } from "#extract/text-builder.ts";

export interface Paragraph {
  kind: "paragraph";
  /** The text, which may contain line breaks. */
  text: string;
  /** Heading level, 1–6. */
  heading?: number;
  /** `depth` counts from 0; `marker` is as a person sees it, `-` for bullets. */
  list?: { depth: number; marker: string };
}

export interface Table {
  kind: "table";
  rows: Cell[][];
}

export interface Cell {
  blocks: Block[];
  /** Number of columns that the cell covers. */
  span: number;
}

export type Block = Paragraph | Table;

/** The style of an item in a list without numbers. */
export const ITEM = { list: { depth: 0, marker: "-" } } as const satisfies Pick<Paragraph, "list">;

/**
 * Receives paragraphs and tables in the order of the document and writes them as Markdown. A table is collected until its end. It becomes rows of
 * Markdown only if its cells are short, so that a page whose layout is a table remains paragraphs.
 */
export class BlockWriter {
  private readonly out: TextBuilder;
  /** Where blocks outside the main text are collected: the open cells, and notes. */
  private readonly captures: Block[][] = [];
  private readonly tables: OpenTable[] = [];
  /** Number of code units that are collected and not yet written. */
  private gathered = 0;
  private previous: "none" | "list" | "other" = "none";
  private isTooMuch = false;

  private readonly hasTime: () => boolean;

  constructor(out: TextBuilder, hasTime: () => boolean) {
    this.out = out;
    this.hasTime = hasTime;
  }

  /** True when more text has no effect, or the time for the file is used up. */
  get isFull(): boolean {
    return this.out.isFull || this.isTooMuch || !this.hasTime();
  }

  /** True inside a table. */
  get isInCell(): boolean {
    return this.tables.length > 0;
  }

  paragraph(text: string, style: Pick<Paragraph, "heading" | "list"> = {}): void {
    if (/\S/u.test(text)) this.add({ kind: "paragraph", text, ...style });
  }

  /** Adds paragraphs under a separate heading, if there are any: for content that a document has besides its text. */
  appendix(title: string, texts: readonly string[], style: Pick<Paragraph, "list"> = {}): void {
    if (texts.length > 0) this.paragraph(title, { heading: 1 });
    for (const text of texts) this.paragraph(text, style);
  }

  /** Begins a section for something larger than a heading: a slide, a sheet. */
  section(name: string, level: number, place: Pick<Section, "kind" | "ref">): void {
    const words = oneLine(name, 1_000);
    if (words === "") return;
    this.separate("other");
    this.out.section(words, level, undefined, place);
    this.out.add(`${"#".repeat(level)} ${words}`);
  }

  add(block: Block): void {
    const capture = this.captures.at(-1);
    if (capture === undefined) this.write(block);
    else if (block.kind === "paragraph" && !this.isTooMuch) {
      capture.push(block);
      this.gathered += block.text.length + BLOCK_COST;
      this.isTooMuch = this.gathered > MAX_GATHERED;
    } else if (block.kind === "table") capture.push(block);
  }

  addAll(blocks: readonly Block[]): void {
    for (const block of blocks) this.add(block);
  }

  /** Collects everything that is added from now on, for `endCapture`. */
  beginCapture(): void {
    this.captures.push([]);
  }

  endCapture(): Block[] {
    return this.captures.pop() ?? [];
  }

  beginTable(): void {
    this.tables.push({ rows: [], row: undefined, cells: 0, span: 0, isWritten: false });
  }

  beginRow(): void {
    const table = this.tables.at(-1);
    if (table !== undefined) table.row = [];
  }

  beginCell(span = 1): void {
    const table = this.tables.at(-1);
    if (table === undefined || table.span > 0) return;
    table.row ??= [];
    table.span = Math.min(Math.max(1, span), MAX_SPAN);
    this.beginCapture();
  }

  /** Sets how many columns the open cell covers, for formats that state it inside the cell. */
  cellSpan(columns: number): void {
    const table = this.tables.at(-1);
    if (table !== undefined && table.span > 0) table.span = Math.min(Math.max(1, columns), MAX_SPAN);
  }

  endCell(): void {
    const table = this.tables.at(-1);
    if (table?.row === undefined || table.span === 0) return;
    const blocks = this.endCapture();
    this.gathered += CELL_COST;
    const last = table.row.length >= MAX_COLUMNS ? table.row.at(-1) : undefined;
    if (last === undefined) table.row.push({ blocks, span: table.span });
    else append(last.blocks, blocks);
    table.span = 0;
  }

  endRow(isKept = true): void {
    const table = this.tables.at(-1);
    if (table?.row === undefined) return;
    if (isKept && table.row.some((cell) => cell.blocks.length > 0)) table.rows.push(table.row);
    table.cells += table.row.length;
    table.row = undefined;
    // A table with a hundred thousand rows is written in batches, so that it isn't in memory as a whole.
    const isLong = table.cells > MAX_GATHERED_CELLS || this.gathered > FLUSH_GATHERED;
    if (isLong && this.captures.length === 0 && this.tables.length === 1) this.flush(table);
  }

  endTable(): void {
    const table = this.tables.pop();
    if (table === undefined) return;
    if (this.captures.length === 0 && this.tables.length === 0) this.flush(table);
    else if (table.rows.length > 0) this.add({ kind: "table", rows: table.rows });
  }

  end(): void {
    if (this.previous !== "none") this.out.add("\n");
  }

  private flush(table: OpenTable): void {
    if (table.rows.length > 0) this.writeTable(table.rows, table.isWritten);
    table.isWritten ||= table.rows.length > 0;
    table.rows = [];
    table.cells = 0;
    this.gathered = 0;
    this.isTooMuch = false;
  }

  private write(block: Block): void {
    if (block.kind === "table") return this.writeTable(block.rows, false);
    const lines = linesOf(block.text);
    if (lines.length === 0) return;
    if (block.heading !== undefined) return this.writeHeading(lines.join(" "), Math.min(6, Math.max(1, block.heading)));
    if (block.list === undefined) {
      this.separate("other");
      this.out.add(lines.join("\n"));
      return;
    }
    const { depth, marker } = block.list;
    const start = /^(?:-|\d{1,9}[.)])$/u.test(marker) ? `${marker} ` : `- ${marker} `;
    const indent = "   ".repeat(Math.min(Math.max(0, depth), MAX_DEPTH));
    this.separate("list");
    this.out.add(indent + start + lines.join(`\n${indent}${" ".repeat(Math.min(3, start.length))}`));
  }

  private writeHeading(text: string, level: number): void {
    const words = oneLine(text, 1_000);
    this.separate("other");
    this.out.section(words, level);
    // The whole text is written, even if a program has marked a whole page as a heading.
    this.out.add(`${"#".repeat(level)} ${text}`);
  }

  private writeTable(rows: readonly Cell[][], isContinued: boolean): void {
    const shortRows = shortRowsOf(rows);
    if (shortRows === undefined) {
      for (const row of rows) for (const cell of row) for (const block of cell.blocks) this.write(block);
      return;
    }
    const [header = [], ...body] = shortRows;
    if (isContinued) this.separate("list");
    else this.separate("other");
    const lines = shortRows.length === 0 ? [] : [rowLine(header), ...body.map(rowLine)];
    if (!isContinued) lines.splice(1, 0, headerLine(Math.max(1, header.length)));
    this.out.add(lines.join("\n"));
    this.previous = isContinued ? "list" : "other";
  }

  /** Writes the line feeds between the text before and the next text. */
  private separate(next: "list" | "other"): void {
    if (this.previous !== "none") this.out.add(next === "list" && this.previous === "list" ? "\n" : "\n\n");
    this.previous = next;
  }
}

/** Joins the text of blocks to one line, for cells, notes and comments. */
export function blocksText(blocks: readonly Block[]): string {
  const texts = blocks.map((block) =>
    block.kind === "paragraph"
      ? withMarker(block)
      : block.rows.map((row) => row.map((cell) => blocksText(cell.blocks)).join(" ")).join(" "),
  );
  return singleSpaced(texts.join(" ").replaceAll("\u00ad", ""));
}

/** Returns the text with its number in a list, if it has one. */
function withMarker({ text, list }: Paragraph): string {
  return list === undefined || list.marker === "-" ? text : `${list.marker} ${text}`;
}

/** Returns the author's description of a picture; undefined if it is empty or only the file name. */
export function altText(words: string | undefined): string | undefined {
  const line = oneLine(words ?? "", 500);
  return line === "" || /^\S*\.\w{3,4}$/u.test(line) ? undefined : `[image: ${line}]`;
}

interface OpenTable {
  rows: Cell[][];
  row: Cell[] | undefined;
  cells: number;
  /** Span of the open cell; 0 = no cell is open. */
  span: number;
  isWritten: boolean;
}

const MAX_DEPTH = 8;
const MAX_SPAN = 64;
/** Maximum number of cells in a row; later cells become text of the last one. Word allows 63 columns. */
const MAX_COLUMNS = 256;
/** A cell with more text than this is used for layout instead of data. */
const MAX_CELL_LENGTH = 2_000;
const MAX_GATHERED_CELLS = 20_000;
const FLUSH_GATHERED = 1_000_000;
/** Maximum length of text that may wait to be written: tables within tables, notes, shapes of a slide. The rest is dropped. */
const MAX_GATHERED = 20_000_000;
const BLOCK_COST = 40;
const CELL_COST = 40;

/** Returns the lines of a paragraph without white space at their ends, and without empty lines. */
function linesOf(text: string): string[] {
  // A soft hyphen only marks where a word may be divided.
  return cleanText(text.replaceAll("\u00ad", ""))
    .split("\n")
    .map((line) => line.replaceAll(/[ \t\u00a0]+/gu, " ").trim())
    .filter((line) => line !== "");
}

/** Returns the text of each cell if all texts are short and there are at least two columns. */
function shortRowsOf(rows: readonly Cell[][]): string[][] | undefined {
  const hasColumns = rows.some((row) => row.length > 1);
  if (!hasColumns) return undefined;
  const result: string[][] = [];
  for (const row of rows) {
    const texts: string[] = [];
    for (const { blocks, span } of row) {
      if (blocks.some((block) => block.kind === "table" || block.heading !== undefined)) return undefined;
      const text = blocksText(blocks);
      if (text.length > MAX_CELL_LENGTH) return undefined;
      texts.push(text);
      for (let column = 1; column < span; column++) texts.push("");
    }
    result.push(texts);
  }
  return result;
}
