/**
 * A table of the records, described once: its columns in words that both databases have, and how a value of each is stored.
 * Queries stay Kysely's: `storage/in-workspace.ts` begins them. Source: docs/decisions/0083.
 */
import type { ColumnType } from "kysely";

/** How a column is stored, and what a record has in its place. Null is null in both. */
interface Column<Value = unknown, Stored = unknown, Hidden = boolean, HasDefault = boolean> {
  type: "text" | "integer" | "real" | "bytes";
  isNullable: boolean;
  isHidden: Hidden;
  hasDefault: HasDefault;
  default: Stored | undefined;
  read(stored: Stored): Value;
  write(value: Value): Stored;
}

type Columns = Readonly<Record<string, Column>>;
type Value<C extends Column> = ReturnType<C["read"]>;
type Stored<C extends Column> = ReturnType<C["write"]>;
type Shown<C extends Columns> = { [K in keyof C]: C[K]["isHidden"] extends true ? never : K }[keyof C];
/** Left out, the database fills them. */
type Filled<C extends Columns> = {
  [K in keyof C]: C[K] extends { hasDefault: true }
    ? K
    : [C[K]["isHidden"], null] extends [true, Stored<C[K]>]
      ? K
      : never;
}[keyof C];
/** A column of a table that was joined in from the left may be null in any row. */
type Read<C extends Column, Found> = null extends Found ? Value<C> | null : Value<C>;

export interface Table<Name extends string = string, Key extends string = string, C extends Columns = Columns> {
  name: Name;
  /** Of a workspace's table it begins with `workspaceId`, which need not be among the columns. */
  key: readonly Key[];
  columns: C;
  /** The columns of the table that are in a row, as the record has them. */
  read<Row extends object>(row: Row): { [K in keyof Row & Shown<C>]: Read<C[K], Row[K]> };
  /** Values of a record as they are stored; what is undefined is left out. */
  write<Some extends Change<C>>(values: Some): { [K in keyof Some & keyof C]: Stored<C[K]> };
}

type Change<C extends Columns> = { [K in keyof C]?: Value<C[K]> | undefined };

/** A record as it is read: everything but what is hidden. */
export type RecordOf<T extends Table> = FormsOf<T>["record"];

export interface FormsOf<T extends Table, C extends Columns = T["columns"]> {
  record: { [K in keyof C as K & Shown<C>]: Value<C[K]> };
  /** What a record is made of: hidden values too, and none that the database fills. */
  made: { [K in keyof C as Exclude<K, Filled<C>>]: Value<C[K]> } & { [K in Filled<C>]?: Value<C[K]> };
  /** Values of some columns, hidden ones too. */
  change: Change<C>;
  stored: { [K in keyof C]: Stored<C[K]> };
  /** As Kysely knows it. */
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
    // Both types say of each column what its own words give.
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

/** @throws Error for one that is not among them */
function check<Word extends string>(all: readonly Word[], stored: string): Word {
  const found = all.find((word) => word === stored);
  if (found === undefined) throw new Error(`"${stored}" is stored in place of one of ${all.join(", ")}.`);
  return found;
}

export const words = {
  text: plain<string>("text"),
  /** Of 53 bits. */
  integer: plain<number>("integer"),
  real: plain<number>("real"),
  bytes: plain<Uint8Array>("bytes"),
  /** Epoch milliseconds. */
  instant: plain<number>("integer"),
  flag: column("integer", (stored: number) => stored === 1, Number),
  /** Never filtered inside, and written by this column only, from this type. */
  json: <Value>() => column<Value, string>("text", (stored) => JSON.parse(stored) as Value, JSON.stringify),
  /** Separated by spaces. */
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
  /** In the table and in no record. */
  hidden: <V, S, D>(of: Column<V, S, boolean, D>): Column<V, S, true, D> => ({ ...of, isHidden: true }),
  /** Of the database's own; without a value it counts up. */
  withDefault: <V, S, H>(of: Column<V, S, H>, value?: S): Column<V, S, H, true> => {
    return { ...of, hasDefault: true, default: value };
  },
};
