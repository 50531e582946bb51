/**
 * Creates the tables of a new database from their descriptions, in SQLite or PostgreSQL. `storage/database/migrate.ts`
 * brings a database of an earlier program to the same tables. Source: docs/decisions/0084.
 */
import {
  type ColumnDataType,
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  sql,
} from "kysely";
import { INDEX_TABLES } from "#storage/index/schema.ts";
import { TABLES } from "#storage/schema.ts";
import { type Column, type Table, words } from "#storage/tables/table.ts";

export type DatabaseKind = "sqlite" | "postgres";

const TYPES: Readonly<Record<DatabaseKind, Readonly<Record<Column["type"], ColumnDataType | RawBuilder<unknown>>>>> = {
  // SQLite treats only a column of exactly this type as the row number.
  sqlite: { text: "text", integer: "bigint", rowNumber: "integer", real: "real", bytes: "blob" },
  // Texts are compared byte by byte, as in SQLite.
  postgres: {
    text: sql`text collate "C"`,
    integer: "bigint",
    rowNumber: "bigint",
    real: "double precision",
    bytes: "bytea",
  },
};

/** Creates all tables, and the rows that they must have from the start. */
export async function createBase(db: Kysely<unknown>, kind: DatabaseKind = "sqlite"): Promise<void> {
  for (const statement of tableStatements(db, kind, [...TABLES, ...INDEX_TABLES])) await statement.execute();
  await sql`insert into access_numbers ("nextPrincipalNo") values (1)`.execute(db);
}

/** Returns the statements that create these tables and their indexes, in order. */
export function tableStatements(db: Kysely<unknown>, kind: DatabaseKind, tables: readonly Table[]) {
  return tables.flatMap((table) => [createTable(db, kind, table), ...createIndexes(db, table)]);
}

function createTable(db: Kysely<unknown>, kind: DatabaseKind, { name, key, columns, layout }: Table) {
  const { unique = [], deletedWith = [], references = [], withoutRowid } = layout;
  let made: CreateTableBuilder<string, string> = db.schema.createTable(name);
  const all = { ...(key.includes("workspaceId") && { workspaceId: words.text }), ...columns };
  for (const [column, described] of Object.entries(all)) {
    made = made.addColumn(column, TYPES[kind][described.type], (builder) => define(builder, kind, described));
  }
  const isNumbered = key.some((column) => columns[column]?.type === "rowNumber");
  if (key.length > 0 && !isNumbered) made = made.addPrimaryKeyConstraint(`${name}_key`, [...key]);
  for (const some of unique) made = made.addUniqueConstraint(`${name}_${some.join("_")}`, [...some]);
  for (const other of [...deletedWith, ...references]) {
    made = made.addForeignKeyConstraint(
      `${name}_${other.name}`,
      [...other.key],
      other.name,
      [...other.key],
      (builder) => (deletedWith.includes(other) ? builder.onDelete("cascade") : builder),
    );
  }
  return withoutRowid && kind === "sqlite" ? made.modifyEnd(sql`without rowid`) : made;
}

function define(builder: ColumnDefinitionBuilder, kind: DatabaseKind, column: Column): ColumnDefinitionBuilder {
  const { type, isNullable, hasDefault, default: value } = column;
  if (type === "rowNumber") {
    const made = builder.primaryKey();
    if (!hasDefault) return made;
    return kind === "sqlite" ? made.autoIncrement() : made.generatedByDefaultAsIdentity();
  }
  const made = isNullable ? builder : builder.notNull();
  return value === undefined || value === null ? made : made.defaultTo(value);
}

function createIndexes(db: Kysely<unknown>, { name, layout }: Table) {
  return Object.entries(layout.indexes ?? {}).map(([index, described]) => {
    const { columns, where, isUnique = false } = "columns" in described ? described : { columns: described };
    const made = db.schema
      .createIndex(index)
      .on(name)
      .expression(sql.join(columns.map(toExpression)));
    const bounded = where === undefined ? made : made.where(sql.raw<boolean>(where));
    return isUnique ? bounded.unique() : bounded;
  });
}

function toExpression(column: string) {
  const lowered = /^lower\((\w+)\)$/.exec(column)?.[1];
  return lowered === undefined ? sql.ref(column) : sql`lower(${sql.ref(lowered)})`;
}
