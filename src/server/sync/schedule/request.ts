import { makeId } from "#api/common.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import {
  NO_COUNTS,
  type PeopleFirst,
  type SyncMode,
  type SyncRecord,
  type SyncTrigger,
} from "#storage/records/syncs.ts";
import { UPKEEP_PRIORITY, USUAL_PRIORITY } from "#storage/records/queue.ts";
import type { Store } from "#storage/records/store.ts";

export interface RequestedRun {
  trigger: SyncTrigger;
  /** Default: `incremental` if a full run has succeeded within the last week, else `full`. */
  mode?: SyncMode;
  /** The items to read, for mode `items`. */
  items?: readonly string[];
  /** The reading of users and groups that the run waits for. */
  peopleSyncId?: string;
  /** The run starts no earlier than this, unless another request for a run comes in the meantime. */
  notBefore?: number;
  now: number;
  randomBytes: RandomBytes;
}

/**
 * A full run is due at least this often, because incremental runs miss changed permissions and hard deletes.
 * Source: S23.
 */
export const FULL_EVERY_MS = 7 * 24 * 3_600_000;

/**
 * Requests a run of the connector. Call it in the transaction of the change that causes it. A second request joins the
 * queued run: `full` wins over `incremental`, and items are combined.
 *
 * @returns the queued run
 */
export async function requestSync(
  tx: Store,
  workspaceId: string,
  connector: Pick<ConnectorRecord, "connectorId" | "scopeVersion" | "lastFullAt">,
  requested: RequestedRun,
): Promise<SyncRecord> {
  const { syncs } = tx.in(workspaceId);
  const { now, trigger } = requested;
  const mode = requested.mode ?? dueMode(connector, now);
  const open = await syncs.listOpen([connector.connectorId]);
  // A run that reads only access, or only reads items again, can't replace a run of another kind or be replaced by one.
  const isAlike = (sync: SyncRecord) =>
    (sync.mode === "access") === (mode === "access") && (sync.trigger === "reader") === (trigger === "reader");
  const queued = open.find((sync) => sync.state === "queued" && sync.startedAt === null && isAlike(sync));
  const sync = {
    ...(queued ? join(queued, mode, requested.items) : makeSync(connector, mode, requested)),
    ...(requested.peopleSyncId !== undefined && { people: waitingFor(requested.peopleSyncId) }),
  };
  if (queued)
    await syncs.update(sync.syncId, {
      mode: sync.mode,
      items: sync.items,
      people: sync.people,
      scopeVersion: connector.scopeVersion,
      ...(requested.notBefore === undefined && { resumeAt: null }),
    });
  else await syncs.create(sync);
  await tx.queue.enqueue({
    workspaceId,
    type: "sync",
    dedupeKey: syncJobKey(connector.connectorId),
    payload: { connectorId: connector.connectorId },
    priority: PRIORITIES[trigger] ?? USUAL_PRIORITY,
    runAt: requested.notBefore ?? now,
  });
  return sync;
}

/** A person waits for a manual run. No one waits for a run that only reads items again. */
const PRIORITIES: Partial<Record<SyncTrigger, number>> = { manual: 10, reader: UPKEEP_PRIORITY };

/** Returns the key of a connector's job. A connector has one job, so its runs follow each other. */
export function syncJobKey(connectorId: string): string {
  return `sync:${connectorId}`;
}

function dueMode({ lastFullAt }: Pick<ConnectorRecord, "lastFullAt">, now: number): SyncMode {
  return lastFullAt !== null && now - lastFullAt < FULL_EVERY_MS ? "incremental" : "full";
}

function join(queued: SyncRecord, mode: SyncMode, items: readonly string[] | undefined): SyncRecord {
  if (queued.mode === "items" && mode === "items") {
    return { ...queued, items: [...new Set([...(queued.items ?? []), ...(items ?? [])])] };
  }
  if (mode === "access") return queued;
  const isFull = queued.mode === "full" || mode === "full";
  return { ...queued, mode: isFull ? "full" : "incremental", items: null };
}

function waitingFor(syncId: string): PeopleFirst {
  return { syncId, state: "waiting", problem: null };
}

function makeSync(
  connector: Pick<ConnectorRecord, "connectorId" | "scopeVersion">,
  mode: SyncMode,
  { trigger, items, now, notBefore, randomBytes }: RequestedRun,
): SyncRecord {
  return {
    syncId: makeId("sync", randomBytes),
    connectorId: connector.connectorId,
    mode,
    trigger,
    state: "queued",
    attempt: 0,
    counts: NO_COUNTS,
    progress: { done: 0, total: null, note: null },
    items: mode === "items" ? [...(items ?? [])] : null,
    people: null,
    resumeAt: notBefore ?? null,
    cancelRequestedAt: null,
    problem: null,
    scopeVersion: connector.scopeVersion,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
  };
}
