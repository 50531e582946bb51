import { syncJobKey } from "#server/sync/schedule/request.ts";
import { CONNECTOR, type Harness, withBatches, WORKSPACE } from "./harness.ts";

class Killed extends Error {}

/** The end of a worker, told from within its source: from now on it stores nothing. */
export function die(life: { isOver: boolean }): never {
  life.isOver = true;
  throw new Killed();
}

/**
 * A worker that dies over the run: of it remains what it has stored, and time flew, so that this is nearly all of it. It
 * says nothing of its end: the run's state stays as it was, and another worker may take its job.
 */
export async function killDuring(kb: Harness, syncId: string, life: { isOver: boolean }): Promise<void> {
  life.isOver = false;
  const { syncs } = kb.store.in(WORKSPACE);
  const store = withBatches(kb.store, () => !life.isOver);
  await kb.makeWorker({ store, now: () => (kb.clock.now += 2_000) }).runUntilIdle();
  kb.clock.now += 60_000;
  if ((await syncs.find(syncId))?.state !== "failed") return;
  await syncs.update(syncId, { state: "running", finishedAt: null, problem: null });
  await kb.store.transaction((tx) =>
    tx.queue.enqueue({
      workspaceId: WORKSPACE,
      type: "sync",
      dedupeKey: syncJobKey(CONNECTOR),
      payload: { connectorId: CONNECTOR },
      priority: 10,
      runAt: kb.clock.now,
    }),
  );
}
