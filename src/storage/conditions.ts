import { type JoinBuilder, type ExpressionBuilder, sql as raw, type SqlBool, type StringReference } from "kysely";
import type { Table } from "./tables/table.ts";

/** The condition that a column is null or compares with the value. */
export function nullOr<DB, Of extends keyof DB>(
  _: ExpressionBuilder<DB, Of>,
  column: StringReference<DB, Of>,
  operator: "<=" | ">",
  value: number,
) {
  return raw<SqlBool>`(${raw.ref(column)} is null or ${raw.ref(column)} ${raw.raw(operator)} ${value})`;
}

/** The condition that rows of both tables belong to one workspace and have equal values in these columns. */
export function same<One extends Table, Other extends Table>(
  one: One,
  other: Other,
  ...columns: (keyof One["columns"] & keyof Other["columns"] & string)[]
) {
  const pairs = ["workspaceId", ...columns].map(
    (column) => raw`${raw.ref(`${one.name}.${column}`)} = ${raw.ref(`${other.name}.${column}`)}`,
  );
  return raw<SqlBool>`${raw.join(pairs, raw` and `)}`;
}

/** Joins the rows for which `same` is true. */
export function onSame<One extends Table, Other extends Table>(...rows: Parameters<typeof same<One, Other>>) {
  return <DB, Of extends keyof DB>(join: JoinBuilder<DB, Of>) => join.on(same(...rows));
}
