import { actOn } from "#storage/audit-act.ts";
import { connectionPrincipal } from "#storage/access/item-clocks.ts";
import type { Actor } from "#storage/access/actor.ts";
import { type ConnectionRecord, KEEP_REVOKED_MS, REVOKED } from "#storage/records/connections.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import type { ServerDeps } from "./deps.ts";
import { type EndedGrant, grantOf } from "./give-back.ts";

export type RevokeReason = "disconnected" | "server_deleted";

/**
 * Ends a connection. Its secrets and pending flows are deleted. From the next request on, the content read through it
 * is hidden from everyone. Its connectors are deleted with their items. Call it in a transaction.
 *
 * @returns the current runs, which were cancelled, and the grant to revoke at the provider after the commit
 */
export async function revokeConnection(
  deps: Pick<ServerDeps, "clock" | "audit" | "emit" | "endConnector" | "secrets">,
  tx: Store,
  workspaceId: string,
  connection: ConnectionRecord,
  reason: RevokeReason,
  actor?: Actor,
): Promise<{ cancelled: SyncRecord[]; grant: EndedGrant | undefined }> {
  const { connections, connectors, access } = tx.in(workspaceId);
  const { connectionId, serverId } = connection;
  const sealed = (await connections.findSecret(connectionId))?.sealed;
  const grant = await grantOf(deps, tx, workspaceId, { ...connection, sealed });
  await connections.dropSecret(connectionId);
  await connections.dropFlows(connectionId);
  await connections.update(connectionId, {
    ...REVOKED,
    statusReason: reason,
    pendingUntil: deps.clock.now() + KEEP_REVOKED_MS,
  });
  await access.setMembers(connectionPrincipal(connectionId), [], "kb");
  const cancelled: SyncRecord[] = [];
  for (const connector of await connectors.listOn({ connectionId })) {
    cancelled.push(...(await deps.endConnector(tx, workspaceId, connector)));
  }
  const act = actOn(connectionId, "connection.revoked", { reason });
  if (actor) await deps.audit.record(tx, actor, act);
  else await deps.audit.recordSystem(tx, workspaceId, act);
  await deps.emit(tx, workspaceId, { type: "connection.revoked", data: { connectionId, serverId, code: reason } });
  return { cancelled, grant };
}
