import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError, existing, noSuchThing } from "#api/errors.ts";
import type { RequestSyncBody, Sync } from "#api/connector-records.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import { readPage } from "#server/http/pages.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import type { Source } from "#sources/contract.ts";
import { requireActs } from "./acts.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";
import { manages } from "./judge.ts";
import { stateConflict } from "./state-conflict.ts";
import { applyOps } from "./stored.ts";
import { seesLeftOut } from "./left-out.ts";
import { toSync } from "./view.ts";

/**
 * Requests a run that is preceded by a run for people and groups, or only the run for people and groups. Source: S61.
 *
 * @throws ApiError `not_found`, `connector_state_conflict` if nothing can be run
 */
export async function requestSync(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId }, body = {} }: MemberCall<typeof connectorRoutes.requestSync>,
) {
  const connector = await requireActs(deps, actor, connectorId, ["sync"]);
  const source = await requireSource(deps.sources, connector.providerId);
  requireRunnable(source, connector, body);
  const { syncs, store } = deps;
  const sync = await store.transaction(async (tx) => {
    const queued = await queue(syncs, tx, actor.workspaceId, { source, connector, body });
    const details = { syncId: queued.syncId, mode: queued.mode };
    await deps.audit.record(tx, actor, actOn(connectorId, "connector.sync_requested", details));
    return queued;
  });
  syncs.signal();
  return { sync: await view(deps, actor, connector, sync) };
}

/** Lists the runs of a connector, the newest first. @throws ApiError `not_found`, `invalid_cursor` */
export async function listSyncs(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId }, query }: MemberCall<typeof connectorRoutes.listSyncs>,
) {
  const connector = await requireManaged(deps.store, actor, connectorId);
  const { syncs } = deps.store.in(actor.workspaceId);
  const { page, nextCursor } = await readPage(
    deps,
    actor,
    {
      route: "GET /api/connectors/:id/syncs",
      args: { connectorId },
      kind: "sync",
      read: ({ limit, after }) => syncs.list(connectorId, limit, after && { createdAt: after.value, syncId: after.id }),
      positionOf: ({ createdAt, syncId }) => ({ value: createdAt, id: syncId }),
    },
    query,
  );
  return { syncs: await Promise.all(page.map((row) => view(deps, actor, connector, row))), nextCursor };
}

/** Returns a run with a sample of the items that it left out. @throws ApiError `not_found` */
export async function getSync(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId, syncId } }: MemberCall<typeof connectorRoutes.getSync>,
) {
  const { connector, sync } = await requireSync(deps, actor, connectorId, syncId);
  const workspace = deps.store.in(actor.workspaceId);
  const skips = await workspace.syncs.listSkips(syncId);
  const isTold = await seesLeftOut(deps, workspace, actor, connector, sync);
  return { sync: await toSync(workspace, deps.policy, actor, connector, sync, { skips, isTold }) };
}

/** Cancels a run. @throws ApiError `not_found`, `sync_not_running` */
export async function cancelSync(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId, syncId } }: MemberCall<typeof connectorRoutes.cancelSync>,
) {
  await requireActs(deps, actor, connectorId, ["sync"]);
  const { connector } = await requireSync(deps, actor, connectorId, syncId);
  const sync = await deps.store.transaction(async (tx) => {
    const current = existing(await tx.in(actor.workspaceId).syncs.find(syncId));
    const ended = await deps.syncs.cancel(tx, actor.workspaceId, current);
    await deps.audit.record(tx, actor, actOn(connectorId, "connector.sync_cancelled", { syncId }));
    return ended;
  });
  deps.syncs.signal([sync]);
  return { sync: await view(deps, actor, connector, sync) };
}

/** Lists the unfinished runs, then the last finished run of each connector that the actor manages. */
export async function listProgress(deps: ConnectorDeps, actor: Actor): Promise<{ syncs: Sync[] }> {
  const workspace = deps.store.in(actor.workspaceId);
  const managed = (await workspace.connectors.list()).filter((connector) => manages(actor, connector));
  const byId = new Map(managed.map((connector) => [connector.connectorId, connector]));
  const ids = [...byId.keys()];
  const rows = [...(await workspace.syncs.listOpen(ids)), ...(await workspace.syncs.listLast(ids))];
  const syncs: Sync[] = [];
  for (const row of rows) {
    const connector = byId.get(row.connectorId);
    if (connector) syncs.push(await view(deps, actor, connector, row));
  }
  return { syncs };
}

/**
 * Lists the removals that wait for approval. An item's name is included only if the actor may read the item.
 *
 * @throws ApiError `not_found`
 */
export async function listRemovals(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId }, query }: MemberCall<typeof connectorRoutes.listRemovals>,
) {
  await requireManaged(deps.store, actor, connectorId);
  const workspace = deps.store.in(actor.workspaceId);
  const { page, nextCursor } = await readPage(
    deps,
    actor,
    {
      route: "GET /api/connectors/:id/removals",
      args: { connectorId },
      kind: "item",
      read: ({ limit, after }) => workspace.itemWrites.listHeld(connectorId, after?.id ?? "", limit),
      positionOf: ({ kbId }) => ({ value: 0, id: kbId }),
    },
    query,
  );
  const kbIds = page.map((row) => row.kbId);
  const open = await deps.policy.mayRead(actor, kbIds);
  const records = await workspace.items.records(kbIds.filter((kbId) => open.has(kbId)));
  const byId = new Map(records.map((item) => [item.kbId, item]));
  return {
    removals: page.map(({ kbId, syncId, heldAt }) => ({
      kbId,
      heldAt: isoOf(heldAt),
      syncId,
      externalId: byId.get(kbId)?.externalId ?? null,
      title: byId.get(kbId)?.title ?? null,
    })),
    nextCursor,
  };
}

/**
 * Removes held items, or keeps them. Without `kbIds`, all held items.
 *
 * @returns the number of items
 * @throws ApiError `not_found`, `connector_state_conflict`
 */
export async function decideRemovals(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  decision: "approved" | "rejected",
  kbIds?: readonly string[],
): Promise<number> {
  await requireActs(deps, actor, connectorId, ["decide_removals"]);
  const { itemWrites } = deps.store.in(actor.workspaceId);
  await deps.store.transaction((tx) =>
    deps.audit.record(
      tx,
      actor,
      actOn(connectorId, `connector.removals_${decision}`, {
        all: kbIds === undefined,
        ...(kbIds && { count: kbIds.length }),
      }),
    ),
  );
  const wanted = kbIds && new Set(kbIds);
  let count = 0;
  for (let after = ""; ;) {
    const page = await itemWrites.listHeld(connectorId, after, 100);
    const chosen = page.map((row) => row.kbId).filter((kbId) => wanted?.has(kbId) ?? true);
    const type = decision === "approved" ? ("remove" as const) : ("release" as const);
    if (chosen.length > 0) await applyOps(deps, actor.workspaceId, connectorId, [{ type, kbIds: chosen }]);
    count += chosen.length;
    const last = page.at(-1);
    if (!last || page.length < 100) break;
    after = last.kbId;
  }
  // A person has reviewed the removals, so the guard no longer adds earlier removals to later ones.
  if (decision === "approved" && count > 0) await itemWrites.resetGuard(connectorId);
  return count;
}

async function requireSync(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  syncId: string,
): Promise<{ connector: ConnectorRecord; sync: SyncRecord }> {
  const connector = await requireManaged(deps.store, actor, connectorId);
  const sync = await deps.store.in(actor.workspaceId).syncs.find(syncId);
  if (sync?.connectorId === connectorId) return { connector, sync };
  throw noSuchThing();
}

function requireRunnable(source: Source, connector: ConnectorRecord, { mode }: RequestSyncBody): void {
  const { state } = connector;
  const { name } = source.spec;
  if (mode === "identities" && !source.syncIdentities) {
    const message = `${name} connectors have no people or groups to read: kb itself says who can read their items.`;
    throw new ApiError("connector_state_conflict", { message });
  }
  if (mode !== "identities" && !source.sessions) {
    throw new ApiError("connector_state_conflict", {
      message: `${name} connectors don't sync: you push their items.`,
    });
  }
  if (state !== "active" && state !== "error" && state !== "needs_reauth") {
    throw stateConflict(connector, "does not sync");
  }
}

async function queue(
  syncs: ConnectorDeps["syncs"],
  tx: Store,
  workspaceId: string,
  about: { source: Source; connector: ConnectorRecord; body: RequestSyncBody },
): Promise<SyncRecord> {
  const { source, connector } = about;
  const { mode, items } = about.body;
  if (mode === "identities") return syncs.askForIdentities(tx, workspaceId, connector);
  const people = syncs.readsPeopleFirst(source)
    ? await syncs.askForIdentities(tx, workspaceId, connector, { isFirst: true })
    : undefined;
  return syncs.request(tx, workspaceId, connector, {
    trigger: "manual",
    ...defined({ mode, peopleSyncId: people?.syncId }),
    ...(items && { mode: "items", items }),
  });
}

function view(deps: ConnectorDeps, actor: Actor, connector: ConnectorRecord, sync: SyncRecord): Promise<Sync> {
  return toSync(deps.store.in(actor.workspaceId), deps.policy, actor, connector, sync);
}
