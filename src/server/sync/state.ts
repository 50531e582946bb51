import type { SourceProblem } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { ConnectorState } from "#storage/records/connectors.ts";
import type { SyncCounts, SyncState } from "#storage/records/syncs.ts";

/** Events that change a connector's state. */
export type ConnectorEvent =
  | "connected"
  | "run_succeeded"
  | "run_failed_often"
  | "access_lost"
  | "unusable"
  | "pause"
  | "resume"
  | "delete";

/** Events that change a run's state. */
export type SyncStateEvent = "start" | "wait" | "give_back" | "cancel" | "stop" | "succeed" | "part" | "fail";

/** Number of failed runs in a row after which a connector is in state `error`. */
export const FAILURES_TO_ERROR = 5;
/** States of a connector in which requested runs start. */
export const MAY_RUN: ReadonlySet<ConnectorState> = new Set(["active", "error", "needs_reauth"]);
/** Number of attempts of a run whose worker dies at the same position. After that, the run fails. */
export const MAX_ATTEMPTS = 5;
export const GIVEN_UP: SourceProblem = {
  code: "internal",
  message: `The server stopped ${MAX_ATTEMPTS} times while this run was at the same point.`,
};

/**
 * Returns the connector's next state.
 *
 * @throws ApiError `connector_state_conflict` when the event can't happen in this state
 */
export function nextConnectorState(state: ConnectorState, event: ConnectorEvent): ConnectorState {
  const next = CONNECTOR_TABLE[state][event];
  if (next !== undefined) return next;
  throw new ApiError("connector_state_conflict", {
    message: `The connector is "${state}", so "${event}" is not possible.`,
    hint: CONNECTOR_HINTS[state],
  });
}

/**
 * Returns the run's next state.
 *
 * @throws ApiError `sync_not_running` when the run is over or hasn't come that far
 */
export function nextSyncState(state: SyncState, event: SyncStateEvent): SyncState {
  const next = SYNC_TABLE[state][event];
  if (next !== undefined) return next;
  throw new ApiError("sync_not_running", { message: `The sync is "${state}", so "${event}" is not possible.` });
}

/**
 * Returns the outcome of a run that reached its end: `failed` if more than half of at least 100 attempted items failed,
 * `partial` if some did. Items left out for a typed reason aren't failures.
 */
export function outcomeOf(counts: SyncCounts): "succeeded" | "partial" | "failed" {
  const attempted = counts.upserted + counts.unchanged + counts.failed;
  if (attempted >= 100 && counts.failed * 2 > attempted) return "failed";
  return counts.failed > 0 ? "partial" : "succeeded";
}

export interface ConnectorHealth {
  state: ConnectorState;
  consecutiveFailures: number;
}

/** Returns a run's effect on its connector. `problemCode` is the problem code of a failed run. */
export function healthAfterRun(
  { state, consecutiveFailures }: ConnectorHealth,
  outcome: "succeeded" | "partial" | "failed",
  problemCode?: string,
): ConnectorHealth {
  // The connector was paused or deleted in the meantime, so the run no longer changes the state.
  const apply = (event: ConnectorEvent) => CONNECTOR_TABLE[state][event] ?? state;
  if (outcome !== "failed") return { state: apply("run_succeeded"), consecutiveFailures: 0 };
  const failures = consecutiveFailures + 1;
  if (problemCode === "auth_required") return { state: apply("access_lost"), consecutiveFailures: failures };
  if (problemCode === "config" || problemCode === "forbidden") {
    return { state: apply("unusable"), consecutiveFailures: failures };
  }
  if (failures < FAILURES_TO_ERROR) return { state, consecutiveFailures: failures };
  return { state: apply("run_failed_often"), consecutiveFailures: failures };
}

const CONNECTOR_TABLE: Record<ConnectorState, Partial<Record<ConnectorEvent, ConnectorState>>> = {
  pending_auth: { connected: "active", delete: "deleting" },
  active: {
    connected: "active",
    run_succeeded: "active",
    run_failed_often: "error",
    access_lost: "needs_reauth",
    unusable: "error",
    pause: "paused",
    resume: "active",
    delete: "deleting",
  },
  paused: { pause: "paused", resume: "active", delete: "deleting" },
  needs_reauth: {
    connected: "active",
    run_succeeded: "active",
    access_lost: "needs_reauth",
    run_failed_often: "needs_reauth",
    delete: "deleting",
  },
  error: {
    connected: "active",
    run_succeeded: "active",
    run_failed_often: "error",
    access_lost: "needs_reauth",
    unusable: "error",
    pause: "paused",
    resume: "active",
    delete: "deleting",
  },
  needs_owner: { connected: "active", delete: "deleting" },
  deleting: { delete: "deleting" },
};

const CONNECTOR_HINTS: Record<ConnectorState, string> = {
  pending_auth: "Connect its account first.",
  active: "See its last sync.",
  paused: "Resume it first.",
  needs_reauth: "Give it new credentials first.",
  needs_owner:
    "An admin can take it over: kb connectors update NAME --take-over, and with --credential KEY=REFERENCE if it needs credentials.",
  error: "See the reason that the connector shows.",
  deleting: "It is being deleted. Create a new one.",
};

const SYNC_TABLE: Record<SyncState, Partial<Record<SyncStateEvent, SyncState>>> = {
  queued: { start: "running", cancel: "cancelled", stop: "cancelled", fail: "failed" },
  running: {
    // After a worker died, another worker starts the run again.
    start: "running",
    wait: "waiting",
    give_back: "queued",
    cancel: "cancelling",
    stop: "cancelled",
    succeed: "succeeded",
    part: "partial",
    fail: "failed",
  },
  waiting: { start: "running", cancel: "cancelled", stop: "cancelled", fail: "failed" },
  // A run may end before it notices the request to cancel. Then its own end applies.
  cancelling: {
    cancel: "cancelling",
    wait: "cancelled",
    give_back: "cancelled",
    stop: "cancelled",
    succeed: "succeeded",
    part: "partial",
    fail: "failed",
  },
  succeeded: {},
  partial: {},
  failed: {},
  cancelled: {},
};
