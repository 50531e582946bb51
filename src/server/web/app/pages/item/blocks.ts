/**
 * Paragraphs and tables of a document, in the form that extraction stores: rows as `| a | b |`, a line of `---` below
 * the header.
 */

export interface TextBlock {
  type: "text";
  text: string;
}

/** The name of a sheet, shown above its table. */
export interface HeadingBlock {
  type: "heading";
  text: string;
}

export interface TableBlock {
  type: "table";
  head: string[];
  rows: string[][];
  /** Whether each column contains numbers. */
  numeric: boolean[];
}

export type Block = TextBlock | HeadingBlock | TableBlock;

/**
 * Splits a text into blocks. A long table repeats its header every 50 rows; the parts are joined to one table again. If
 * `isWhole` is false, more text follows, and a line that may be cut off at the end isn't used yet.
 */
export function blocksOf(text: string, isWhole: boolean): Block[] {
  const lines = text.split("\n");
  if (!isWhole && lines.length > 1) lines.pop();
  const blocks: Block[] = [];
  let prose: string[] = [];
  const endProse = () => {
    const joined = prose.join("\n").replace(/^\n+/, "").trimEnd();
    if (joined !== "") blocks.push({ type: "text", text: joined });
    prose = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (!isRow(line)) {
      prose.push(line);
      continue;
    }
    const name = /^# (.+)$/.exec(prose.findLast((one) => one.trim() !== "") ?? "")?.[1];
    if (name !== undefined) prose.length = prose.findLastIndex((one) => one.trim() !== "");
    endProse();
    if (name !== undefined) blocks.push({ type: "heading", text: name });
    const head = cellsOf(line);
    const hasHead = RULE.test(lines[at + 1] ?? "");
    const rows: string[][] = hasHead ? [] : [head];
    for (at += hasHead ? 2 : 1; isRow(lines[at] ?? ""); at++) rows.push(cellsOf(lines[at] ?? ""));
    at--;
    addTable(blocks, hasHead ? head : [], rows);
  }
  endProse();
  for (const block of blocks) if (block.type === "table") block.numeric = numericColumns(block);
  return blocks;
}

function addTable(blocks: Block[], head: string[], rows: string[][]): void {
  const before = blocks.at(-1);
  const goesOn = before?.type === "table" && head.length > 0 && before.head.join("\n") === head.join("\n");
  if (goesOn) before.rows.push(...rows);
  else blocks.push({ type: "table", head, rows, numeric: [] });
}

const RULE = /^\|(?:\s*:?-{3,}:?\s*\|)+\s*$/;

function isRow(line: string): boolean {
  return line.startsWith("|") && line.length > 1 && line.trimEnd().endsWith("|");
}

/** The maximum number of columns. No readable sheet has more. */
const MOST_COLUMNS = 1_000;

/** Splits a row into cells. `\|` is a pipe inside a cell. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  const inside = line.trimEnd().slice(1, -1);
  for (let at = 0; at < inside.length && cells.length < MOST_COLUMNS; at++) {
    const unit = inside[at] ?? "";
    if (unit === "\\" && inside[at + 1] === "|") {
      cell += "|";
      at++;
    } else if (unit === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += unit;
  }
  cells.push(cell.trim());
  return cells;
}

/** The number of rows that are checked. */
const SAMPLE = 50;
const NUMBER = /^[-+(]?[€$£]?\s?\d[\d.,'\u00a0\u202f ]*\)?\s?[%€$£]?$/;

function numericColumns({ head, rows }: TableBlock): boolean[] {
  const sample = rows.slice(0, SAMPLE);
  const width = Math.max(head.length, ...sample.map((row) => row.length));
  return Array.from({ length: width }, (_, column) => {
    const filled = sample.map((row) => row[column] ?? "").filter((cell) => cell !== "");
    return filled.length > 0 && filled.every((cell) => NUMBER.test(cell));
  });
}
