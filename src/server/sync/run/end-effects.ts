import { assertNever } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import type { ConnectorPatch, ConnectorRecord } from "#storage/records/connectors.ts";
import { backOffMs } from "#storage/records/queue.ts";
import type { SyncPatch, SyncRecord } from "#storage/records/syncs.ts";
import type { SourceSpec } from "#sources/contract.ts";
import type { Believing } from "#storage/access/clocks.ts";
import { proofDueAt } from "#server/sync/clocks.ts";
import type { RunEnd } from "./run.ts";
import { isReaderRun } from "#server/sync/schedule/read-again.ts";
import { healthAfterRun, nextSyncState, outcomeOf } from "#server/sync/state.ts";

/** The changes to a run and its connector when the run ends. */
export interface EndEffects {
  sync: SyncPatch;
  connector: ConnectorPatch;
  /** When the connector's job is due again. Undefined if another run follows. */
  resumeAt?: number;
}

/**
 * Computes the effect of a run's end on the run and on its connector as they are stored now. `random` 0–1 spreads the
 * retries. Returns undefined for a run that another worker has taken over, because nothing may be changed then.
 */
export function endEffects(
  end: RunEnd,
  sync: SyncRecord,
  connector: ConnectorRecord,
  at: { now: number; random: number },
): EndEffects | undefined {
  const after = afterRun(end, sync, connector, at);
  // Only runs that check for changes affect a connector's health.
  return after && isReaderRun(sync) ? { ...after, connector: {} } : after;
}

function afterRun(
  end: RunEnd,
  sync: SyncRecord,
  connector: ConnectorRecord,
  { now, random }: { now: number; random: number },
): EndEffects | undefined {
  switch (end.type) {
    case "done":
      return afterEnd(end, sync, connector, now, random);
    case "failed":
      return afterFailure(end.problem, sync, connector, now, random);
    case "waiting": {
      const resumeAt = now + Math.max(1_000, end.retryAfterMs);
      const state = nextSyncState(sync.state, "wait");
      if (state !== "waiting") return { sync: over(state, now), connector: {} };
      return { sync: { state, resumeAt, problem: end.problem }, connector: {}, resumeAt };
    }
    case "stopped": {
      const state = nextSyncState(sync.state, end.reason === "cancel" ? "stop" : "give_back");
      if (state === "queued") return { sync: { state }, connector: {}, resumeAt: now };
      return { sync: over(state, now), connector: {} };
    }
    case "superseded":
      // The change of scope has queued a new run. A lost lease means that another worker has this run.
      if (end.reason === "lease_lost") return undefined;
      return { sync: over(nextSyncState(sync.state, "stop"), now), connector: {} };
    default:
      return assertNever(end);
  }
}

function afterEnd(
  { isComplete, problem, goesOn }: Extract<RunEnd, { type: "done" }>,
  sync: SyncRecord,
  connector: ConnectorRecord,
  now: number,
  random: number,
): EndEffects {
  const outcome = outcomeOf(sync.counts);
  // Items that could not be read before are expected to fail again.
  if (outcome === "failed" && !isReaderRun(sync)) {
    const message = `${sync.counts.failed} items could not be read, more than half of those tried.`;
    return afterFailure({ code: "source_error", message }, sync, connector, now, random);
  }
  const { state, consecutiveFailures } = healthAfterRun(connector, outcome);
  const isFull = sync.mode === "full" && isComplete;
  const isPartial = outcome !== "succeeded" || problem !== undefined;
  return {
    sync: { ...over(nextSyncState(sync.state, isPartial ? "part" : "succeed"), now), problem: problem ?? null },
    connector: {
      state,
      consecutiveFailures,
      stateReason: problem?.message ?? null,
      refusedAt: null,
      ...(isFull && { lastFullAt: sync.startedAt ?? now }),
      // The source won't report the omitted items as changes again, so the next run reads everything. An unfinished
      // listing continues instead.
      ...(problem !== undefined && goesOn === undefined && { lastFullAt: null }),
      ...(goesOn !== undefined && soon(connector, state, now + backOffMs(goesOn, random))),
    },
  };
}

/**
 * Continues a large tree's listing without waiting for the schedule. If the listing doesn't end, the time between its
 * runs soon grows to that of the schedule.
 */
function soon(connector: ConnectorRecord, state: ConnectorRecord["state"], at: number): ConnectorPatch {
  return isScheduled(connector, state) ? atLatest(connector, at) : {};
}

/** Whether runs start by schedule in this state. */
function isRunning(state: ConnectorRecord["state"]): boolean {
  return state === "active" || state === "error";
}

function isScheduled({ everyMinutes }: ConnectorRecord, state: ConnectorRecord["state"]): boolean {
  return everyMinutes !== null && isRunning(state);
}

function atLatest({ nextRunAt }: ConnectorRecord, at: number): ConnectorPatch {
  return { nextRunAt: Math.min(nextRunAt ?? at, at) };
}

/** Updates when a connector that mirrors permissions must next prove them. Changes nothing for other connectors. */
export function afterProof(
  spec: Pick<SourceSpec<unknown>, "acl" | "freshness" | "placement">,
  connector: ConnectorRecord,
  { mode, startedAt }: Pick<SyncRecord, "mode" | "startedAt">,
  age: Believing,
): ConnectorPatch {
  const proofTriedAt = mode === "full" || mode === "access" ? startedAt : connector.proofTriedAt;
  const dueAt = proofDueAt(spec, { ...connector, proofTriedAt }, age);
  if (dueAt === undefined) return {};
  return { proofTriedAt, ...(isRunning(connector.state) && atLatest(connector, dueAt)) };
}

function afterFailure(
  problem: SourceProblem,
  sync: SyncRecord,
  connector: ConnectorRecord,
  now: number,
  random: number,
): EndEffects {
  const { state, consecutiveFailures } = healthAfterRun(connector, "failed", problem.code);
  return {
    sync: { ...over(nextSyncState(sync.state, "fail"), now), problem },
    connector: {
      state,
      consecutiveFailures,
      ...(problem.code === "auth_required" && { refusedAt: connector.refusedAt ?? now }),
      // The changes after the cursor are lost, and only a full listing finds them.
      ...(problem.code === "cursor_expired" && { cursor: null, lastFullAt: null }),
      stateReason: state === "active" || state === "paused" ? connector.stateReason : problem.message,
      ...(isScheduled(connector, state) && { nextRunAt: now + backOffMs(consecutiveFailures, random) }),
    },
  };
}

function over(state: SyncRecord["state"], now: number): SyncPatch {
  return { state, finishedAt: now, resumeAt: null };
}
