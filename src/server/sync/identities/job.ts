import { ApiError } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import { defined } from "#core/defined.ts";
import type { PeopleRefusal } from "#storage/batch/people-batch.ts";
import { backOffMs, type ClaimedJob } from "#storage/records/queue.ts";
import { NO_COUNTS, type SyncRecord } from "#storage/records/syncs.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/store.ts";
import type { SourceContext } from "#sources/contract.ts";
import { type LimitSpec, PER_MINUTE } from "#sources/http-contract.ts";
import { bind } from "#server/sync/binding.ts";
import { atInstance, makeContext, type SyncDeps } from "#server/sync/context.ts";
import { type JobEnd, type JobSignals, readAgain } from "#server/sync/jobs.ts";
import { noteOnStrangers, toProblem } from "#server/sync/problem.ts";
import { GIVEN_UP, MAX_ATTEMPTS, nextSyncState } from "#server/sync/state.ts";
import { tellEnd } from "#server/sync/tell.ts";
import type { StopReason } from "#server/sync/run.ts";
import { isMirror } from "#server/sync/clocks.ts";
import { LEAST_INTERVAL_MS } from "./request.ts";
import { runIdentities } from "./run.ts";

const RUNS_KEPT = 100;
const RETRY_MS = 60_000;
const MAY_RUN: ReadonlySet<ConnectorRecord["state"]> = new Set(["active", "error"]);

type Outcome = (
  | { type: "done"; isComplete: boolean }
  | { type: "failed"; problem: SourceProblem }
  | { type: "stopped"; reason: StopReason }
  | { type: "superseded"; reason: PeopleRefusal }
) &
  Sent;

/** Requests that this attempt has sent to the provider, and how many there may be a minute. */
interface Sent {
  requests: number;
  perMinute: number;
}

/** Does the next run of identities of a connector. Several follow each other; a failed one is tried again later. */
export async function runIdentitiesJob(
  deps: SyncDeps,
  job: ClaimedJob,
  owner: string,
  { signal, onSync }: JobSignals,
): Promise<JobEnd> {
  const connectorId = job.payload["connectorId"] ?? "";
  const started = await start(deps, job, connectorId);
  if (started === undefined) return { type: "done" };
  if ("at" in started) return { type: "again", at: started.at };
  const { connector, sync } = started;
  onSync(sync.syncId);
  const outcome = await perform(deps, job, owner, started, signal);
  if (outcome.type === "superseded") {
    // A lost lease means that another worker has it.
    return outcome.reason === "lease_lost" ? { type: "settled" } : { type: "again", at: deps.now() + RETRY_MS };
  }
  return finish(deps, job, { connector, sync, outcome });
}

interface Started {
  connector: ConnectorRecord;
  sync: SyncRecord;
}

async function start(
  { store, now, randomBytes, emit }: SyncDeps,
  job: ClaimedJob,
  connectorId: string,
): Promise<Started | { at: number } | undefined> {
  return store.transaction(async (tx) => {
    const { connectors, syncs } = tx.in(job.workspaceId);
    const connector = await connectors.find(connectorId);
    for (const sync of await syncs.listOpenIdentities(connectorId)) {
      const isWanted = connector && MAY_RUN.has(connector.state) && sync.cancelRequestedAt === null;
      if (isWanted && sync.resumeAt !== null && sync.resumeAt > now()) return { at: sync.resumeAt };
      // Still "running": its worker died over it.
      const attempt = sync.attempt + (sync.state === "running" || sync.attempt === 0 ? 1 : 0);
      if (!isWanted || attempt > MAX_ATTEMPTS) {
        const problem = isWanted ? GIVEN_UP : null;
        const state = nextSyncState(sync.state, problem ? "fail" : "stop");
        await syncs.update(sync.syncId, { state, problem, finishedAt: now() });
        if (connector) await tellEnd(emit, tx, job.workspaceId, connector, sync.syncId);
        if (problem && sync.items === null) {
          const wait = backOffMs(sync.attempt, (randomBytes(1)[0] ?? 0) / 255);
          await connectors.scheduleIdentities(connectorId, now() + wait);
        }
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
      await syncs.update(sync.syncId, patch);
      return { connector, sync: { ...sync, ...patch } };
    }
    return undefined;
  });
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
      const message = `This server has no source "${connector.providerId}" that knows people.`;
      throw new ApiError("provider_unavailable", { message });
    }
    const { people } = deps;
    const authority = await deps.loadAuthority(workspaceId, source, connector);
    const { connectorId } = connector;
    const context = atInstance(await makeContext(deps, workspaceId, source, connector, signal), authority);
    const { config } = context;
    http = context.http;
    limits = source.spec.limits ?? {};
    // The cursor of groups and users is somebody's too.
    const bound = await bind(deps.store, workspaceId, { source, config, connector, authority, now: deps.now() });
    if (bound && source.sync) await readAgain(deps, deps.store, workspaceId, bound);
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
      teller: {
        connectorId,
        toldIn: "identities",
        isTrusted: await people.isTrusted(workspaceId, connector),
        runId:
          (mode === "whole" ? await findRunToFinish(store, connectorId, deps.now() - restMs) : undefined) ??
          sync.syncId,
        mode,
        job: { jobId: job.jobId, leaseOwner: owner },
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
    deps.log.warn({ connectorId: connector.connectorId, syncId: sync.syncId, error }, "Identities could not be read");
    return { type: "failed", problem: toProblem(error), ...sent() };
  }
}

/**
 * The whole run that this one goes on with: it read a part of everything, and then the provider could not be reached. What
 * failed otherwise might fail there again, and what began long ago is read again anyway.
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

async function finish(
  { store, now, randomBytes, log, emit }: SyncDeps,
  job: ClaimedJob,
  { connector, sync, outcome }: Started & { outcome: Exclude<Outcome, { type: "superseded" }> },
): Promise<JobEnd> {
  const { connectorId } = connector;
  return store.transaction(async (tx): Promise<JobEnd> => {
    const { connectors, syncs, sourcePeople, access } = tx.in(job.workspaceId);
    const today = await syncs.find(sync.syncId);
    if (!today || today.finishedAt !== null) return { type: "done" };
    // Of all attempts together.
    const requests = (today.counts.requests ?? 0) + outcome.requests;
    const counts = { ...today.counts, requests };
    if (outcome.type === "stopped" && outcome.reason === "give_back" && today.state === "running") {
      await syncs.update(sync.syncId, { state: nextSyncState(today.state, "give_back"), counts });
      return { type: "again", at: now() };
    }
    if (outcome.type === "failed" && outcome.problem.code === "rate_limited" && today.state === "running") {
      // The same run goes on: a new one would begin at the beginning.
      const resumeAt = now() + Math.max(1_000, outcome.problem.retryAfterMs ?? RETRY_MS);
      await syncs.update(sync.syncId, {
        state: nextSyncState(today.state, "wait"),
        resumeAt,
        problem: outcome.problem,
        counts,
      });
      return { type: "again", at: resumeAt };
    }
    // What came after it is lost: the next run reads everything.
    if (outcome.type === "failed" && outcome.problem.code === "cursor_expired") await sourcePeople.restart(connectorId);
    const finishedAt = now();
    const patch = afterOf(outcome, { ...today, counts });
    await syncs.update(sync.syncId, { ...patch, finishedAt });
    await tellEnd(emit, tx, job.workspaceId, connector, sync.syncId);
    await syncs.trimIdentities(connectorId, RUNS_KEPT);
    if (sync.items === null) {
      const maxAclAgeMs = await access.maxAclAgeMs();
      const nextRunAt =
        finishedAt + pauseAfter({ ...outcome, requests }, sync, { finishedAt, maxAclAgeMs, randomBytes });
      await connectors.scheduleIdentities(connectorId, nextRunAt);
    }
    log.info({ connectorId, syncId: sync.syncId, state: patch.state, counts: patch.counts }, "Identities were read");
    const isMoreWaiting = (await syncs.listOpenIdentities(connectorId)).length > 0;
    return isMoreWaiting ? { type: "again", at: finishedAt } : { type: "done" };
  });
}

function pauseAfter(
  outcome: Outcome,
  { startedAt, attempt }: SyncRecord,
  { finishedAt, maxAclAgeMs, randomBytes }: Pick<SyncDeps, "randomBytes"> & { finishedAt: number; maxAclAgeMs: number },
): number {
  if (outcome.type !== "failed") return restAfter(outcome, finishedAt - (startedAt ?? finishedAt), maxAclAgeMs);
  const wait = backOffMs(attempt, (randomBytes(1)[0] ?? 0) / 255);
  return Math.max(wait, outcome.problem.retryAfterMs ?? 0);
}

/**
 * How long a run rests: four times as long as it read, and until its requests are less than a third of what the credential
 * may send, since syncs send by it too. No longer than half of the age at which permissions are not believed any more.
 */
export function restAfter({ requests, perMinute }: Sent, tookMs: number, maxAclAgeMs: number): number {
  const budgetMs = (requests / (perMinute * BUDGET_SHARE)) * 60_000 - tookMs;
  return Math.max(LEAST_INTERVAL_MS, 4 * tookMs, Math.min(budgetMs, maxAclAgeMs / 2 - tookMs));
}

/** What runs of groups and users may take of the requests of a credential. */
const BUDGET_SHARE = 0.3;

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
        state: nextSyncState(sync.state, outcome.isComplete ? "succeed" : "part"),
        problem: noteOnStrangers(sync.counts.skipped) ?? null,
        counts: sync.counts,
      };
  }
}
