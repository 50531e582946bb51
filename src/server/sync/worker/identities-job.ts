import { findFault } from "#core/faults.ts";
import { ApiError } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import { defined } from "#core/defined.ts";
import type { PeopleRefusal } from "#storage/people-batch.ts";
import { backOffMs, type ClaimedJob } from "#storage/records/queue.ts";
import { NO_COUNTS, type SyncRecord } from "#storage/records/syncs.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import type { SourceContext } from "#sources/context.ts";
import { type LimitSpec, PER_MINUTE } from "#sources/http-contract.ts";
import { bind } from "#server/sync/binding.ts";
import { atInstance, type JobEnd, makeContext, type SyncDeps } from "#server/sync/deps.ts";
import { type JobSignals, readAgain } from "./jobs.ts";
import { noteOnStrangers, noteOnUnread, toProblem } from "#server/sync/problem.ts";
import { GIVEN_UP, MAX_ATTEMPTS, MAY_RUN, nextSyncState } from "#server/sync/state.ts";
import { reportEnd } from "./report-end.ts";
import type { StopReason } from "#server/sync/run/run.ts";
import { isMirror } from "#server/sync/clocks.ts";
import { wakeWaiting } from "#server/sync/people/people-first.ts";
import { LEAST_INTERVAL_MS, paidAfter, restAfter, type Sent } from "#server/sync/schedule/identity-intervals.ts";
import { runIdentities } from "#server/sync/people/run.ts";

const RUNS_KEPT = 100;
const RETRY_MS = 60_000;

type Outcome = (
  | { type: "done"; isComplete: boolean; unread: number }
  | { type: "failed"; problem: SourceProblem }
  | { type: "stopped"; reason: StopReason }
  | { type: "superseded"; reason: PeopleRefusal }
) &
  Sent;

/**
 * Does a connector's next run of groups and users, either of everything or of the groups that notifications name. Runs
 * of one kind follow each other. A failed run is tried again later.
 */
export async function runIdentitiesJob(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  { signal, onSync }: JobSignals,
): Promise<JobEnd> {
  const connectorId = job.payload["connectorId"] ?? "";
  const started = await start(deps, job, owner, connectorId);
  if (started === undefined) return { type: "settled" };
  const { connector, sync } = started;
  onSync(sync.syncId);
  const outcome = await perform(deps, job, owner, started, signal);
  if (outcome.type === "superseded") {
    // A lost lease means that another worker has the job.
    if (outcome.reason === "lease_lost") return { type: "settled" };
    // Another run has ended in the meantime, or the config has changed, so this run starts over.
    const isOvertaken = outcome.reason === "overtaken" || outcome.reason === "scope_changed";
    return { type: "again", at: deps.now() + (isOvertaken ? 0 : RETRY_MS) };
  }
  await finish(deps, job, owner, { connector, sync, outcome });
  return { type: "settled" };
}

interface Started {
  connector: ConnectorRecord;
  sync: SyncRecord;
}

/** Returns the runs of this job that aren't over. */
async function listOpen({ syncs }: WorkspaceStore, { type }: ClaimedJob, connectorId: string): Promise<SyncRecord[]> {
  const open = await syncs.listOpenIdentities(connectorId);
  return open.filter(({ items }) => (items !== null) === (type === "told_groups"));
}

/** Starts the next run; undefined if none is due, and then the job is settled too. */
async function start(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  connectorId: string,
): Promise<Started | undefined> {
  const { now } = deps;
  return deps.store.transaction(async (tx) => {
    const workspace = tx.in(job.workspaceId);
    const connector = await workspace.connectors.find(connectorId);
    let resumeAt = Infinity;
    for (const sync of await listOpen(workspace, job, connectorId)) {
      const isWanted = connector && MAY_RUN.has(connector.state) && sync.cancelRequestedAt === null;
      if (isWanted && sync.resumeAt !== null && sync.resumeAt > now()) {
        resumeAt = Math.min(resumeAt, sync.resumeAt);
        continue;
      }
      // A run that is still "running" lost its worker.
      const attempt = sync.attempt + (sync.state === "running" || sync.attempt === 0 ? 1 : 0);
      if (!isWanted || attempt > MAX_ATTEMPTS) {
        await giveUp(deps, tx, job, { connector, connectorId, sync, problem: isWanted ? GIVEN_UP : null });
        continue;
      }
      const patch = {
        state: nextSyncState(sync.state, "start"),
        attempt,
        startedAt: sync.startedAt ?? now(),
        resumeAt: null,
        problem: null,
        ...(sync.startedAt === null && { counts: NO_COUNTS }),
      };
      await workspace.syncs.update(sync.syncId, patch);
      return { connector, sync: { ...sync, ...patch } };
    }
    // This happens in the same transaction, so that a later request adds a new job.
    if (resumeAt === Infinity) await tx.queue.finish(job.jobId, owner);
    else await tx.queue.giveBack(job.jobId, owner, resumeAt);
    return undefined;
  });
}

/** Ends an unfinished run that no one needs any more, or whose worker died too often. */
async function giveUp(
  { now, randomBytes, emit }: SyncDeps,
  tx: Store,
  { workspaceId }: ClaimedJob,
  about: {
    connector: ConnectorRecord | undefined;
    connectorId: string;
    sync: SyncRecord;
    problem: SourceProblem | null;
  },
): Promise<void> {
  const { connector, connectorId, sync, problem } = about;
  const { identitySchedules, syncs } = tx.in(workspaceId);
  const state = nextSyncState(sync.state, problem ? "fail" : "stop");
  await syncs.update(sync.syncId, { state, problem, finishedAt: now() });
  if (connector) await reportEnd(emit, tx, workspaceId, connector, sync.syncId);
  await wakeWaiting(tx, workspaceId, connectorId, now());
  if (problem === null || sync.items !== null) return;
  const wait = backOffMs(sync.attempt, (randomBytes(1)[0] ?? 0) / 255);
  await identitySchedules.set(connectorId, now() + wait);
}

async function perform(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  { connector, sync }: Started,
  signal: AbortSignal,
): Promise<Outcome> {
  const { workspaceId } = job;
  const store = deps.store.in(workspaceId);
  let limits: LimitSpec = {};
  let http: SourceContext<unknown>["http"] | undefined;
  const sent = (): Sent => ({ requests: http?.sent ?? 0, perMinute: limits.perMinute ?? PER_MINUTE });
  try {
    const source = await deps.findSource(connector.providerId);
    if (!source?.syncIdentities || !deps.people) {
      const message = `This server has no source "${connector.providerId}" that reads people.`;
      throw new ApiError("provider_unavailable", { message });
    }
    const { people } = deps;
    const authority = await deps.loadAuthority(workspaceId, source, connector);
    const { connectorId } = connector;
    const context = atInstance(await makeContext(deps, workspaceId, source, connector, signal), authority);
    const { config } = context;
    http = context.http;
    limits = source.spec.limits ?? {};
    // The cursor of groups and users belongs to one account, too.
    const bound = await bind(deps.store, workspaceId, { source, config, connector, authority, now: deps.now() });
    if (bound && source?.sessions) await readAgain(deps, deps.store, workspaceId, bound);
    const { wholeAt } = await store.sourcePeople.summaryOf(connectorId);
    const maxAclAgeMs = await store.access.maxAclAgeMs();
    const restMs = Math.max(0, maxAclAgeMs / 2 - LEAST_INTERVAL_MS);
    const isWhole = wholeAt === null || deps.now() - wholeAt >= restMs;
    const mode = sync.items ? "groups" : isWhole ? "whole" : "changes";
    const end = await runIdentities({
      store,
      source,
      context,
      authority,
      syncId: sync.syncId,
      reporter: {
        connectorId,
        toldIn: "identities",
        isTrusted: await people.isTrusted(workspaceId, connector),
        runId:
          (mode === "whole" ? await findRunToFinish(store, connectorId, deps.now() - restMs) : undefined) ??
          sync.syncId,
        mode,
        job: { jobId: job.jobId, leaseOwner: owner },
        scopeVersion: connector.scopeVersion,
        maxAclAgeMs,
        ...(!isMirror(source.spec) && { neverAges: true }),
      },
      ...defined({ groups: sync.items ?? undefined }),
      dueBefore: deps.now() - restMs,
      now: deps.now,
      signal,
      onEnded: (joins) => people.onEnded(workspaceId, connectorId, joins),
    });
    if (end.type === "superseded") return { ...end, ...sent() };
    await people.link(workspaceId, connectorId);
    return { ...end, ...sent() };
  } catch (error) {
    if (signal.aborted) return { type: "stopped", reason: signal.reason as StopReason, ...sent() };
    const { connectorId, providerId } = connector;
    const fault = findFault(error);
    if (fault) deps.faults?.note(fault, { connectorId, providerId, syncId: sync.syncId });
    else deps.log.warn({ connectorId, syncId: sync.syncId, error }, "Identities could not be read");
    return { type: "failed", problem: toProblem(error), ...sent() };
  }
}

/**
 * Finds the whole run that this run continues, which had read part of everything when the provider became unreachable.
 * A run that failed for another reason might fail at the same position again, and a run that began long ago is read
 * again anyway.
 */
async function findRunToFinish(
  { sourcePeople, syncs }: WorkspaceStore,
  connectorId: string,
  begunAfter: number,
): Promise<string | undefined> {
  const runId = await sourcePeople.findUnfinished(connectorId);
  const before = runId === undefined ? undefined : await syncs.find(runId);
  const isRecent = before !== undefined && (before.startedAt ?? 0) > begunAfter;
  return isRecent && before.state === "failed" && before.problem?.code === "unreachable" ? runId : undefined;
}

/** Records the effect of the end and settles the job in the same transaction, so that no later request is missed. */
async function finish(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  { connector, sync, outcome }: Started & { outcome: Outcome & { type: "done" | "failed" | "stopped" } },
): Promise<void> {
  const { now, log, emit } = deps;
  const { connectorId } = connector;
  await deps.store.transaction(async (tx) => {
    const workspace = tx.in(job.workspaceId);
    const { syncs, sourcePeople } = workspace;
    const today = await syncs.find(sync.syncId);
    if (!today || today.finishedAt !== null) return settle(deps, tx, job, owner);
    // The sum over all attempts.
    const requests = (today.counts.requests ?? 0) + outcome.requests;
    const counts = { ...today.counts, requests };
    if (outcome.type === "stopped" && outcome.reason === "give_back" && today.state === "running") {
      await syncs.update(sync.syncId, { state: nextSyncState(today.state, "give_back"), counts });
      return settle(deps, tx, job, owner);
    }
    if (outcome.type === "failed" && outcome.problem.code === "rate_limited" && today.state === "running") {
      // The same run continues. A new run would start from the beginning.
      const resumeAt = now() + Math.max(1_000, outcome.problem.retryAfterMs ?? RETRY_MS);
      const state = nextSyncState(today.state, "wait");
      await syncs.update(sync.syncId, { state, resumeAt, problem: outcome.problem, counts });
      await wakeWaiting(tx, job.workspaceId, connectorId, now());
      return settle(deps, tx, job, owner);
    }
    // The changes after the cursor are lost, so the next run reads everything.
    if (outcome.type === "failed" && outcome.problem.code === "cursor_expired") await sourcePeople.restart(connectorId);
    const patch = afterOf(outcome, { ...today, counts });
    await syncs.update(sync.syncId, { ...patch, finishedAt: now() });
    await reportEnd(emit, tx, job.workspaceId, connector, sync.syncId);
    await syncs.trimIdentities(connectorId, RUNS_KEPT);
    await schedule(deps, workspace, connector, { sync, outcome: { ...outcome, requests } });
    await wakeWaiting(tx, job.workspaceId, connectorId, now());
    log.info({ connectorId, syncId: sync.syncId, state: patch.state, counts: patch.counts }, "Identities were read");
    return settle(deps, tx, job, owner);
  });
}

async function settle({ now }: SyncDeps, tx: Store, job: ClaimedJob, owner: string): Promise<void> {
  const open = await listOpen(tx.in(job.workspaceId), job, job.payload["connectorId"] ?? "");
  const nextAt = Math.min(...open.map(({ resumeAt }) => resumeAt ?? now()));
  if (open.length > 0) await tx.queue.giveBack(job.jobId, owner, nextAt);
  else await tx.queue.finish(job.jobId, owner);
}

/** Schedules the next run, and records how much of the notifications' share this run used. */
async function schedule(
  { now, randomBytes, findSource }: SyncDeps,
  { access, identitySchedules }: WorkspaceStore,
  { connectorId, providerId }: ConnectorRecord,
  { sync, outcome }: { sync: SyncRecord; outcome: Outcome },
): Promise<void> {
  if (sync.trigger === "webhook") {
    const { paidUntil } = await identitySchedules.paceOf(connectorId);
    await identitySchedules.setPace(connectorId, { paidUntil: paidAfter(paidUntil, outcome, now()) });
  }
  if (sync.items !== null) return;
  const source = await findSource(providerId);
  const about = {
    finishedAt: now(),
    maxAclAgeMs: await access.maxAclAgeMs(),
    isMirror: source !== undefined && isMirror(source.spec),
    randomBytes,
  };
  await identitySchedules.set(connectorId, now() + pauseAfter(outcome, sync, about));
}

function pauseAfter(
  outcome: Outcome,
  { startedAt, attempt }: SyncRecord,
  about: Pick<SyncDeps, "randomBytes"> & { finishedAt: number; maxAclAgeMs: number; isMirror: boolean },
): number {
  const { finishedAt, randomBytes } = about;
  if (outcome.type !== "failed") return restAfter(outcome, finishedAt - (startedAt ?? finishedAt), about);
  const wait = backOffMs(attempt, (randomBytes(1)[0] ?? 0) / 255);
  return Math.max(wait, outcome.problem.retryAfterMs ?? 0);
}

function afterOf(
  outcome: Exclude<Outcome, { type: "superseded" }>,
  sync: SyncRecord,
): Pick<SyncRecord, "state" | "problem" | "counts"> {
  switch (outcome.type) {
    case "stopped":
      return { state: nextSyncState(sync.state, "stop"), problem: null, counts: sync.counts };
    case "failed":
      return { state: nextSyncState(sync.state, "fail"), problem: outcome.problem, counts: sync.counts };
    case "done":
      return {
        state: nextSyncState(sync.state, isWhole(outcome, sync) ? "succeed" : "part"),
        problem: noteOnUnread(outcome.unread) ?? noteOnStrangers(sync.counts.skipped) ?? null,
        counts: sync.counts,
      };
  }
}

/** Whether everything requested was read. A run of selected groups never has a complete listing. */
function isWhole({ isComplete, unread }: Outcome & { type: "done" }, { items }: SyncRecord): boolean {
  return (isComplete || items !== null) && unread === 0;
}
