import { assertNever } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import type { PeopleFirst, SyncRecord } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/store.ts";
import { syncJobKey } from "#server/sync/request.ts";

/** A run that waits looks again after this time, should nobody have told it that it may begin. */
export const LOOK_AGAIN_MS = 30_000;

const CANCELLED: SourceProblem = {
  code: "source_error",
  message: "Reading people and groups was cancelled, so permissions are as old as before.",
};
const GONE: SourceProblem = {
  code: "source_error",
  message: "The reading of people and groups is no longer on record, so permissions may be as old as before.",
};

/**
 * What became of the reading of users and groups that goes before a run. One that the provider makes wait is not waited for:
 * the run goes on without, and says so.
 */
export async function lookAtPeople(
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

/** Lets begin what waits for users and groups; call it in the transaction in which their reading ends, or has to wait. */
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
