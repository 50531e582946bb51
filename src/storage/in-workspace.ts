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
import { changesOf } from "./results.ts";
import type { Tables } from "./schema.ts";
import type { FormsOf, RecordOf, Table } from "./tables/table.ts";

/**
 * The rows of a table in one workspace: Kysely builders that are already bound to the workspace, and four queries.
 * Anything more begins with a builder.
 *
 * Each query takes column values in their stored form, and returns or changes all rows that match every one of them.
 */
export function inWorkspace<T extends Table<keyof Tables>>(sql: Handles, workspaceId: string, table: T) {
  return queriesOf(sql, table, { workspaceId });
}

/**
 * Like `inWorkspace`, for a table that belongs to no workspace, or for the rows of all workspaces. In the latter case a
 * comment with `Raw:` says why.
 */
export function acrossWorkspaces<T extends Table<keyof Tables>>(sql: Handles, table: T) {
  return queriesOf(sql, table, {});
}

type Handles = Pick<SqlHandles, "read"> & Partial<Pick<SqlHandles, "write">>;

function queriesOf<T extends Table<keyof Tables>>(
  { read, write = read }: Handles,
  table: T,
  bounds: { workspaceId?: string },
) {
  type Name = T["name"];
  type Where = Partial<FormsOf<T>["stored"]>;

  const columnOf = (column: string) => `${table.name}.${column}`;
  /** Adds one `where` per condition, because combining them into one costs Kysely 2 µs more. */
  const bounded = <Query extends { where(column: string, operator: "=" | "is", value: unknown): Query }>(
    query: Query,
    where: Where,
  ): Query => {
    let narrow = query;
    for (const [column, value] of [...Object.entries(bounds), ...Object.entries(where)]) {
      // A comparison with undefined would match nothing or everything.
      if (value === undefined) throw new Error(`${columnOf(column)} can't be compared with undefined.`);
      narrow = narrow.where(columnOf(column), value === null ? "is" : "=", value);
    }
    return narrow;
  };
  const values = (record: FormsOf<T>["made"]) =>
    loose(write)
      .insertInto(table.name)
      .values({ ...table.write(record), ...bounds });
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

    /**
     * Inserts a row.
     *
     * @param instead  values to set if a row with the same key exists; `{}` changes nothing
     * @returns how many rows were inserted or changed
     */
    async insert(record: FormsOf<T>["made"], instead?: FormsOf<T>["change"]): Promise<number> {
      const set = instead && table.write(instead);
      const isThere = (found: OnConflictBuilder<Rows, string>) =>
        set && Object.keys(set).length > 0 ? found.columns(table.key).doUpdateSet(set) : found.doNothing();
      return changesOf(set ? values(record).onConflict(isThere) : values(record));
    },

    /** Changes the matching rows. @returns how many were changed */
    async update(where: Where, change: FormsOf<T>["change"]): Promise<number> {
      const set = table.write(change);
      if (Object.keys(set).length === 0) return 0;
      return changesOf(bounded(loose(write).updateTable(table.name).set(set), where));
    },

    /** Deletes the matching rows. @returns how many were deleted */
    remove: async (where: Where): Promise<number> => changesOf(deleting(where)),
  };
}

type Rows = Record<string, Record<string, unknown>>;

/**
 * Kysely can't infer types from a table name that is a type parameter, so the table's own types describe the result.
 */
function loose(db: Kysely<Tables>): Kysely<Rows> {
  return db as unknown as Kysely<Rows>;
}
