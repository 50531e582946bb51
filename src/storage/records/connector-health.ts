import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ConnectorRecord } from "./connectors.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** The columns that show a connector's health. */
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

/** Health of connectors. Read by every search, so it leaves out settings and cursors, which would have to be parsed. */
export function makeConnectorHealthStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** Those of this owner, the oldest first. */
    listOwnedBy: (ownerUserId: string): Promise<ConnectorHealth[]> => LIST_OWNED(sql.read, workspaceId, ownerUserId),
  };
}
