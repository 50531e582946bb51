import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ConnectorRecord } from "./connectors.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** What tells how a connector is doing. */
export type ConnectorHealth = Pick<
  ConnectorRecord,
  "name" | "providerId" | "state" | "nextRunAt" | "aclCheckedAt" | "refusedAt" | "lastFullAt"
>;

const LIST_OWNED = compiledQuery((read, workspaceId: string, ownerUserId: string) =>
  inWorkspace({ read, write: read }, workspaceId, CONNECTORS)
    .select({ ownerUserId })
    .select(["name", "providerId", "state", "nextRunAt", "aclCheckedAt", "refusedAt", "lastFullAt"])
    .orderBy("createdAt")
    .orderBy("connectorId"),
);

/** How connectors are doing. Every search asks it, so neither settings nor cursors are read and parsed for it. */
export function makeConnectorHealthStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** Those of this owner, the oldest first. */
    listOwnedBy: (ownerUserId: string): Promise<ConnectorHealth[]> => LIST_OWNED(sql.read, workspaceId, ownerUserId),
  };
}
