import { makeId } from "#api/common.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { Principal } from "#core/principals.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { NO_COUNTS, type SyncRecord, type SyncTrigger } from "#storage/records/syncs.ts";
import type { Store } from "#storage/store.ts";

/** Least time between two runs that follow each other by schedule. */
export const LEAST_INTERVAL_MS = 15 * 60_000;

/**
 * Asks for a run that reads who belongs to what; call it in the transaction of its reason. A second wish joins the run that
 * is queued. `groups`: only these, unless somebody wants more.
 */
export async function requestIdentities(
  tx: Store,
  workspaceId: string,
  connector: Pick<ConnectorRecord, "connectorId" | "scopeVersion">,
  wish: {
    trigger: SyncTrigger;
    groups?: readonly Principal[];
    /** Not before this time, unless something else asks for a run meanwhile. */
    notBefore?: number;
    now: number;
    randomBytes: RandomBytes;
  },
): Promise<SyncRecord> {
  const { syncs, connectors } = tx.in(workspaceId);
  const { connectorId, scopeVersion } = connector;
  const { trigger, groups, notBefore, now } = wish;
  // Whatever becomes of this one, others follow: without them nobody would be let in.
  if (!groups) await connectors.scheduleIdentitiesOnce(connectorId, now + LEAST_INTERVAL_MS);
  const open = await syncs.listOpenIdentities(connectorId);
  const queued = open.find((sync) => sync.state === "queued" && sync.startedAt === null);
  const items = groups && (!queued || queued.items) ? [...new Set([...(queued?.items ?? []), ...groups])] : null;
  const sync: SyncRecord = queued
    ? { ...queued, items }
    : {
        syncId: makeId("sync", wish.randomBytes),
        connectorId,
        mode: "identities",
        trigger,
        state: "queued",
        attempt: 0,
        counts: NO_COUNTS,
        progress: { done: 0, total: null, note: null },
        items,
        resumeAt: notBefore ?? null,
        cancelRequestedAt: null,
        problem: null,
        scopeVersion,
        createdAt: now,
        startedAt: null,
        finishedAt: null,
      };
  if (queued) await syncs.update(sync.syncId, { items, ...(notBefore === undefined && { resumeAt: null }) });
  else await syncs.create(sync);
  await tx.queue.enqueue({
    workspaceId,
    type: "identities",
    dedupeKey: `identities:${connectorId}`,
    payload: { connectorId },
    priority: trigger === "manual" ? 10 : 20,
    runAt: notBefore ?? now,
  });
  return sync;
}

/** Queues the runs that are due; one that is still going on stands for the next. Gives how many it queued. */
export async function queueDueIdentities(
  store: Store,
  { now, randomBytes }: { now: () => number; randomBytes: RandomBytes },
  limit: number,
): Promise<number> {
  let queued = 0;
  for (const { workspaceId, connectorId } of await store.queue.listDueIdentities(now(), limit)) {
    await store.transaction(async (tx) => {
      const { connectors, syncs } = tx.in(workspaceId);
      const connector = await connectors.find(connectorId);
      if (!connector) return connectors.unscheduleIdentities(connectorId);
      await connectors.scheduleIdentities(connectorId, now() + LEAST_INTERVAL_MS);
      if ((await syncs.listOpenIdentities(connectorId)).length > 0) return;
      await requestIdentities(tx, workspaceId, connector, { trigger: "schedule", now: now(), randomBytes });
      queued++;
    });
  }
  return queued;
}
