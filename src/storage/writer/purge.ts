import type { SqliteConnection, SqlRow } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import type { SearchIndexWriter } from "#storage/search-index.ts";

export interface PurgeArgs {
  workspaceId: string;
  connectorId?: string;
  removedBefore?: number;
  limit: number;
}

/**
 * The procedure `purgeItems`, which permanently deletes items with all their data, and entities that no item shows any
 * more. Returns how many items were deleted.
 */
export function makePurgeItems(connection: SqliteConnection, index: SearchIndexWriter) {
  return ({ workspaceId, connectorId, removedBefore, limit }: PurgeArgs): number =>
    inTransaction(connection.raw, () => {
      const which = connectorId === undefined ? "removedAt < ?" : "connectorId = ?";
      const { rows } = connection.execute(`select kbId from items where workspaceId = ? and ${which} limit ?`, [
        workspaceId,
        connectorId ?? removedBefore ?? 0,
        limit,
      ]);
      const kbIds = rows.map((row: SqlRow) => String(row["kbId"]));
      index.apply(
        workspaceId,
        kbIds.map((kbId) => ({ type: "remove", kbId })),
      );
      for (const kbId of kbIds) deleteItem(connection, workspaceId, kbId);
      return kbIds.length;
    });
}

function deleteItem(connection: SqliteConnection, workspaceId: string, kbId: string): void {
  const entities = connection.execute("select entityId from item_entities where workspaceId = ? and kbId = ?", [
    workspaceId,
    kbId,
  ]).rows;
  connection.execute("delete from removals where workspaceId = ? and kbId = ?", [workspaceId, kbId]);
  connection.execute("delete from items where workspaceId = ? and kbId = ?", [workspaceId, kbId]);
  for (const { entityId } of entities) {
    connection.execute(
      `delete from entities where workspaceId = ? and entityId = ?
       and not exists (select 1 from item_entities where workspaceId = ? and entityId = ?)`,
      [workspaceId, entityId, workspaceId, entityId],
    );
  }
}
