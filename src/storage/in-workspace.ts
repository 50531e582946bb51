import {
  type DeleteQueryBuilder,
  type DeleteResult,
  type InsertQueryBuilder,
  type InsertResult,
  type Kysely,
  type OnConflictBuilder,
  type SelectQueryBuilder,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { SqlHandles } from "./handles.ts";
import type { Tables } from "./schema.ts";
import type { FormsOf, RecordOf, Table } from "./tables/table.ts";

/**
 * The rows of a table that belong to a workspace: builders of Kysely's that have the workspace already, and four queries.
 * What needs more than these is a query that begins with a builder.
 *
 * Each takes what columns are equal to, as it is stored, and gives or changes all rows of which all of it is so.
 */
export function inWorkspace<T extends Table<keyof Tables>>(
  { read, write }: Pick<SqlHandles, "read" | "write">,
  workspaceId: string,
  table: T,
) {
  type Name = T["name"];
  type Where = Partial<FormsOf<T>["stored"]>;

  const columnOf = (column: string) => `${table.name}.${column}`;
  /** One condition after the other: a single one of all of them takes Kysely 2 µs more. */
  const bounded = <Query extends { where(column: string, operator: "=" | "is", value: unknown): Query }>(
    query: Query,
    where: Where,
  ): Query => {
    let narrow = query.where(columnOf("workspaceId"), "=", workspaceId);
    for (const [column, value] of Object.entries(where)) {
      // Compared with undefined, nothing or everything would fit.
      if (value === undefined) throw new Error(`${columnOf(column)} can't be compared with undefined.`);
      narrow = narrow.where(columnOf(column), value === null ? "is" : "=", value);
    }
    return narrow;
  };
  const values = (record: FormsOf<T>["made"]) =>
    loose(write)
      .insertInto(table.name)
      .values({ ...table.write(record), workspaceId });
  const deleting = (where: Where) => bounded(loose(write).deleteFrom(table.name), where);

  return {
    select: (where: Where = {}) =>
      bounded(loose(read).selectFrom(table.name), where) as unknown as SelectQueryBuilder<Tables, Name, object>,

    updating: (where: Where) =>
      bounded(loose(write).updateTable(table.name), where) as unknown as UpdateQueryBuilder<
        Tables,
        Name,
        Name,
        UpdateResult
      >,

    deleting: (where: Where = {}) => deleting(where) as unknown as DeleteQueryBuilder<Tables, Name, DeleteResult>,

    inserting: (record: FormsOf<T>["made"]) =>
      values(record) as unknown as InsertQueryBuilder<Tables, Name, InsertResult>,

    async find(where: Where): Promise<RecordOf<T> | undefined> {
      const row = await bounded(loose(read).selectFrom(table.name).selectAll(), where).executeTakeFirst();
      return row && (table.read(row) as RecordOf<T>);
    },

    /** @param instead  what is set where its key has a row; nothing of it is changed by `{}` */
    async insert(record: FormsOf<T>["made"], instead?: FormsOf<T>["change"]): Promise<void> {
      const set = instead && table.write(instead);
      const isThere = (found: OnConflictBuilder<Rows, string>) =>
        set && Object.keys(set).length > 0 ? found.columns(table.key).doUpdateSet(set) : found.doNothing();
      await (set ? values(record).onConflict(isThere) : values(record)).execute();
    },

    /** @returns how many were changed */
    async update(where: Where, change: FormsOf<T>["change"]): Promise<number> {
      const set = table.write(change);
      if (Object.keys(set).length === 0) return 0;
      const { numUpdatedRows } = await bounded(loose(write).updateTable(table.name).set(set), where).executeTakeFirst();
      return Number(numUpdatedRows);
    },

    /** @returns how many were deleted */
    remove: async (where: Where): Promise<number> => Number((await deleting(where).executeTakeFirst()).numDeletedRows),
  };
}

type Rows = Record<string, Record<string, unknown>>;

/** Kysely can't follow a table's name that is a type parameter: what is built is told by the table's own types. */
function loose(db: Kysely<Tables>): Kysely<Rows> {
  return db as unknown as Kysely<Rows>;
}
