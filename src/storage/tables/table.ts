/**
 * Describes a table once: its columns in types that both databases have, how their values are stored, its references to
 * other tables, and its indexes. `storage/database/base.ts` creates the tables. Queries are built with Kysely, starting
 * from `storage/in-workspace.ts`. Source: docs/decisions/0083, docs/decisions/0084.
 */
import type { ColumnType } from "kysely";

/** How a column is stored, and the form of its values in a record. Null is null in both forms. */
export interface Column<Value = unknown, Stored = unknown, Hidden = boolean, HasDefault = boolean> {
  type: "text" | "integer" | "rowNumber" | "real" | "bytes";
  isNullable: boolean;
  isHidden: Hidden;
  hasDefault: HasDefault;
  default: string | number | null | undefined;
  read(stored: Stored): Value;
  write(value: Value): Stored;
}

type Columns = Readonly<Record<string, Column>>;
type Value<C extends Column> = ReturnType<C["read"]>;
type Stored<C extends Column> = ReturnType<C["write"]>;
type Shown<C extends Columns> = { [K in keyof C]: C[K]["isHidden"] extends true ? never : K }[keyof C];
/** Columns that the database fills when an insert leaves them out. */
type Filled<C extends Columns> = {
  [K in keyof C]: C[K] extends { hasDefault: true }
    ? K
    : [C[K]["isHidden"], null] extends [true, Stored<C[K]>]
      ? K
      : never;
}[keyof C];
/** The value of a column as read. It may be null in any row when its table was left-joined. */
type Read<C extends Column, Found> = null extends Found ? Value<C> | null : Value<C>;

/** The keys, references and indexes of a table. */
interface Layout<Column extends string = string> {
  /** When a row of one of these tables is deleted, the rows here that have its key are deleted too. */
  deletedWith?: readonly Table[];
  /** A row of one of these tables can't be deleted while rows here have its key. */
  references?: readonly Table[];
  unique?: readonly (readonly Column[])[];
  indexes?: Readonly<Record<string, Index<Column>>>;
  /** For SQLite: rows are stored in the tree of the key and have no row number. */
  withoutRowid?: true;
}

/** The columns of an index, or the columns with the condition that its rows meet. */
type Index<Column extends string> = Indexed<Column> | { columns: Indexed<Column>; where?: string; isUnique?: true };
type Indexed<Column extends string> = readonly (Column | `lower(${Column})`)[];

export interface Table<Name extends string = string, Key extends string = string, C extends Columns = Columns> {
  name: Name;
  /** For a workspace's table, the key begins with `workspaceId`, which need not be among the columns. */
  key: readonly Key[];
  columns: C;
  layout: Layout;
  /** Converts the table's columns in a row to their form in the record. */
  read<Row extends object>(row: Row): { [K in keyof Row & Shown<C>]: Read<C[K], Row[K]> };
  /** Converts a record's values to their stored form. Undefined values are left out. */
  write<Some extends Change<C>>(values: Some): { [K in keyof Some & keyof C]: Stored<C[K]> };
}

type Change<C extends Columns> = { [K in keyof C]?: Value<C[K]> | undefined };

/** A record as it is read: every column that isn't hidden. */
export type RecordOf<T extends Table> = FormsOf<T>["record"];

export interface FormsOf<T extends Table, C extends Columns = T["columns"]> {
  record: { [K in keyof C as K & Shown<C>]: Value<C[K]> };
  /** Values for a new record, hidden columns included. Columns that the database fills are optional. */
  made: { [K in keyof C as Exclude<K, Filled<C>>]: Value<C[K]> } & { [K in Filled<C>]?: Value<C[K]> };
  /** Values of some columns, hidden columns included. */
  change: Change<C>;
  stored: { [K in keyof C]: Stored<C[K]> };
  /** The type of a row for Kysely. */
  row: ("workspaceId" extends T["key"][number] ? { workspaceId: string } : unknown) & {
    [K in keyof C]: K extends Filled<C>
      ? ColumnType<Stored<C[K]>, Stored<C[K]> | undefined, Stored<C[K]>>
      : Stored<C[K]>;
  };
}

export function table<Name extends string, const Key extends string, C extends Columns>(
  name: Name,
  key: readonly Key[],
  columns: C,
  layout: Layout<NoInfer<Extract<keyof C, string> | Key>> = {},
): Table<Name, Key, C> {
  const all = Object.entries(columns);
  const shown = all.filter(([, { isHidden }]) => !isHidden);
  const convert = (way: "read" | "write", wanted: typeof all, values: Readonly<Record<string, unknown>>) => {
    const converted: Record<string, unknown> = {};
    for (const [column, words] of wanted) {
      const value = values[column];
      if (value !== undefined) converted[column] = value === null ? null : words[way](value);
    }
    return converted;
  };
  return {
    name,
    key,
    columns,
    layout,
    // Both types follow from the definition of each column.
    read: (row) => convert("read", shown, row as Record<string, unknown>) as never,
    write: (values) => convert("write", all, values) as never,
  };
}

function column<Value, Stored = Value>(
  type: Column["type"],
  read: (stored: Stored) => Value,
  write: (value: Value) => Stored,
): Column<Value, Stored, false, false> {
  return { type, isNullable: false, isHidden: false, hasDefault: false, default: undefined, read, write };
}

function plain<Value>(type: Column["type"]) {
  return column<Value>(
    type,
    (stored) => stored,
    (value) => value,
  );
}

/** Checks that a stored word is known. @throws Error for an unknown word */
function check<Word extends string>(all: readonly Word[], stored: string): Word {
  const found = all.find((word) => word === stored);
  if (found === undefined) throw new Error(`"${stored}" is stored in place of one of ${all.join(", ")}.`);
  return found;
}

export const words = {
  text: plain<string>("text"),
  /** An integer of at most 53 bits. */
  integer: plain<number>("integer"),
  /** An integer that is the whole key. SQLite finds a row by it without an index. */
  rowNumber: plain<number>("rowNumber"),
  real: plain<number>("real"),
  bytes: plain<Uint8Array>("bytes"),
  /** Epoch milliseconds. */
  instant: plain<number>("integer"),
  flag: column("integer", (stored: number) => stored === 1, Number),
  /** JSON, whose contents no query filters. It is written only through this column, with this type. */
  json: <Value>() => column<Value, string>("text", (stored) => JSON.parse(stored) as Value, JSON.stringify),
  /** Words separated by spaces. */
  words: <Word extends string>(all: readonly Word[]) =>
    column<Word[], string>(
      "text",
      (stored) => stored.split(" ").flatMap((word) => (word === "" ? [] : check(all, word))),
      (list) => list.join(" "),
    ),
  oneOf: <const Word extends string>(all: readonly Word[]) =>
    column<Word>(
      "text",
      (stored) => check(all, stored),
      (word) => word,
    ),
  nullable: <V, S, H, D>(of: Column<V, S, H, D>): Column<V | null, S | null, H, D> => ({ ...of, isNullable: true }),
  /** A column that is stored in the table but left out of records. */
  hidden: <V, S, D>(of: Column<V, S, boolean, D>): Column<V, S, true, D> => ({ ...of, isHidden: true }),
  /** A column that the database fills with this value or, without a value, by counting up. */
  withDefault: <V, S, H>(of: Column<V, S, H>, value?: S & Column["default"]): Column<V, S, H, true> => {
    return { ...of, hasDefault: true, default: value };
  },
};
