import { columnOf } from "./sheet-writer.ts";
import { isOn, type Attributes } from "./xml.ts";

/** A range of a sheet's rows, numbered from 1; both ends are included. */
export interface RowRange {
  first: number;
  last: number;
}

/**
 * The rows and columns of a sheet that its author has hidden. Rows and columns that only a view hides aren't included: filtered rows, and collapsed
 * groups, which anyone can open with one click. Also counts the rows and columns whose words are left out.
 */
export class HiddenCells {
  /** Whether the sheet declares, before its rows, that a filter is active. */
  isFiltered = false;
  private readonly findFiltered: (isFiltered: boolean) => readonly RowRange[];
  private filtered: readonly RowRange[] | undefined;
  private readonly rows = new Set<number>();
  private readonly columns: RowRange[] = [];
  private readonly lostRows = new Set<number>();
  private readonly lostColumns = new Set<number>();

  /** @param findFiltered returns the filtered rows; called at the first hidden row, because filters come after the rows */
  constructor(findFiltered: (isFiltered: boolean) => readonly RowRange[] = () => []) {
    this.findFiltered = findFiltered;
  }

  /** Adds the number of rows and columns with words that were left out. */
  addTo(hidden: { rows: number; columns: number }): void {
    hidden.rows += this.lostRows.size;
    hidden.columns += this.lostColumns.size;
  }

  /** Adds a row as the sheet declares it. */
  addRow(number: number, { hidden, outlineLevel }: Attributes): void {
    if (hidden === undefined || !isOn(hidden) || Number(outlineLevel ?? "0") > 0) return;
    this.filtered ??= this.findFiltered(this.isFiltered);
    if (!this.filtered.some(({ first, last }) => number >= first && number <= last)) this.hideRow(number);
  }

  /** Adds columns as the sheet declares them, numbered from 1. */
  addColumns({ min, max, hidden, outlineLevel }: Attributes): void {
    if (hidden === undefined || !isOn(hidden) || Number(outlineLevel ?? "0") > 0) return;
    this.hideColumns(Number(min) - 1, Number(max) - 1);
  }

  hideRow(number: number): void {
    this.rows.add(number);
  }

  /**
   * Hides columns. @param first, last from 0
   * @param first, last from 0
   */
  hideColumns(first: number, last: number): void {
    if (this.columns.length < MAX_RANGES) this.columns.push({ first, last });
  }

  /** Returns true for a hidden cell, whose words aren't read, and counts its row or column. */
  leavesOut(row: number, column: number): boolean {
    if (this.rows.size === 0 && this.columns.length === 0) return false;
    const isInRow = this.rows.has(row);
    const isInColumn = this.columns.some(({ first, last }) => column >= first && column <= last);
    if (isInRow) this.lostRows.add(row);
    if (isInColumn) this.lostColumns.add(column);
    return isInRow || isInColumn;
  }

  /** Like `leavesOut`, for an address such as `B3` or the first cell of `B3:C4`. */
  leavesOutAddress(address: string): boolean {
    const column = columnOf(address);
    const row = /\d+/u.exec(address)?.[0];
    return column !== undefined && row !== undefined && this.leavesOut(Number(row), column);
  }
}

/** Returns the rows of an address such as `$A$1:$C$9`, with or without the name of a sheet, below its first row, which is the filter's header. */
export function filteredRows(address: string): RowRange[] {
  const [, first, last] = /\$?[A-Z]{1,3}\$?(\d{1,7}):\$?[A-Z]{1,3}\$?(\d{1,7})$/u.exec(address.trim()) ?? [];
  return first === undefined || last === undefined ? [] : [{ first: Number(first) + 1, last: Number(last) }];
}

/** Returns the numbers of omitted sheets, rows and columns as properties. */
export function hiddenProperties(hidden: { sheets: number; rows: number; columns: number }): Record<string, string> {
  const named = { hiddenSheets: hidden.sheets, hiddenRows: hidden.rows, hiddenColumns: hidden.columns };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, count]): [string, string][] => (count > 0 ? [[name, String(count)]] : [])),
  );
}

const MAX_RANGES = 1_000;
