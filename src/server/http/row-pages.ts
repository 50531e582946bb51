import type { Actor } from "#storage/access/actor.ts";
import { type CursorCodec, type CursorPosition, cutPage } from "./cursor.ts";

interface Paged {
  limit: number;
  cursor?: string | undefined;
}

/**
 * A page of rows in the order of creation; the actor must be allowed to see all of them.
 *
 * @throws ApiError `invalid_cursor`
 */
export function pageOf<Row extends { createdAt: number }>(
  { cursors }: { cursors: CursorCodec },
  { workspaceId, userId }: Actor,
  list: { route: string; args: Record<string, unknown>; rows: readonly Row[]; idOf(row: Row): string },
  { limit, cursor }: Paged,
): { page: Row[]; nextCursor: string | null } {
  const { route, args, rows, idOf } = list;
  const scope = { workspaceId, userId, route, args };
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const bodyOf = (row: Row) => idOf(row).slice(ID_PREFIX);
  const isBeyond = (row: Row, { value, id }: CursorPosition) =>
    row.createdAt > value || (row.createdAt === value && bodyOf(row) > id);
  return cutPage(
    after === undefined ? rows : rows.filter((row) => isBeyond(row, after)),
    limit,
    (row) => ({ flags: 0, value: row.createdAt, id: bodyOf(row) }),
    (position) => cursors.encode(scope, position),
  );
}

/** `con_`, `srv_`, `cnx_`. */
const ID_PREFIX = 4;
