import { append } from "#core/append.ts";
import type { TextItem } from "./open.ts";

/**
 * Puts columns of running text in reading order, one column after the other, if a program wrote them line by line (the left line and then the right
 * one). Tables stay row by row: their cells begin with capitals or digits, while lines within a sentence don't.
 */
export function byColumns(items: readonly TextItem[]): readonly TextItem[] {
  const rows = rowsOf(items);
  if (!rows.some(({ pieces }) => pieces.length > 1)) return items;
  const ordered: TextItem[] = [];
  for (let at = 0; at < rows.length;) {
    const block = blockAt(rows, at);
    append(
      ordered,
      block.length > 1 && isRunningText(block) ? columnByColumn(block) : block.flatMap(({ items: own }) => own),
    );
    at += block.length;
  }
  return ordered;
}

/** Consecutive pieces at the same height. */
interface Row {
  items: TextItem[];
  /** The pieces between wide gaps; none if the row isn't simply from left to right. */
  pieces: Piece[];
}

interface Piece {
  items: TextItem[];
  left: number;
  right: number;
  text: string;
}

const MIN_ROWS = 4;
const MAX_COLUMNS = 4;
/** Minimum number of words in a column's lines, on average. */
const MIN_WORDS = 3;
/** Minimum share of the lines that begin within a sentence; German has many capitals. */
const MIN_GOING_ON = 0.35;

function rowsOf(items: readonly TextItem[]): Row[] {
  const rows: Row[] = [];
  let last: TextItem | undefined;
  for (const item of items) {
    const row = rows.at(-1);
    if (row !== undefined && last !== undefined && !last.hasEOL && Math.abs(yOf(item) - yOf(last)) < 1)
      row.items.push(item);
    else rows.push({ items: [item], pieces: [] });
    last = item;
  }
  for (const row of rows) row.pieces = piecesOf(row.items);
  return rows;
}

function piecesOf(items: readonly TextItem[]): Piece[] {
  const pieces: Piece[] = [];
  for (const item of items) {
    if (item.str.trim() === "") continue;
    const [x, slant] = [Number(item.transform[4]), Number(item.transform[1])];
    const piece = pieces.at(-1);
    if (item.dir !== "ltr" || slant !== 0 || (piece !== undefined && x < piece.left)) return [];
    if (piece === undefined || x - piece.right > item.height) {
      pieces.push({ items: [item], left: x, right: x + item.width, text: item.str });
      continue;
    }
    piece.items.push(item);
    piece.right = x + item.width;
    piece.text += ` ${item.str}`;
  }
  return pieces;
}

/** Returns the rows from `start` on that have the same columns, each below the one before it. */
function blockAt(rows: readonly Row[], start: number): Row[] {
  const [first] = rows.slice(start, start + 1);
  if (first === undefined) return [];
  const block = [first];
  const count = first.pieces.length;
  if (count < 2 || count > MAX_COLUMNS) return block;
  const lefts = first.pieces.map(({ left }) => left);
  for (let at = start + 1; at < rows.length; at++) {
    const row = rows[at];
    if (row === undefined || !isBelow(rows[at - 1], row) || !fits(row, lefts)) break;
    block.push(row);
  }
  return block;
}

/** Whether each piece begins where a column begins, at most some letters to the right of it, and ends before the next column. */
function fits({ pieces }: Row, lefts: readonly number[]): boolean {
  return pieces.length > 0 && pieces.every((piece) => columnOf(piece, lefts) >= 0);
}

function columnOf({ left, right, items }: Piece, lefts: readonly number[]): number {
  const height = items[0]?.height ?? 0;
  return lefts.findIndex((start, i) => Math.abs(left - start) < height * 3 && right < (lefts[i + 1] ?? Infinity));
}

function isBelow(above: Row | undefined, row: Row): boolean {
  const [last, next] = [above?.items[0], row.items[0]];
  if (last === undefined || next === undefined) return false;
  const distance = yOf(last) - yOf(next);
  return distance > 0 && distance < 2.2 * Math.max(1, next.height, last.height);
}

function isRunningText(block: readonly Row[]): boolean {
  const count = block[0]?.pieces.length ?? 0;
  const full = block.filter(({ pieces }) => pieces.length === count);
  if (full.length < MIN_ROWS) return false;
  return Array.from({ length: count }, (_, column) => full.map(({ pieces }) => pieces[column]?.text ?? "")).every(
    (lines) => {
      const words = lines.reduce((sum, line) => sum + line.trim().split(/\s+/u).length, 0);
      const goingOn = lines.slice(1).filter((line) => /^\P{L}?\p{Ll}/u.test(line)).length;
      return words >= MIN_WORDS * lines.length && goingOn >= MIN_GOING_ON * (lines.length - 1);
    },
  );
}

function columnByColumn(block: readonly Row[]): TextItem[] {
  const lefts = block[0]?.pieces.map(({ left }) => left) ?? [];
  const columns: TextItem[][] = lefts.map(() => []);
  for (const piece of block.flatMap(({ pieces }) => pieces)) {
    const line = piece.items.map((item, i, all) => ({ ...item, hasEOL: i === all.length - 1 }));
    append(columns[columnOf(piece, lefts)] ?? [], line);
  }
  return columns.flat();
}

function yOf(item: TextItem): number {
  return Number(item.transform[5]);
}
