import { sql as raw, type SelectQueryBuilder } from "kysely";

/** The row after which a page starts: the value of the list's order, then the id. */
export interface RowsAfter {
  value: number;
  id: string;
}

export interface PageRequest {
  limit: number;
  after?: RowsAfter | undefined;
}

/**
 * Returns a page of a list in the order of two columns: a number, then an id that distinguishes rows with the same
 * number.
 */
export function pageOf<DB, Tables extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  columns: readonly [string, string],
  order: "asc" | "desc",
  { limit, after }: PageRequest,
): SelectQueryBuilder<DB, Tables, Row> {
  const [number, id] = [raw.ref(columns[0]), raw.ref(columns[1])];
  const page = query.orderBy(number, order).orderBy(id, order).limit(limit);
  if (!after) return page;
  const beyond = raw`(${after.value}, ${after.id})`;
  return page.where(
    order === "asc" ? raw<boolean>`(${number}, ${id}) > ${beyond}` : raw<boolean>`(${number}, ${id}) < ${beyond}`,
  );
}
