import { sql as rawSql } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { FORMER_OWNERS, ITEMS } from "#storage/tables/items.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** Items of a connector read at another place, or by a former owner, and not since. Source: S60. */
export function makeReadElsewhereStore(sql: SqlHandles, workspaceId: string) {
  const formerOwners = inWorkspace(sql, workspaceId, FORMER_OWNERS);
  const items = inWorkspace(sql, workspaceId, ITEMS);
  const readElsewhere = (connectorId: string) =>
    items
      .select({ connectorId, removedAt: null })
      .select("kbId")
      // Written exactly as in the partial index.
      .where(rawSql<boolean>`"readElsewhere" = 1`);

  return {
    /** The next run reads every item again, and until then each counts as read elsewhere. */
    async invalidateReading(connectorId: string): Promise<void> {
      await items.updating({ connectorId, removedAt: null }).set({ version: null, readElsewhere: 1 }).execute();
    },

    /** Makes `to` the owner; what was read for `from` isn't theirs when they come back. */
    async passOn(connectorId: string, { from, to }: { from: string; to: string }): Promise<void> {
      await formerOwners.insert({ connectorId, userId: from }, {});
      await formerOwners.remove({ connectorId, userId: to });
    },

    /** Some of the living items that were read elsewhere, and not since; usually none. */
    async listReadElsewhere(connectorId: string, limit: number): Promise<string[]> {
      return (await readElsewhere(connectorId).limit(limit).execute()).map(({ kbId }) => kbId);
    },

    /** Shows a connector again, unless something read elsewhere is left in it. Returns whether it did. */
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
