import { headerLine, rowLine } from "#extract/markdown-table.ts";

/** The lines of tables, which may be nested. */
export class TableLines {
  /** Number of rows that each of them has so far. */
  private readonly rows: number[] = [];

  get isInTable(): boolean {
    return this.rows.length > 0;
  }

  begin(): void {
    this.rows.push(0);
  }

  end(): void {
    this.rows.pop();
  }

  /**
   * Returns the line of a row. After the first row, it also returns the line that makes that row the header. Returns nothing for a row without words.
   */
  row(cells: readonly string[]): string[] {
    if (cells.every((cell) => cell === "")) return [];
    const count = this.rows.pop();
    if (count !== undefined) this.rows.push(count + 1);
    const line = rowLine(cells);
    return (count ?? 0) === 0 ? [line, headerLine(cells.length)] : [line];
  }
}
