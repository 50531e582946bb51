import type { RandomBytes } from "#core/clock.ts";
import { KEEP_REMOVED_MS } from "#storage/records/item-writes.ts";
import type { Store } from "#storage/store.ts";
import { requestSync } from "./request.ts";

export interface Schedule {
  /** Queues the runs that are due, the longest due first, and the upkeep. Gives how many runs it queued. */
  tick(): Promise<number>;
}

export interface ScheduleOptions {
  store: Store;
  now: () => number;
  randomBytes: RandomBytes;
}

/** Runs queued at once; the rest is taken at the next tick, a moment later. */
const DUE_AT_ONCE = 50;
const PURGE_EVERY_MS = 3_600_000;
const SWEEP_EVERY_MS = 24 * 3_600_000;
/** A server that was just started has other things to do. */
const FIRST_SWEEP_MS = 6 * 3_600_000;

/**
 * Queues what time brings: due runs of connectors, the purge of removed items once an hour, and once a day the sweep of
 * accesses that nothing has any more.
 */
export function makeSchedule({ store, now, randomBytes }: ScheduleOptions): Schedule {
  let nextPurgeAt = 0;
  let nextSweepAt = now() + FIRST_SWEEP_MS;

  async function queueRun({
    workspaceId,
    connectorId,
  }: {
    workspaceId: string;
    connectorId: string;
  }): Promise<boolean> {
    return store.transaction(async (tx) => {
      const { connectors, syncs } = tx.in(workspaceId);
      const connector = await connectors.find(connectorId);
      if (!connector || connector.everyMinutes === null || connector.nextRunAt === null) return false;
      if (connector.nextRunAt > now()) return false;
      await connectors.update(connectorId, { nextRunAt: now() + connector.everyMinutes * 60_000 });
      // A run that is still going on stands for this one.
      if ((await syncs.listOpen([connectorId])).length > 0) return false;
      await requestSync(tx, workspaceId, connector, { trigger: "schedule", now: now(), randomBytes });
      return true;
    });
  }

  async function queuePurges(): Promise<void> {
    if (now() < nextPurgeAt) return;
    nextPurgeAt = now() + PURGE_EVERY_MS;
    for (const { workspaceId } of await store.queue.listPurgeable(now() - KEEP_REMOVED_MS, DUE_AT_ONCE)) {
      await store.queue.enqueue({
        workspaceId,
        type: "purge_removed",
        dedupeKey: `purge_removed:${workspaceId}`,
        payload: {},
        priority: 30,
        runAt: now(),
      });
    }
  }

  async function queueSweeps(): Promise<void> {
    if (now() < nextSweepAt) return;
    nextSweepAt = now() + SWEEP_EVERY_MS;
    for (let after = ""; ;) {
      const page = await store.queue.listWithAccesses(after, DUE_AT_ONCE);
      for (const { workspaceId } of page) {
        await store.queue.enqueue({
          workspaceId,
          type: "sweep_accesses",
          dedupeKey: `sweep_accesses:${workspaceId}`,
          payload: {},
          priority: 30,
          runAt: now(),
        });
      }
      const last = page.at(-1);
      if (!last || page.length < DUE_AT_ONCE) return;
      after = last.workspaceId;
    }
  }

  return {
    async tick() {
      await queuePurges();
      await queueSweeps();
      let queued = 0;
      for (const due of await store.queue.listDueConnectors(now(), DUE_AT_ONCE)) if (await queueRun(due)) queued++;
      return queued;
    },
  };
}
