import type { DatabaseSyncInstance } from "@photostructure/sqlite";

/** What rows of a table can be, and how they are found, whatever words created it. */
export interface TableSchema {
  /** In order, with SQLite's type of the column: it takes `bigint` and `integer` for the same. */
  columns: string[];
  key: string[];
  /** Row numbers: `rowid`, its `key`, `counted` where none is given twice, or `none`. */
  numbers: string;
  /** In the order in which SQLite prefers them; unique ones without their name. */
  indexes: string[];
  references: string[];
}

type Row = Record<string, string | number | null>;

/** The schema of a SQLite database, without Kysely's own tables. */
export function schemaOf(db: DatabaseSyncInstance): Record<string, TableSchema> {
  // The pragmas' rows hold texts and numbers.
  const all = (sql: string, ...values: string[]) => db.prepare(sql).all(...values) as Row[];
  const tables = all(
    `select m.name, m.sql, l.wr, l.strict from sqlite_master m join pragma_table_list l on l.name = m.name
     where m.type = 'table' and m.name not like 'sqlite%' and m.name not like 'kysely%' order by 1`,
  );
  return Object.fromEntries(tables.map((table) => [String(table["name"]), describe(all, table)]));
}

function describe(all: (sql: string, ...values: string[]) => Row[], { name, sql, wr, strict }: Row): TableSchema {
  const table = String(name);
  const columns = all("select * from pragma_table_xinfo(?) order by cid", table);
  const key = columns.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a["pk"]) - Number(b["pk"]));
  const text = String(sql);
  const isNumbered = key.length === 1 && String(key[0]?.["type"]).toLowerCase() === "integer" && wr === 0;
  if (strict !== 0 || /\bcheck\s*\(|\bcollate\b|\bgenerated\b/i.test(text)) throw new Error(`Not compared: ${text}`);
  return {
    columns: columns.map(columnOf),
    key: key.map((column) => String(column["name"])),
    numbers: /autoincrement/i.test(text) ? "counted" : wr === 1 ? "none" : isNumbered ? "key" : "rowid",
    indexes: all(
      `select l.name, l."unique", m.sql, (select json_group_array(name) from pragma_index_info(l.name)) as columns
       from pragma_index_list(?) l join sqlite_master m on m.name = l.name order by l.seq desc`,
      table,
    ).map((index) => indexOf(table, index)),
    references: all("select * from pragma_foreign_key_list(?) order by id, seq", table)
      .map((row) => `${row["from"]} → ${row["table"]}.${row["to"]}, on delete ${row["on_delete"]}`)
      .toSorted(),
  };
}

/** A column of the key is never null, though SQLite lets it be where nothing says so. */
function columnOf({ name, type, notnull, pk, dflt_value: value }: Row): string {
  const affinity = /int/i.test(String(type)) ? "integer" : String(type).toLowerCase();
  const isRequired = notnull === 1 || Number(pk) > 0;
  return `${name} ${affinity}${isRequired ? " not null" : ""}${value === null ? "" : ` default ${value}`}`;
}

function indexOf(table: string, { name, unique, sql, columns }: Row): string {
  const on =
    sql === null
      ? `${table} (${JSON.parse(String(columns)).join(", ")})`
      : String(sql)
          .replace(/^.*? on /is, "")
          .replaceAll('"', "")
          .replace(/\s+/g, " ")
          .trim();
  return unique === 1 ? `unique on ${on}` : `${name} on ${on}`;
}
