import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ConnectorRecord, ConnectorState } from "./connectors.ts";

/** What tells how a connector is doing. */
export type ConnectorHealth = Pick<
  ConnectorRecord,
  "name" | "providerId" | "state" | "nextRunAt" | "aclCheckedAt" | "refusedAt" | "lastFullAt"
>;

const LIST_OWNED = compiledQuery((read, workspaceId: string, ownerUserId: string) =>
  read
    .selectFrom("connectors")
    .select(["name", "providerId", "state", "nextRunAt", "aclCheckedAt", "refusedAt", "lastFullAt"])
    .where("workspaceId", "=", workspaceId)
    .where("ownerUserId", "=", ownerUserId)
    .orderBy("createdAt")
    .orderBy("connectorId"),
);

/** How connectors are doing. Every search asks it, so neither settings nor cursors are read and parsed for it. */
export function makeConnectorHealthStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** Those of this owner, the oldest first. */
    async listOwnedBy(ownerUserId: string): Promise<ConnectorHealth[]> {
      const rows = await LIST_OWNED(sql.read, workspaceId, ownerUserId);
      // The column is written by the connector store only, from this type.
      return rows.map((row) => ({ ...row, state: row.state as ConnectorState }));
    },
  };
}
