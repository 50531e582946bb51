import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import type { Connector } from "#api/connector-records.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import { requireActs } from "./acts.ts";
import { type ConnectorDeps, requireManaged } from "./deps.ts";
import { toConnector } from "./view.ts";
import { fillConnectorGroup } from "./visibility.ts";

/**
 * Pauses or resumes a connector: changes its state, the current run and the schedule.
 *
 * @throws ApiError `not_found`, `forbidden` for an admin who resumes a connector that its owner paused,
 *   `connector_state_conflict`
 */
export async function pauseOrResume(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  act: "pause" | "resume",
): Promise<{ connector: Connector }> {
  const isResumed = act === "resume";
  const cancelled = await deps.store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    const before = await requireActs(deps, actor, connectorId, [act], { on: tx });
    const source = await deps.sources.find(before.providerId);
    const state = deps.syncs.nextState(before.state, act);
    const pausedBy = isResumed ? null : pausedByOf(actor, before);
    const nextRunAt =
      isResumed && before.everyMinutes !== null ? deps.clock.now() + before.everyMinutes * 60_000 : null;
    const health = isResumed ? { consecutiveFailures: 0 } : {};
    await workspace.connectors.update(connectorId, { state, stateReason: null, nextRunAt, pausedBy, ...health });
    await workspace.access.raiseEpoch();
    await deps.audit.record(tx, actor, actOn(connectorId, isResumed ? "connector.resumed" : "connector.paused"));
    if (!isResumed) return deps.syncs.cancelAll(tx, actor.workspaceId, connectorId);
    const after = { ...before, state };
    if (source?.sessions) await deps.syncs.request(tx, actor.workspaceId, after, { trigger: "manual" });
    if (source?.syncIdentities) await deps.syncs.requestIdentities(tx, actor.workspaceId, after);
    return [];
  });
  deps.syncs.signal(cancelled);
  return showConnector(deps, actor, connectorId);
}

/**
 * If an admin pauses a connector that its owner has paused, it is still the owner's pause, and only the owner can
 * resume it.
 */
function pausedByOf({ userId }: Actor, { state, pausedBy, ownerUserId }: ConnectorRecord): string {
  const isOwners = state === "paused" && (pausedBy === null || pausedBy === ownerUserId);
  return isOwners ? ownerUserId : userId;
}

/**
 * Deletes a connector. The next request no longer shows its items, which are purged in the background.
 *
 * @throws ApiError `not_found`
 */
export async function removeConnector(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId } }: MemberCall<typeof connectorRoutes.remove>,
) {
  const cancelled = await deps.store.transaction(async (tx) => {
    const before = await requireActs(deps, actor, connectorId, ["delete"], { on: tx });
    const ended = await endConnector(deps, tx, actor.workspaceId, before);
    if (before.state !== "deleting") await deps.audit.record(tx, actor, actOn(connectorId, "connector.deleted"));
    return ended;
  });
  const answer = await showConnector(deps, actor, connectorId);
  deps.syncs.signal(cancelled);
  return answer;
}

/**
 * Hides a connector's items and queues its deletion. Call it in a transaction.
 *
 * @returns the current runs, which were requested to end
 */
export async function endConnector(
  deps: Pick<ConnectorDeps, "clock" | "syncs">,
  tx: Store,
  workspaceId: string,
  before: ConnectorRecord,
): Promise<SyncRecord[]> {
  const { connectorId } = before;
  const workspace = tx.in(workspaceId);
  const now = deps.clock.now();
  const state = deps.syncs.nextState(before.state, "delete");
  await workspace.connectors.update(connectorId, { state, stateReason: null, nextRunAt: null });
  // The job first needs the credentials to end the subscription at the provider.
  const subscription = await workspace.webhookSubscriptions.find(connectorId);
  if (!subscription) await workspace.connectors.deleteCredentials(connectorId);
  await fillConnectorGroup(workspace, connectorId, undefined);
  await workspace.access.dropReported(connectorId, now);
  const keys = await workspace.connectors.listKeys(connectorId, now);
  await workspace.connectors.endKeys(
    keys.map((key) => key.keyId),
    now,
  );
  const ended = await deps.syncs.cancelAll(tx, workspaceId, connectorId);
  await tx.queue.enqueue({
    workspaceId,
    type: "purge_connector",
    dedupeKey: `purge:${connectorId}`,
    payload: { connectorId },
    priority: 30,
    runAt: now,
  });
  return ended;
}

/** Returns the connector as its owner and admins see it now. */
export async function showConnector(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
): Promise<{ connector: Connector }> {
  const connector = await requireManaged(deps.store, actor, connectorId);
  return { connector: await toConnector(deps, actor, connector) };
}
