import { existing } from "#api/errors.ts";
import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { isoOf } from "#core/instant.ts";
import { readPage } from "#server/http/pages.ts";
import { KEEP_REMOVED_MS } from "#storage/records/item-writes.ts";
import { requireActs } from "./acts.ts";
import { type ConnectorDeps, requireManaged } from "./deps.ts";
import { applyOps } from "./stored.ts";
import { toSync } from "./view.ts";

/**
 * Lists the items that can be restored, without their names: no one sees removed content.
 *
 * @throws ApiError `not_found`
 */
export async function listRemoved(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId }, query }: MemberCall<typeof connectorRoutes.listRemoved>,
) {
  await requireManaged(deps.store, actor, connectorId);
  const { itemWrites } = deps.store.in(actor.workspaceId);
  const since = deps.clock.now() - KEEP_REMOVED_MS;
  const { page, nextCursor } = await readPage(
    deps,
    actor,
    {
      route: "GET /api/connectors/:id/removed",
      args: { connectorId },
      kind: "item",
      read: ({ limit, after }) => itemWrites.listRemoved(connectorId, { since, afterKbId: after?.id ?? "", limit }),
      positionOf: ({ kbId }) => ({ value: 0, id: kbId }),
    },
    query,
  );
  return { removed: page.map(({ kbId, removedAt }) => ({ kbId, removedAt: isoOf(removedAt) })), nextCursor };
}

/**
 * Restores a removed item. No one may read it until the source has reported its access. Source: S20.
 *
 * @throws ApiError `not_found`, `connector_state_conflict` for a connector that is being deleted
 */
export async function restoreItem(
  deps: ConnectorDeps,
  { actor, params: { fileId: kbId } }: MemberCall<typeof connectorRoutes.restoreFile>,
) {
  const workspace = deps.store.in(actor.workspaceId);
  const item = existing(await workspace.itemWrites.findRemoved(kbId, deps.clock.now() - KEEP_REMOVED_MS));
  const { connectorId, externalId } = item;
  const connector = await requireActs(deps, actor, connectorId, ["restore"]);
  await deps.store.transaction((tx) =>
    deps.audit.record(tx, actor, actOn(connectorId, "connector.item_restored", { kbId })),
  );
  await applyOps(deps, actor.workspaceId, connectorId, [{ type: "restore", kbId }]);
  const source = await deps.sources.find(connector.providerId);
  const mayRun = connector.state === "active" || connector.state === "error";
  // If the connector can't run now, its next run reads the item.
  if (!source?.sessions || !mayRun) return { kbId, connectorId, sync: null };
  const wish = { trigger: "manual", mode: "items", items: [externalId] } as const;
  const sync = await deps.store.transaction((tx) => deps.syncs.request(tx, actor.workspaceId, connector, wish));
  deps.syncs.signal();
  return { kbId, connectorId, sync: await toSync(workspace, deps.policy, actor, connector, sync) };
}
