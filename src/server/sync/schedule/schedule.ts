import type { RandomBytes } from "#core/clock.ts";
import { MOST_AHEAD_MS } from "#storage/access/clocks.ts";
import { FORMER_TEXT_MS } from "#storage/item-batch.ts";
import { KEEP_REMOVED_MS } from "#storage/records/item-writes.ts";
import { type JobType, UPKEEP_PRIORITY } from "#storage/records/queue.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import type { Store } from "#storage/records/store.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { nextRunOf, proofNow } from "#server/sync/clocks.ts";
import { queueDueIdentities } from "./identity-requests.ts";
import { isReaderRun, requestReadAgain } from "./read-again.ts";
import { requestSync } from "./request.ts";
import type { Subscribing } from "#server/sync/deps.ts";

export interface Schedule {
  /** Queues the due runs, those that have been due longest first, and the upkeep. Returns the number of queued runs. */
  tick(): Promise<number>;
}

export interface ScheduleOptions {
  store: Store;
  findSource(providerId: string): Promise<Source | undefined> | Source | undefined;
  now: () => number;
  randomBytes: RandomBytes;
  /** The version of each reader. Default: the versions in this program. */
  readerVersionOf?: ReaderVersionOf;
  subscribing?: Pick<Subscribing, "providerIds">;
}

/** The number of runs queued at once. The remaining runs are queued at the next tick, a moment later. */
const DUE_AT_ONCE = 50;
const PURGE_EVERY_MS = 3_600_000;
/**
 * How long a connector's items are kept after its source refused access, so that someone can reconnect the connector.
 */
const RECONNECT_MS = 7 * 24 * 3_600_000;
const READ_AGAIN_EVERY_MS = 3_600_000;
const SWEEP_EVERY_MS = 24 * 3_600_000;
/** Delays the first sweep, because a server that was just started has other work. */
const FIRST_SWEEP_MS = 6 * 3_600_000;

/**
 * Queues scheduled work: due runs of connectors, webhook subscriptions, upkeep and expiry of accounts, and checks of
 * provider servers. Once an hour, it queues the purge of removed items, the removal of texts whose content can't be
 * read any more, and the re-reading of items that an older reader version has read. Once a day, it queues the sweep of
 * unused accesses.
 */
export function makeSchedule(deps: ScheduleOptions): Schedule {
  const { store, findSource, now, randomBytes, subscribing } = deps;
  const specOf = async ({ providerId }: ConnectorRecord) => (await findSource(providerId))?.spec;

  /** The time of the last tick. Before the first tick, the previous time of the clock is unknown. */
  let lastAt = Infinity;
  let nextPurgeAt = 0;
  let nextSweepAt = now() + FIRST_SWEEP_MS;
  let nextReadAgainAt = 0;

  async function queueRun({
    workspaceId,
    connectorId,
  }: {
    workspaceId: string;
    connectorId: string;
  }): Promise<boolean> {
    return store.transaction(async (tx) => {
      const { connectors, syncs, access } = tx.in(workspaceId);
      const connector = await connectors.find(connectorId);
      if (!connector || connector.nextRunAt === null || connector.nextRunAt > now()) return false;
      const age = { now: now(), maxAclAgeMs: await access.maxAclAgeMs() };
      const spec = await specOf(connector);
      const nextRunAt = nextRunOf(spec, connector, age);
      await connectors.update(connectorId, { nextRunAt });
      // A run that is still in progress replaces this one.
      const open = (await syncs.listOpen([connectorId])).filter((sync) => !isReaderRun(sync));
      if (nextRunAt === null || open.length > 0) return false;
      const mode = proofNow(spec, connector, age);
      if (mode) await connectors.update(connectorId, { proofTriedAt: now() });
      else if (connector.everyMinutes === null) return false;
      const wish = { trigger: "schedule" as const, now: now(), randomBytes, ...(mode && { mode }) };
      await requestSync(tx, workspaceId, connector, wish);
      return true;
    });
  }

  /**
   * Makes work due now whose due time is in the future because the clock went back, since such times can't be trusted.
   */
  async function healClock(): Promise<void> {
    if (lastAt <= now()) {
      lastAt = now();
      return;
    }
    lastAt = now();
    for (const { workspaceId, connectorId } of await store.queue.listAhead(now() + MOST_AHEAD_MS)) {
      await store.transaction(async (tx) => {
        const { connectors, identitySchedules, sourcePeople } = tx.in(workspaceId);
        const connector = await connectors.find(connectorId);
        const source = connector && (await findSource(connector.providerId));
        if (source?.sessions) await connectors.update(connectorId, { nextRunAt: now(), proofTriedAt: null });
        if (!source?.syncIdentities) return;
        await sourcePeople.restart(connectorId);
        await identitySchedules.set(connectorId, now());
      });
    }
  }

  async function queuePurges(): Promise<void> {
    if (now() < nextPurgeAt) return;
    nextPurgeAt = now() + PURGE_EVERY_MS;
    for (const { workspaceId, connectorId } of await store.queue.listRefusedConnectors(now() - RECONNECT_MS)) {
      await store.queue.enqueue({
        workspaceId,
        type: "purge_refused",
        dedupeKey: `purge_refused:${connectorId}`,
        payload: { connectorId },
        priority: 30,
        runAt: now(),
      });
    }
    for (const { workspaceId } of await store.queue.listPurgeable(now() - KEEP_REMOVED_MS, DUE_AT_ONCE)) {
      await queueUpkeep(workspaceId, "purge_removed");
    }
    for (const { workspaceId } of await store.queue.listFormer(now() - FORMER_TEXT_MS, DUE_AT_ONCE)) {
      await queueUpkeep(workspaceId, "end_former_texts");
    }
  }

  /** Queues a job that no one waits for. A workspace has at most one job of each type. */
  async function queueUpkeep(workspaceId: string, type: JobType): Promise<void> {
    const dedupeKey = `${type}:${workspaceId}`;
    await store.queue.enqueue({ workspaceId, type, dedupeKey, payload: {}, priority: UPKEEP_PRIORITY, runAt: now() });
  }

  async function queueSweeps(): Promise<void> {
    if (now() < nextSweepAt) return;
    nextSweepAt = now() + SWEEP_EVERY_MS;
    for (let after = ""; ;) {
      const page = await store.queue.listWithAccesses(after, DUE_AT_ONCE);
      for (const { workspaceId } of page) await queueUpkeep(workspaceId, "sweep_accesses");
      const last = page.at(-1);
      if (!last || page.length < DUE_AT_ONCE) return;
      after = last.workspaceId;
    }
  }

  /**
   * Queues runs that read items again: the items that an earlier run could not read, and the items that this program's
   * readers improve and that no run has read again yet.
   */
  async function queueReadAgain(): Promise<void> {
    if (now() < nextReadAgainAt) return;
    nextReadAgainAt = now() + READ_AGAIN_EVERY_MS;
    for (const { workspaceId } of await store.workspaces.list()) {
      for (const connector of await store.in(workspaceId).connectors.list()) {
        if (!(await findSource(connector.providerId))?.sessions) continue;
        await store.transaction((tx) => requestReadAgain(deps, tx, workspaceId, connector));
      }
    }
  }

  async function queueAccounts(): Promise<void> {
    for (const { workspaceId, accountId } of await store.accountFlows.listDue(now(), DUE_AT_ONCE)) {
      await queueOne(workspaceId, "account", { accountId });
    }
    await store.accountFlows.sweep(now());
    for (const { workspaceId, flowHash } of await store.accountFlows.listLapsed(now(), DUE_AT_ONCE)) {
      await queueOne(workspaceId, "lapsed_flow", { flowHash });
    }
  }

  async function queueServers(): Promise<void> {
    await store.pendingConnections.expire(now());
    for (const { workspaceId, serverId } of await store.dueServers.list(now(), DUE_AT_ONCE)) {
      await queueOne(workspaceId, "server", { serverId });
    }
  }

  async function queueSubscriptions(): Promise<void> {
    const providerIds = subscribing?.providerIds ?? [];
    if (providerIds.length === 0) return;
    for (const { workspaceId, connectorId } of await store.webhooks.listUnsubscribed(providerIds, now(), DUE_AT_ONCE)) {
      await queueOne(workspaceId, "subscribe_webhook", { connectorId });
    }
  }

  /** Queues a job for one id. The same job is in the queue at most once. */
  async function queueOne(workspaceId: string, type: JobType, payload: Record<string, string>): Promise<void> {
    const dedupeKey = [type, ...Object.values(payload)].join(":");
    await store.queue.enqueue({ workspaceId, type, dedupeKey, payload, priority: 20, runAt: now() });
  }

  return {
    async tick() {
      await healClock();
      await queueAccounts();
      await queueServers();
      await queueSubscriptions();
      await queuePurges();
      await queueSweeps();
      await queueReadAgain();
      let queued = await queueDueIdentities(store, { now, randomBytes }, DUE_AT_ONCE);
      for (const due of await store.queue.listDueConnectors(now(), DUE_AT_ONCE)) if (await queueRun(due)) queued++;
      return queued;
    },
  };
}
