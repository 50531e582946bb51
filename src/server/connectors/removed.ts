import { ApiError } from "#api/errors.ts";
import type { RemovedItem, Sync } from "#api/connector-records.ts";
import { isoOf } from "#core/instant.ts";
import { cutPage } from "#server/http/cursor.ts";
import type { Actor } from "#storage/access/actor.ts";
import { KEEP_REMOVED_MS } from "#storage/records/item-writes.ts";
import { requireActs } from "./acts.ts";
import { type ConnectorDeps, requireManaged } from "./deps.ts";
import { applyOps } from "./stored.ts";
import { toSync } from "./view.ts";

/** Items that can be restored, without their names: no one sees removed content. @throws ApiError `not_found` */
export async function listRemoved(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ removed: RemovedItem[]; nextCursor: string | null }> {
  await requireManaged(deps.store, actor, connectorId);
  const { workspaceId, userId } = actor;
  const scope = { workspaceId, userId, route: "GET /api/connectors/:id/removed", args: { connectorId } };
  const afterKbId = cursor === undefined ? "" : `kbi_${deps.cursors.decode(scope, cursor).id}`;
  const since = deps.clock.now() - KEEP_REMOVED_MS;
  const { page, nextCursor } = cutPage(
    await deps.store.in(workspaceId).itemWrites.listRemoved(connectorId, { since, afterKbId, limit: limit + 1 }),
    limit,
    (row) => ({ flags: 0, value: 0, id: row.kbId.slice(4) }),
    (position) => deps.cursors.encode(scope, position),
  );
  return { removed: page.map(({ kbId, removedAt }) => ({ kbId, removedAt: isoOf(removedAt) })), nextCursor };
}

/**
 * Restores a removed item. No one may read it until its source was asked for its access. Source: S20.
 *
 * @throws ApiError `not_found`, `connector_state_conflict` for a connector that is being deleted
 */
export async function restoreItem(
  deps: ConnectorDeps,
  actor: Actor,
  kbId: string,
): Promise<{ kbId: string; connectorId: string; sync: Sync | null }> {
  const workspace = deps.store.in(actor.workspaceId);
  const item = await workspace.itemWrites.findRemoved(kbId, deps.clock.now() - KEEP_REMOVED_MS);
  if (!item) throw new ApiError("not_found", { message: "Nothing with this ID exists, or you can't see it." });
  const { connectorId, externalId } = item;
  const connector = await requireActs(deps, actor, connectorId, ["restore"]);
  await deps.store.transaction((tx) =>
    deps.audit.record(tx, actor, {
      action: "connector.item_restored",
      target: { type: "connector", id: connectorId },
      details: { kbId },
    }),
  );
  await applyOps(deps, actor.workspaceId, connectorId, [{ type: "restore", kbId }]);
  const source = await deps.sources.find(connector.providerId);
  const mayRun = connector.state === "active" || connector.state === "error";
  // A connector that does not run now reads it with its next run.
  if (!source?.sessions || !mayRun) return { kbId, connectorId, sync: null };
  const wish = { trigger: "manual", mode: "items", items: [externalId] } as const;
  const sync = await deps.store.transaction((tx) => deps.syncs.request(tx, actor.workspaceId, connector, wish));
  deps.syncs.signal();
  return { kbId, connectorId, sync: await toSync(workspace, deps.policy, actor, connector, sync) };
}
