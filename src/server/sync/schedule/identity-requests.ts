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
  /** Only these; everything by default. */
  groups?: readonly Principal[];
  /** Not before this time, unless something else asks for a run in the meantime. */
  notBefore?: number;
  now: number;
  randomBytes: RandomBytes;
}

/** A run that goes before another one is listed behind it. */
type PlacedReading = RequestedReading & { isFirst?: true };

interface ChangedPeople {
  groups: readonly Principal[];
  isAll: boolean;
}

/** A person's requests run at least this far apart; requests within this time are merged. */
const ASKED_EVERY_MS = 60_000;
/** Groups that notifications name within this time are read together. */
const TOGETHER_MS = 2_000;
/** For more groups than this, reading all groups costs no more. */
const MOST_GROUPS = 100;

/**
 * Requests a run that reads memberships; call it in the transaction of its reason. A second request joins the queued
 * run: one of everything, or one of some groups, which runs alongside it.
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
  // Whatever becomes of this run, others follow: without them no one would get access.
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
    // A person waits for a manual run, and until a notified one has ended someone may still read what they may not any
    // more.
    priority: wish.trigger === "manual" || wish.trigger === "webhook" ? 10 : 20,
    runAt: wish.notBefore ?? now,
  });
  return sync;
}

/**
 * The same for a person who wants it now, at most once a minute: a second request waits until the minute is over, since
 * it must see what was revoked in between. Waiting requests share one run.
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
 * Requests a run for what a notification reports: the groups it names, or everything if it names no group. The
 * notification itself changes nothing, and one who sends many costs no more than a share of the credential's requests.
 * Source: S62.
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

/** Queues the runs that are due; one that is still going on counts as the next. Returns how many it queued. */
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

/** A time more than a minute ahead was noted by a clock that was wrong. */
function nextAsked(askedAt: number | null, now: number): number {
  if (askedAt === null || askedAt > now + ASKED_EVERY_MS) return now;
  return askedAt > now ? askedAt : Math.max(now, askedAt + ASKED_EVERY_MS);
}

function isUnbegun({ state, startedAt }: SyncRecord): boolean {
  return state === "queued" && startedAt === null;
}

/** Joins the queued run, or makes one. */
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

/** Null = at once. */
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
