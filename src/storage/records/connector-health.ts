import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ConnectorRecord } from "./connectors.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** The columns from which a connector's health is determined. */
export type ConnectorHealth = Pick<
  ConnectorRecord,
  "name" | "providerId" | "state" | "nextRunAt" | "aclCheckedAt" | "refusedAt" | "lastFullAt"
>;

const LIST_OWNED = compiledQuery((read, workspaceId: string, ownerUserId: string) =>
  inWorkspace({ read }, workspaceId, CONNECTORS)
    .select({ ownerUserId })
    .select(["name", "providerId", "state", "nextRunAt", "aclCheckedAt", "refusedAt", "lastFullAt"])
    .orderBy("createdAt")
    .orderBy("connectorId"),
);

/**
 * Reads the health of connectors. Every search does so, so settings and cursors, which would have to be parsed, are
 * left out.
 */
export function makeConnectorHealthStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** Returns the connectors of this owner, the oldest first. */
    listOwnedBy: (ownerUserId: string): Promise<ConnectorHealth[]> => LIST_OWNED(sql.read, workspaceId, ownerUserId),
  };
}
