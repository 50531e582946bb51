import { describe, test } from "vitest";
import {
  type ConnectorEvent,
  healthAfterRun,
  nextConnectorState,
  nextSyncState,
  outcomeOf,
  type SyncStateEvent,
} from "#server/sync/state.ts";
import { CONNECTOR_STATES } from "#storage/tables/connectors.ts";
import { backOffMs } from "#storage/records/queue.ts";
import { SYNC_STATES } from "#storage/records/syncs.ts";

const NO = "-";

function table<State extends string, Event extends string>(
  states: readonly State[],
  events: readonly Event[],
  next: (state: State, event: Event) => string,
) {
  return states.map((state) => {
    const row = events.map((event) => {
      try {
        return next(state, event);
      } catch {
        return NO;
      }
    });
    return `${state}: ${row.join(" ")}`;
  });
}

describe("states", () => {
  test("of a connector follow its table, and everything else is refused", ({ expect }) => {
    const events: ConnectorEvent[] = [
      "connected",
      "run_succeeded",
      "run_failed_often",
      "access_lost",
      "unusable",
      "pause",
      "resume",
      "delete",
    ];
    expect(table(CONNECTOR_STATES, events, nextConnectorState)).toEqual([
      "pending_auth: active - - - - - - deleting",
      "active: active active error needs_reauth error paused active deleting",
      "paused: - - - - - paused active deleting",
      "needs_reauth: active active needs_reauth needs_reauth - - - deleting",
      "needs_owner: active - - - - - - deleting",
      "error: active active error needs_reauth error paused active deleting",
      "deleting: - - - - - - - deleting",
    ]);
  });

  test("of a run follow its table; a run that is over stays so", ({ expect }) => {
    const events: SyncStateEvent[] = ["start", "wait", "give_back", "cancel", "stop", "succeed", "part", "fail"];
    expect(table(SYNC_STATES, events, nextSyncState)).toEqual([
      "queued: running - - cancelled cancelled - - failed",
      "running: running waiting queued cancelling cancelled succeeded partial failed",
      "waiting: running - - cancelled cancelled - - failed",
      "cancelling: - cancelled cancelled cancelling cancelled succeeded partial failed",
      "succeeded: - - - - - - - -",
      "partial: - - - - - - - -",
      "failed: - - - - - - - -",
      "cancelled: - - - - - - - -",
    ]);
  });

  test("a refused change says what to do", ({ expect }) => {
    expect(() => nextConnectorState("paused", "run_succeeded")).toThrow(
      expect.objectContaining({ code: "connector_state_conflict", hint: "Resume it first." }),
    );
    expect(() => nextSyncState("failed", "cancel")).toThrow(expect.objectContaining({ code: "sync_not_running" }));
  });
});

describe("how a run went", () => {
  const counts = (upserted: number, failed: number, skipped = 0) => ({
    seen: upserted + failed,
    upserted,
    unchanged: 0,
    deleted: 0,
    skipped,
    failed,
    bytes: 0,
    parentMissing: 0,
  });

  test.for([
    [100, 0, "succeeded"],
    [99, 1, "partial"],
    [50, 50, "partial"],
    [49, 51, "failed"],
    [0, 99, "partial"],
    [0, 100, "failed"],
    [0, 0, "succeeded"],
  ] as const)("%i stored and %i failed is %s", ([upserted, failed, outcome], { expect }) => {
    expect(outcomeOf(counts(upserted, failed, 7))).toBe(outcome);
  });

  test("a problem with the credentials or the config counts at once, others at the fifth time", ({ expect }) => {
    const after = (code: string, failures = 0) =>
      healthAfterRun({ state: "active", consecutiveFailures: failures }, "failed", code).state;
    expect([after("auth_required"), after("config"), after("forbidden"), after("unreachable")]).toEqual([
      "needs_reauth",
      "error",
      "error",
      "active",
    ]);
    expect([after("unreachable", 3), after("unreachable", 4)]).toEqual(["active", "error"]);
    const paused = { state: "paused", consecutiveFailures: 0 } as const;
    expect(healthAfterRun(paused, "succeeded").state).toBe("paused");
    expect(healthAfterRun(paused, "failed", "config").state).toBe("paused");
  });

  test("waits grow from a minute to six hours and are spread by a quarter", ({ expect }) => {
    expect([1, 2, 3, 20].map((failures) => backOffMs(failures, 0.5))).toEqual([60_000, 120_000, 240_000, 21_600_000]);
    expect([backOffMs(1, 0), backOffMs(1, 1)]).toEqual([45_000, 75_000]);
  });
});
