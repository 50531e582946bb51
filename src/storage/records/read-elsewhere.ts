import { sql as rawSql } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { FORMER_OWNERS, ITEMS } from "#storage/tables/items.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** Finds items of a connector that were last read at another place, or for a former owner. Source: S60. */
export function makeReadElsewhereStore(sql: SqlHandles, workspaceId: string) {
  const formerOwners = inWorkspace(sql, workspaceId, FORMER_OWNERS);
  const items = inWorkspace(sql, workspaceId, ITEMS);
  const readElsewhere = (connectorId: string) =>
    items
      .select({ connectorId, removedAt: null })
      .select("kbId")
      // Written exactly as in the partial index, so that SQLite uses that index.
      .where(rawSql<boolean>`"readElsewhere" = 1`);

  return {
    /** Makes the next run read every item again. Until then, each item is treated as read elsewhere. */
    async invalidateReading(connectorId: string): Promise<void> {
      await items.updating({ connectorId, removedAt: null }).set({ version: null, readElsewhere: 1 }).execute();
    },

    /** Makes `to` the owner. If `from` comes back, they have no right to what was read for them before. */
    async passOn(connectorId: string, { from, to }: { from: string; to: string }): Promise<void> {
      await formerOwners.insert({ connectorId, userId: from }, {});
      await formerOwners.remove({ connectorId, userId: to });
    },

    /** Returns some of the living items that were last read elsewhere; there are usually none. */
    async listReadElsewhere(connectorId: string, limit: number): Promise<string[]> {
      return (await readElsewhere(connectorId).limit(limit).execute()).map(({ kbId }) => kbId);
    },

    /** Shows a connector's items again, unless some of them were last read elsewhere. Returns whether it did. */
    async showAgain(connectorId: string): Promise<boolean> {
      const shown = await inWorkspace(sql, workspaceId, CONNECTORS)
        .updating({ connectorId })
        .set({ withheldAt: null })
        .where("withheldAt", "is not", null)
        .where(({ not, exists }) => not(exists(readElsewhere(connectorId))))
        .returning("connectorId")
        .execute();
      return shown.length > 0;
    },
  };
}
