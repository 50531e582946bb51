import type { SqlRow, SqlValue } from "#storage/sqlite.ts";

/** Runs a statement whose first value is the workspace. */
export type Query = (sql: string, ...values: SqlValue[]) => SqlRow[];

/**
 * Yields rows page by page, in the order of some columns.
 *
 * @param sql  takes the values of these columns in the last row, and the limit of rows of a page
 * @param start  the values of these columns before the first row
 */
export function* readPages(all: Query, sql: string, start: SqlRow, page: number): Generator<SqlRow[], void> {
  for (let after = start; ;) {
    const rows = all(sql, ...Object.keys(start).map((column) => after[column] ?? null), page);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last;
  }
}
