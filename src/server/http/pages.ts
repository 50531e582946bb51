import { ID_PREFIXES, type IdKind, type PageQuery } from "#api/common.ts";
import { defined } from "#core/defined.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { PageRequest, RowsAfter } from "#storage/records/pages.ts";
import type { CursorCodec } from "./cursor.ts";

/** A list that is read in pages. */
export interface PagedList<Row> {
  /** The list to which a cursor belongs, with the arguments that filter the rows. */
  route: string;
  args?: Record<string, unknown>;
  /** The kind of the rows' ids. If absent, the value alone is a row's position. */
  kind?: IdKind;
  /** The position of a row. `value` is 0 to 2^48 − 1; times are epoch milliseconds. */
  positionOf(row: Row): RowsAfter;
  /** Returns the rows after a position: the size of the page, plus one. */
  read(wanted: PageRequest): Promise<readonly Row[]>;
}

/**
 * Reads a page of a list. The actor must be allowed to see all of the list's rows.
 *
 * @throws ApiError `invalid_cursor`
 */
export async function readPage<Row>(
  { cursors }: { cursors: CursorCodec },
  { workspaceId, userId }: Pick<Actor, "workspaceId" | "userId">,
  { route, args = {}, kind, positionOf, read }: PagedList<Row>,
  { limit, cursor }: PageQuery,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const scope = { workspaceId, userId, route, args };
  const prefix = kind === undefined ? "" : `${ID_PREFIXES[kind]}_`;
  const found = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const after = found && { value: found.value, id: `${prefix}${found.id}` };
  const rows = await read({ limit: limit + 1, ...defined({ after }) });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { page, nextCursor: null };
  const { value, id } = positionOf(last);
  return { page, nextCursor: cursors.encode(scope, { flags: 0, value, id: id.slice(prefix.length) }) };
}

/** Reads rows from a list that is completely in memory, in the order of their positions. */
export function inMemory<Row>(
  rows: readonly Row[],
  positionOf: (row: Row) => RowsAfter,
): Pick<PagedList<Row>, "positionOf" | "read"> {
  const isBeyond = (row: Row, after: RowsAfter) => {
    const { value, id } = positionOf(row);
    return value > after.value || (value === after.value && id > after.id);
  };
  return {
    positionOf,
    read: async ({ after }) => (after === undefined ? rows : rows.filter((row) => isBeyond(row, after))),
  };
}
