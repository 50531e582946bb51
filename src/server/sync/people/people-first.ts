import { assertNever } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import type { PeopleFirst, SyncRecord } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { syncJobKey } from "#server/sync/schedule/request.ts";

/** A waiting run checks again after this time, in case it missed the signal. */
export const CHECK_AGAIN_MS = 30_000;

const CANCELLED: SourceProblem = {
  code: "source_error",
  message: "Reading people and groups was cancelled, so permissions are as old as before.",
};
const GONE: SourceProblem = {
  code: "source_error",
  message: "The reading of people and groups is no longer on record, so permissions may be as old as before.",
};

/**
 * Returns the result of the reading of users and groups that comes before a run. If the provider makes that reading
 * wait, the run continues without it and reports that.
 */
export async function findPeopleFirst(
  { syncs }: Pick<WorkspaceStore, "syncs">,
  { people }: Pick<SyncRecord, "people">,
): Promise<PeopleFirst | null> {
  if (people?.state !== "waiting") return people;
  const reading = await syncs.find(people.syncId);
  if (!reading) return { ...people, state: "failed", problem: GONE };
  const { state, problem } = reading;
  switch (state) {
    case "queued":
    case "running":
    case "cancelling":
      return people;
    case "succeeded":
      return { ...people, state: "read", problem: null };
    case "partial":
      return { ...people, state: "partial", problem };
    case "waiting":
    case "failed":
      return { ...people, state: "failed", problem };
    case "cancelled":
      return { ...people, state: "failed", problem: CANCELLED };
    default:
      return assertNever(state);
  }
}

/**
 * Starts the runs that wait for users and groups. Call it in the transaction in which the reading of users and groups
 * ends or has to wait.
 */
export async function wakeWaiting(tx: Store, workspaceId: string, connectorId: string, now: number): Promise<void> {
  const open = await tx.in(workspaceId).syncs.listOpen([connectorId]);
  if (!open.some(({ people, startedAt }) => people?.state === "waiting" && startedAt === null)) return;
  await tx.queue.enqueue({
    workspaceId,
    type: "sync",
    dedupeKey: syncJobKey(connectorId),
    payload: { connectorId },
    priority: 10,
    runAt: now,
  });
}
