import { ApiError, assertNever } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { findFault } from "#core/faults.ts";
import { narrowAccess } from "#core/principals.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { KEEP_REMOVED_MS } from "#storage/records/item-writes.ts";
import { type ClaimedJob, SLICE_PRIORITY, UPKEEP_PRIORITY, USUAL_PRIORITY } from "#storage/records/queue.ts";
import { NO_COUNTS, type SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import { findPass } from "#server/sync/run/pass.ts";
import { endFormerTexts } from "#server/sync/run/former-text.ts";
import { bindRun } from "#server/sync/binding.ts";
import { atInstance, type JobEnd, makeContext, type SyncDeps } from "#server/sync/deps.ts";
import { afterProof, endEffects } from "#server/sync/run/end-effects.ts";
import { CHECK_AGAIN_MS, findPeopleFirst } from "#server/sync/people/people-first.ts";
import { noteOnNobodys, noteOnStrangers, toProblem } from "#server/sync/problem.ts";
import { type RunEnd, runSync } from "#server/sync/run/run.ts";
import { chooseAgain, chooseOlder, isReaderRun, requestReadAgain } from "#server/sync/schedule/read-again.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { applySecretsSetting } from "./secrets-setting.ts";
import { GIVEN_UP, MAX_ATTEMPTS, MAY_RUN, nextSyncState } from "#server/sync/state.ts";
import { subscribe, unsubscribe } from "#server/sync/webhooks/subscriptions.ts";
import { reportEnd } from "./report-end.ts";
import { removeHidden } from "#server/sync/hidden-items.ts";

export interface JobSignals {
  signal: AbortSignal;
  /** Called with the id of the job's run. */
  onSync(syncId: string): void;
}

/** The number of finished runs kept for each connector. */
const RUNS_KEPT = 100;
const PURGE_SLICE = 100;

/** Runs a claimed job. */
export async function runJob(deps: SyncDeps, job: ClaimedJob, owner: string, signals: JobSignals): Promise<JobEnd> {
  switch (job.type) {
    case "sync":
      return runSyncJob(deps, job, owner, signals);
    case "identities":
    case "told_groups":
      throw new Error("Runs of identities are done by `runIdentitiesJob`.");
    case "purge_removed": {
      const removedBefore = deps.now() - KEEP_REMOVED_MS;
      return purge(deps, job, { removedBefore }, signals.signal);
    }
    case "end_former_texts":
      return endFormerTexts(deps, job, signals.signal);
    case "purge_refused":
      return purgeRefused(deps, job, signals.signal);
    case "purge_connector": {
      const connectorId = requireConnectorId(job);
      await unsubscribe(deps, job, connectorId, signals.signal);
      const end = await purge(deps, job, { connectorId }, signals.signal);
      if (end.type === "done") await removeLast(deps, job.workspaceId, connectorId);
      return end;
    }
    case "account":
      await deps.keepAccount?.(job.workspaceId, job.payload["accountId"] ?? "");
      return { type: "done" };
    case "lapsed_flow":
      await deps.endLapsedFlow?.(job.payload["flowHash"] ?? "");
      return { type: "done" };
    case "server":
      await deps.probeServer?.(job.workspaceId, job.payload["serverId"] ?? "");
      return { type: "done" };
    case "subscribe_webhook":
      await subscribe(deps, job, requireConnectorId(job), signals.signal);
      return { type: "done" };
    case "sweep_accesses":
      return sweepAccesses(deps, job, signals.signal);
    case "apply_secrets": {
      const again = (tx: Store, connector: ConnectorRecord) => readAgain(deps, tx, job.workspaceId, connector);
      const isDone = await applySecretsSetting(deps.store, again, job, signals.signal);
      return isDone ? { type: "done" } : { type: "again", at: deps.now() };
    }
    default:
      return assertNever(job.type);
  }
}

/** Removes the source's own data first: if this process ends here, the record still shows that work remains. */
async function removeLast({ store, findSource }: SyncDeps, workspaceId: string, connectorId: string): Promise<void> {
  const { connectors } = store.in(workspaceId);
  const connector = await connectors.find(connectorId);
  const source = connector && (await findSource(connector.providerId));
  await source?.forget?.(connectorId);
  await connectors.remove(connectorId);
}

/**
 * Queues a run that reads everything again. Does nothing for a connector that can't run now or that only receives
 * pushes.
 */
export async function readAgain(
  deps: SyncDeps,
  tx: Store,
  workspaceId: string,
  connector: ConnectorRecord,
): Promise<void> {
  const source = await deps.findSource(connector.providerId);
  if (!source?.sessions || !MAY_RUN.has(connector.state)) return;
  const { now, randomBytes } = deps;
  await requestSync(tx, workspaceId, connector, { trigger: "manual", mode: "full", now: now(), randomBytes });
}

async function purge(
  { store, now, waitForGap }: SyncDeps,
  job: ClaimedJob,
  which: { connectorId?: string; removedBefore?: number },
  signal: AbortSignal,
): Promise<JobEnd> {
  const { itemWrites } = store.in(job.workspaceId);
  for (;;) {
    if (signal.aborted) return { type: "again", at: now() };
    await waitForGap?.();
    if ((await itemWrites.purge({ ...which, limit: PURGE_SLICE })) < PURGE_SLICE) return { type: "done" };
  }
}

/**
 * Deletes the items of a connector whose source has refused access for too long. Once the source accepts requests
 * again, they are read from the beginning.
 */
async function purgeRefused(deps: SyncDeps, job: ClaimedJob, signal: AbortSignal): Promise<JobEnd> {
  const connectorId = requireConnectorId(job);
  const { connectors } = deps.store.in(job.workspaceId);
  // Someone may have reconnected the connector in the meantime.
  const connector = await connectors.find(connectorId);
  if (!connector || connector.refusedAt === null) return { type: "done" };
  const end = await purge(deps, job, { connectorId }, signal);
  if (end.type === "done") {
    await connectors.update(connectorId, { aclCheckedAt: null, cursor: null, lastFullAt: null });
  }
  return end;
}

async function sweepAccesses(
  { store, now, waitForGap }: SyncDeps,
  job: ClaimedJob,
  signal: AbortSignal,
): Promise<JobEnd> {
  const { itemWrites } = store.in(job.workspaceId);
  for (;;) {
    if (signal.aborted) return { type: "again", at: now() };
    await waitForGap?.();
    if ((await itemWrites.sweepAccesses()).isDone) return { type: "done" };
  }
}

async function runSyncJob(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  { signal, onSync }: JobSignals,
): Promise<JobEnd> {
  const started = await startNext(deps, job, owner, requireConnectorId(job));
  if (!started) return { type: "settled" };
  const { connector, sync } = started;
  onSync(sync.syncId);
  const end = await runStarted(deps, job, owner, connector, sync, signal);
  await finish(deps, job, owner, end, sync);
  return { type: "settled" };
}

/** Starts the connector's next run; undefined if none is due, and then the job is settled too. */
async function startNext(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  connectorId: string,
): Promise<{ connector: ConnectorRecord; sync: SyncRecord } | undefined> {
  const { store, now, randomBytes, emit } = deps;
  return store.transaction(async (tx) => {
    const { connectors, syncs, access } = tx.in(job.workspaceId);
    const connector = await connectors.find(connectorId);
    for (const sync of inTurn(await syncs.listOpen([connectorId]))) {
      const isWanted = connector && MAY_RUN.has(connector.state) && sync.cancelRequestedAt === null;
      if (!isWanted) {
        await syncs.update(sync.syncId, { state: nextSyncState(sync.state, "stop"), finishedAt: now() });
      } else if (sync.resumeAt !== null && sync.resumeAt > now()) {
        await tx.queue.giveBack(job.jobId, owner, sync.resumeAt);
        return undefined;
      } else {
        const people = await findPeopleFirst(tx.in(job.workspaceId), sync);
        if (people?.state === "waiting") {
          await tx.queue.giveBack(job.jobId, owner, now() + CHECK_AGAIN_MS);
          return undefined;
        }
        // A run that is still "running" in the records lost its worker. `saveRun` restarts the count when an attempt
        // makes progress.
        const attempt = sync.attempt + (sync.state === "running" || sync.attempt === 0 ? 1 : 0);
        if (attempt <= MAX_ATTEMPTS) return start(deps, tx, job.workspaceId, connector, { ...sync, people }, attempt);
        const random = (randomBytes(1)[0] ?? 0) / 255;
        const after = endEffects({ type: "failed", problem: GIVEN_UP }, sync, connector, { now: now(), random });
        await syncs.update(sync.syncId, after?.sync ?? {});
        await connectors.update(connectorId, after?.connector ?? {});
        await access.raiseEpoch();
        await reportEnd(emit, tx, job.workspaceId, connector, sync.syncId);
      }
    }
    // This happens in the same transaction, so that a later request for a run adds a new job.
    await tx.queue.finish(job.jobId, owner);
    return undefined;
  });
}

/** Sorts runs that only read items again last, whenever they were requested. */
function inTurn(open: readonly SyncRecord[]): SyncRecord[] {
  return [...open.filter((sync) => !isReaderRun(sync)), ...open.filter(isReaderRun)];
}

async function start(
  deps: SyncDeps,
  tx: Store,
  workspaceId: string,
  connector: ConnectorRecord,
  sync: SyncRecord,
  attempt: number,
): Promise<{ connector: ConnectorRecord; sync: SyncRecord }> {
  const now = deps.now();
  const { connectors, syncs, itemWrites } = tx.in(workspaceId);
  const isFirst = sync.startedAt === null;
  const isWhole = sync.mode === "full" || sync.mode === "incremental";
  const pass = isFirst && isWhole ? await findPass(itemWrites, connector) : undefined;
  // An unfinished full listing continues first, whatever was requested.
  const mode = pass?.mode === "full" ? "full" : sync.mode;
  // A full run starts from the beginning, or continues one that did. Until it has ended, no earlier run counts as a
  // full listing.
  const isNew = isFirst && mode === "full";
  const reset = isNew ? { lastFullAt: null, ...(pass?.mode !== "full" && { cursor: null }) } : {};
  await connectors.update(connector.connectorId, reset);
  const items = isReaderRun(sync) ? await chooseOlder(deps, tx.in(workspaceId), sync) : sync.items;
  const patch = {
    state: nextSyncState(sync.state, "start"),
    mode,
    attempt,
    startedAt: sync.startedAt ?? now,
    items,
    // The source doesn't report how many items were requested.
    ...(isFirst && items && { progress: { ...sync.progress, total: items.length } }),
    resumeAt: null,
    problem: null,
    people: sync.people,
    scopeVersion: connector.scopeVersion,
    ...(isFirst && { counts: NO_COUNTS }),
  };
  await syncs.update(sync.syncId, patch);
  return { connector: { ...connector, ...reset }, sync: { ...sync, ...patch } };
}

async function runStarted(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  connector: ConnectorRecord,
  sync: SyncRecord,
  signal: AbortSignal,
): Promise<RunEnd> {
  try {
    const source = await deps.findSource(connector.providerId);
    if (!source?.sessions) {
      const message = `This server has no source "${connector.providerId}" that can sync.`;
      throw new ApiError("provider_unavailable", { message });
    }
    const authority = await deps.loadAuthority(job.workspaceId, source, connector);
    const context = atInstance(await makeContext(deps, job.workspaceId, source, connector, signal), authority);
    const { config } = context;
    const about = { source, config, connector, sync, authority, now: deps.now() };
    const bound = await bindRun(deps.store, job.workspaceId, about);
    await removeHidden(deps, job.workspaceId, connector.connectorId);
    return await runSync({
      ...deps,
      ...bound,
      judge: (access) => narrowAccess(access, authority).access,
      judgePeople: (item) => deps.withoutUnknownPeople(item, authority),
      authority,
      isTrusted: (await deps.people?.isTrusted(job.workspaceId, connector)) ?? false,
      linkUsers: async () => deps.people?.link(job.workspaceId, connector.connectorId),
      onEndedJoins: async (joins) => deps.people?.onEnded(job.workspaceId, connector.connectorId, joins),
      store: deps.store.in(job.workspaceId),
      source,
      lease: { jobId: job.jobId, owner },
      context,
      signal,
      isOtherWaiting: () => isOtherWaiting(deps, job, sync),
      parallel: deps.parallel ?? 4,
    });
  } catch (error) {
    const { connectorId, providerId } = connector;
    const fault = findFault(error);
    if (fault) deps.faults?.note(fault, { connectorId, providerId, syncId: sync.syncId });
    else deps.log.warn({ connectorId, syncId: sync.syncId, error }, "A sync could not run");
    return { type: "failed", problem: toProblem(error) };
  }
}

/** Whether another job waits or, if this run only reads items again, another run of the same connector. */
async function isOtherWaiting({ store, now }: SyncDeps, job: ClaimedJob, sync: SyncRecord): Promise<boolean> {
  if (await store.queue.isOtherWaiting(job.jobId, now())) return true;
  if (!isReaderRun(sync)) return false;
  return (await store.in(job.workspaceId).syncs.listOpen([sync.connectorId])).length > 1;
}

/** Records the effect of the end and settles the job in the same transaction, so that no later request is missed. */
async function finish(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  end: RunEnd,
  { syncId, connectorId }: SyncRecord,
): Promise<void> {
  const { store, findSource, now, randomBytes, log, emit } = deps;
  await store.transaction(async (tx) => {
    const { connectors, syncs, access, itemWrites } = tx.in(job.workspaceId);
    const [connector, sync] = [await connectors.find(connectorId), await syncs.find(syncId)];
    let resumeAt: number | undefined;
    if (connector && sync && sync.finishedAt === null) {
      const random = (randomBytes(1)[0] ?? 0) / 255;
      const after = endEffects(end, sync, connector, { now: now(), random });
      if (!after) return;
      const { parentMissing } = await itemWrites.countHiddenChildren(connectorId);
      const note = end.type === "done" ? noteOnNobodys(await itemWrites.countNobodys(connectorId)) : undefined;
      const strangers = end.type === "done" ? noteOnStrangers(end.strangers) : undefined;
      const problem = after.sync.problem ?? note ?? strangers;
      await syncs.update(syncId, {
        ...after.sync,
        ...defined({ problem }),
        counts: { ...sync.counts, parentMissing },
      });
      await reportEnd(emit, tx, job.workspaceId, connector, syncId);
      const source = await findSource(connector.providerId);
      const age = { now: now(), maxAclAgeMs: await access.maxAclAgeMs() };
      const proof = end.type === "done" && source ? afterProof(source.spec, connector, sync, age) : {};
      await connectors.update(connectorId, { ...after.connector, ...proof });
      // A connector's state and the age of its permissions decide who sees its items.
      if (after.connector.state !== undefined) await access.raiseEpoch();
      if (end.type === "done") await listAgain({ tx, now, randomBytes }, job.workspaceId, connector);
      // A full listing with this error would fail the same way again, so it waits for its next turn, as after any
      // failure.
      if (problem?.code === "cursor_expired" && sync.mode !== "full" && after.connector.state === "active") {
        const wish = { trigger: sync.trigger, mode: "full", now: now(), randomBytes } as const;
        await requestSync(tx, job.workspaceId, connector, wish);
      }
      if (isReaderRun(sync) && after.sync.finishedAt !== undefined && end.type !== "done") {
        await chooseAgain(tx.in(job.workspaceId), sync);
      }
      if (end.type === "done" && source?.sessions) {
        await requestReadAgain(deps, tx, job.workspaceId, { ...connector, ...after.connector });
      }
      await syncs.trim(connectorId, RUNS_KEPT);
      log.info({ connectorId, syncId, state: after.sync.state, counts: sync.counts }, "A sync ended");
      resumeAt = after.resumeAt;
    }
    const waiting = await syncs.listOpen([connectorId]);
    const nextAt = resumeAt ?? Math.min(...waiting.map((open) => open.resumeAt ?? now()));
    const usual = end.type === "stopped" ? SLICE_PRIORITY : USUAL_PRIORITY;
    const priority = waiting.every(isReaderRun) ? UPKEEP_PRIORITY : usual;
    if (resumeAt !== undefined || waiting.length > 0) await tx.queue.giveBack(job.jobId, owner, nextAt, priority);
    else await tx.queue.finish(job.jobId, owner);
  });
}

/** The number of items that one run lists again. */
const RELIST_AT_ONCE = 500;
/** Content that is being changed is read again after this time, which gets longer with each try. */
const RELIST_AFTER_MS = 5_000;

/** Requests a run of the items whose content had another version than the listed one. */
async function listAgain(
  { tx, now, randomBytes }: Pick<SyncDeps, "now" | "randomBytes"> & { tx: Store },
  workspaceId: string,
  connector: ConnectorRecord,
): Promise<void> {
  const { externalIds, tries } = await tx
    .in(workspaceId)
    .itemWrites.takeRelisted(connector.connectorId, RELIST_AT_ONCE);
  if (externalIds.length === 0) return;
  const notBefore = now() + RELIST_AFTER_MS * 2 ** tries;
  const wish = { trigger: "watch", mode: "items", items: externalIds, notBefore } as const;
  await requestSync(tx, workspaceId, connector, { ...wish, now: now(), randomBytes });
}

function requireConnectorId(job: ClaimedJob): string {
  const connectorId = job.payload["connectorId"];
  if (connectorId === undefined) throw new Error(`The job ${job.jobId} names no connector.`);
  return connectorId;
}
