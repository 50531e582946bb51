import { type Selectable, type SelectQueryBuilder, sql as raw } from "kysely";
import { append } from "#core/append.ts";
import { inChunks } from "#core/in-chunks.ts";
import type { Tables } from "./schema.ts";
import type { RecordOf, Table } from "./tables/table.ts";

type Row<T extends Table<keyof Tables>> = Selectable<Tables[T["name"]]>;

/** Returns the records in whole rows of a table. */
export async function recordsOf<T extends Table<keyof Tables>>(
  { read }: T,
  query: { execute(): Promise<Row<T>[]> },
): Promise<RecordOf<T>[]> {
  return (await query.execute()).map((row: object) => read(row) as RecordOf<T>);
}

/** Returns the record in the first row. */
export async function firstOf<T extends Table<keyof Tables>>(
  { read }: T,
  query: { executeTakeFirst(): Promise<Row<T> | undefined> },
): Promise<RecordOf<T> | undefined> {
  const row: object | undefined = await query.executeTakeFirst();
  return row && (read(row) as RecordOf<T>);
}

/** Returns how many rows a query has. */
export async function countOf<DB, Of extends keyof DB>(query: SelectQueryBuilder<DB, Of, object>): Promise<number> {
  const counting = query.select(raw<number>`count(*)`.as("count")).$castTo<{ count: number }>();
  const { count } = await counting.executeTakeFirstOrThrow();
  return Number(count);
}

interface Changes {
  numInsertedOrUpdatedRows?: bigint | undefined;
  numUpdatedRows?: bigint;
  numDeletedRows?: bigint;
}

/** Returns how many rows a statement inserted, updated or deleted. */
export async function changesOf(statement: { executeTakeFirst(): Promise<Changes | undefined> }): Promise<number> {
  const { numInsertedOrUpdatedRows, numUpdatedRows, numDeletedRows } = (await statement.executeTakeFirst()) ?? {};
  return Number(numInsertedOrUpdatedRows ?? numUpdatedRows ?? numDeletedRows ?? 0);
}

/** Parameters per statement, which is below SQLite's limit. */
export const CHUNK = 512;

/** Returns the rows that `read` returns for the values. `read` gets some values at a time. */
export async function readInChunks<Value, Found>(
  values: readonly Value[],
  read: (chunk: Value[]) => Promise<Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const chunk of inChunks(values, CHUNK)) append(found, await read(chunk));
  return found;
}
