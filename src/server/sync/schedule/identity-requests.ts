import { makeId } from "#api/common.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { Principal } from "#core/principals.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { NO_COUNTS, type SyncRecord, type SyncTrigger } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { LEAST_INTERVAL_MS, paidRunAt } from "./identity-intervals.ts";

type Asking = Pick<ConnectorRecord, "connectorId" | "scopeVersion">;

interface RequestedReading {
  trigger: SyncTrigger;
  /** Reads only these groups. Default: everything. */
  groups?: readonly Principal[];
  /** The run starts no earlier than this, unless another request for a run comes in the meantime. */
  notBefore?: number;
  now: number;
  randomBytes: RandomBytes;
}

/** A requested reading. With `isFirst`, it runs before another run and is listed behind that run. */
type PlacedReading = RequestedReading & { isFirst?: true };

interface ChangedPeople {
  groups: readonly Principal[];
  isAll: boolean;
}

/** Minimum time between two runs that people request. Requests within this time are merged. */
const ASKED_EVERY_MS = 60_000;
/** Groups that notifications name within this time are read in one run. */
const TOGETHER_MS = 2_000;
/** For more groups than this, reading all groups costs no more than reading the named ones. */
const MOST_GROUPS = 100;

/**
 * Requests a run that reads memberships. Call it in the transaction of the change that causes it. A second request
 * joins the queued run. A run of everything and a run of some groups are queued separately.
 */
export async function requestIdentities(
  tx: Store,
  workspaceId: string,
  connector: Asking,
  wish: PlacedReading,
): Promise<SyncRecord> {
  const workspace = tx.in(workspaceId);
  const { connectorId } = connector;
  const { groups, now } = wish;
  // The schedule is set even if this run fails: without later runs, no one would get access.
  if (!groups) await workspace.identitySchedules.setOnce(connectorId, now + LEAST_INTERVAL_MS);
  const queued = (await workspace.syncs.listOpenIdentities(connectorId)).find(
    (sync) => isUnbegun(sync) && (sync.items !== null) === (groups !== undefined),
  );
  const items = groups ? [...new Set([...(queued?.items ?? []), ...groups])] : null;
  if (items && items.length > MOST_GROUPS) {
    const { groups: _some, ...all } = wish;
    return requestIdentities(tx, workspaceId, connector, all);
  }
  const sync = await queue(workspace, connector, wish, { queued, items });
  const type = items ? "told_groups" : "identities";
  await tx.queue.enqueue({
    workspaceId,
    type,
    dedupeKey: `${type}:${connectorId}`,
    payload: { connectorId },
    // A person waits for a manual run. Until a run for a notification has ended, someone may still read what they may
    // no longer read.
    priority: wish.trigger === "manual" || wish.trigger === "webhook" ? 10 : 20,
    runAt: wish.notBefore ?? now,
  });
  return sync;
}

/**
 * Requests a run for a person who wants it now, at most once a minute. A second request waits until the minute is over,
 * because its run must see what was revoked in between. Waiting requests share one run.
 */
export async function askForIdentities(
  tx: Store,
  workspaceId: string,
  connector: Asking,
  { isFirst, now, randomBytes }: Pick<PlacedReading, "now" | "randomBytes" | "isFirst">,
): Promise<SyncRecord> {
  const { identitySchedules } = tx.in(workspaceId);
  const { connectorId } = connector;
  const { askedAt } = await identitySchedules.paceOf(connectorId);
  const at = nextAsked(askedAt, now);
  const wish: PlacedReading = {
    trigger: "manual",
    now,
    randomBytes,
    ...(isFirst && { isFirst }),
    ...(at > now && { notBefore: at }),
  };
  const sync = await requestIdentities(tx, workspaceId, connector, wish);
  await identitySchedules.setPace(connectorId, { askedAt: at });
  return sync;
}

/**
 * Requests a run for the change that a notification reports. The run reads the groups that the notification names, or
 * everything if it names none. The notification itself changes no data. A sender of many notifications can use no more
 * than a share of the credential's requests. Source: S62.
 */
export async function requestChangedPeople(
  tx: Store,
  workspaceId: string,
  connector: Asking,
  { groups, isAll, now, randomBytes }: Pick<RequestedReading, "now" | "randomBytes"> & ChangedPeople,
): Promise<void> {
  if (groups.length === 0 && !isAll) return;
  const { paidUntil } = await tx.in(workspaceId).identitySchedules.paceOf(connector.connectorId);
  const notBefore = paidRunAt(paidUntil, now + TOGETHER_MS);
  const wish = { trigger: "webhook", notBefore, now, randomBytes } as const;
  if (groups.length > 0) await requestIdentities(tx, workspaceId, connector, { ...wish, groups });
  if (isAll) await requestIdentities(tx, workspaceId, connector, wish);
}

/**
 * Queues the runs that are due. If a run is still in progress, no other is queued. Returns the number of queued runs.
 */
export async function queueDueIdentities(
  store: Store,
  { now, randomBytes }: { now: () => number; randomBytes: RandomBytes },
  limit: number,
): Promise<number> {
  let queued = 0;
  for (const { workspaceId, connectorId } of await store.queue.listDueIdentities(now(), limit)) {
    await store.transaction(async (tx) => {
      const { connectors, identitySchedules, syncs } = tx.in(workspaceId);
      const connector = await connectors.find(connectorId);
      if (!connector) return identitySchedules.remove(connectorId);
      await identitySchedules.set(connectorId, now() + LEAST_INTERVAL_MS);
      if ((await syncs.listOpenIdentities(connectorId)).some(({ items }) => items === null)) return;
      await requestIdentities(tx, workspaceId, connector, { trigger: "schedule", now: now(), randomBytes });
      queued++;
    });
  }
  return queued;
}

/** A time more than a minute in the future was recorded while the clock was wrong. */
function nextAsked(askedAt: number | null, now: number): number {
  if (askedAt === null || askedAt > now + ASKED_EVERY_MS) return now;
  return askedAt > now ? askedAt : Math.max(now, askedAt + ASKED_EVERY_MS);
}

function isUnbegun({ state, startedAt }: SyncRecord): boolean {
  return state === "queued" && startedAt === null;
}

/** Joins the queued run, or queues a new one. */
async function queue(
  tx: WorkspaceStore,
  { connectorId, scopeVersion }: Asking,
  { trigger, notBefore, isFirst, now, randomBytes }: PlacedReading,
  { queued, items }: { queued: SyncRecord | undefined; items: string[] | null },
): Promise<SyncRecord> {
  const sync: SyncRecord = {
    ...(queued ?? makeRun({ connectorId, scopeVersion, trigger, now: isFirst ? now - 1 : now, randomBytes })),
    items,
    resumeAt: queued ? sooner(queued.resumeAt, notBefore) : (notBefore ?? null),
  };
  if (queued) await tx.syncs.update(sync.syncId, { items, resumeAt: sync.resumeAt });
  else await tx.syncs.create(sync);
  return sync;
}

/** Returns the earlier of two start times; null = at once. If either is absent, the run starts at once. */
function sooner(resumeAt: number | null, notBefore: number | undefined): number | null {
  return resumeAt === null || notBefore === undefined ? null : Math.min(resumeAt, notBefore);
}

function makeRun({
  connectorId,
  scopeVersion,
  trigger,
  now,
  randomBytes,
}: Asking & Pick<RequestedReading, "trigger" | "now" | "randomBytes">): SyncRecord {
  return {
    syncId: makeId("sync", randomBytes),
    connectorId,
    mode: "identities",
    trigger,
    state: "queued",
    attempt: 0,
    counts: NO_COUNTS,
    progress: { done: 0, total: null, note: null },
    items: null,
    people: null,
    resumeAt: null,
    cancelRequestedAt: null,
    problem: null,
    scopeVersion,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
  };
}
