import { sql as rawSql } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";

/** What of a connector was read at another place, or by a former owner, and not since. Source: S60. */
export function makeWithholdingStore(sql: SqlHandles, workspaceId: string) {
  const readElsewhere = (connectorId: string) =>
    sql.read
      .selectFrom("items")
      .select("kbId")
      .where("workspaceId", "=", workspaceId)
      .where("connectorId", "=", connectorId)
      // The words of the condition are those of the partial index.
      .where(rawSql<boolean>`"readElsewhere" = 1`)
      .where("removedAt", "is", null);

  return {
    /** The next run reads every item again, and until then each counts as read elsewhere. */
    async doubtReading(connectorId: string): Promise<void> {
      await sql.write
        .updateTable("items")
        .set({ version: null, readElsewhere: 1 })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("removedAt", "is", null)
        .execute();
    },

    /** `to` owns the connector from here on; what was read for `from` is not theirs when they come back. */
    async passOn(connectorId: string, { from, to }: { from: string; to: string }): Promise<void> {
      await sql.write
        .insertInto("former_owners")
        .values({ workspaceId, connectorId, userId: from })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await sql.write
        .deleteFrom("former_owners")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("userId", "=", to)
        .execute();
    },

    /** Some of the living items that were read elsewhere, and not since; none for the most part. */
    async listReadElsewhere(connectorId: string, limit: number): Promise<string[]> {
      return (await readElsewhere(connectorId).limit(limit).execute()).map(({ kbId }) => kbId);
    },

    /** Shows a connector again, unless something of it that was read elsewhere is left. Gives whether it did. */
    async endWithholding(connectorId: string): Promise<boolean> {
      const shown = await sql.write
        .updateTable("connectors")
        .set({ withheldAt: null })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("withheldAt", "is not", null)
        .where(({ not, exists }) => not(exists(readElsewhere(connectorId))))
        .returning("connectorId")
        .execute();
      return shown.length > 0;
    },
  };
}
