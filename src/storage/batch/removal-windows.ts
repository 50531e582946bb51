import type { SqliteConnection } from "#storage/sqlite.ts";
import { GUARD_WINDOW_MS } from "#storage/item-batch.ts";

/** Removals are summed in quarters of an hour, so a connector has at most 97 rows per day. */
const BUCKET_MS = 900_000;

interface Of {
  workspaceId: string;
  connectorId: string;
}

/** Returns how many items were removed with the guard's permission in the last 24 hours. */
export function removedLately(connection: SqliteConnection, { workspaceId, connectorId }: Of, now: number): number {
  const [row] = connection.execute(
    "select coalesce(sum(removed), 0) as removed from removal_windows where workspaceId = ? and connectorId = ? and startsAt > ?",
    [workspaceId, connectorId, now - GUARD_WINDOW_MS],
  ).rows;
  return Number(row?.["removed"] ?? 0);
}

/** Adds `removed` to the current window, with the connector's size that the guard used. Deletes past windows. */
export function noteRemovals(
  connection: SqliteConnection,
  { workspaceId, connectorId }: Of,
  { now, highest }: { now: number; highest: number },
  removed: number,
): void {
  if (removed === 0) return;
  const startsAt = Math.floor(now / BUCKET_MS) * BUCKET_MS;
  connection.execute(
    `insert into removal_windows (workspaceId, connectorId, startsAt, highest, removed) values (?, ?, ?, ?, ?)
     on conflict (workspaceId, connectorId, startsAt)
     do update set highest = max(highest, excluded.highest), removed = removed + excluded.removed`,
    [workspaceId, connectorId, startsAt, highest, removed],
  );
  connection.execute("delete from removal_windows where workspaceId = ? and connectorId = ? and startsAt <= ?", [
    workspaceId,
    connectorId,
    now - GUARD_WINDOW_MS - BUCKET_MS,
  ]);
}
