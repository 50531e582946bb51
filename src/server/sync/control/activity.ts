import type { ConnectorActivity } from "#api/connector-records.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import { isReaderRun } from "#server/sync/schedule/read-again.ts";
import { syncJobKey } from "#server/sync/schedule/request.ts";
import { MAY_RUN } from "#server/sync/state.ts";

const RUNNING: ReadonlySet<SyncRecord["state"]> = new Set(["running", "cancelling"]);

/**
 * Returns the connector's current activity and the time of its next run. Reasons for waiting or failing are in the
 * source's own words.
 */
export async function activityOf(
  store: Store,
  workspaceId: string,
  connector: ConnectorRecord,
  now: number,
): Promise<ConnectorActivity> {
  if (!MAY_RUN.has(connector.state)) return { type: "stopped" };
  const { connectorId } = connector;
  const { syncs } = store.in(workspaceId);
  // A queued run that only reads items again isn't shown, because no one waits for it.
  const open = (await syncs.listOpen([connectorId])).filter((each) => RUNNING.has(each.state) || !isReaderRun(each));
  const sync = open.find(({ state }) => RUNNING.has(state)) ?? open[0];
  const identities = (await syncs.listOpenIdentities(connectorId)).find(({ state }) => RUNNING.has(state));
  // A run that waits for the reading of people and groups has not started its work.
  const isWaiting = sync?.people?.state === "waiting" && sync.startedAt === null;
  if (sync && !(isWaiting && identities)) return ofRun(store, sync, now);
  if (identities) return syncing(identities, now);
  if (connector.state === "needs_reauth") return { type: "stopped" };
  const nextRunAt = isoOrNull(connector.nextRunAt);
  if (connector.consecutiveFailures === 0) return { type: "idle", nextRunAt };
  const [last] = await syncs.listLast([connectorId]);
  return {
    type: "failing",
    failures: connector.consecutiveFailures,
    nextTryAt: nextRunAt,
    reason: last?.problem ?? null,
  };
}

async function ofRun({ queue }: Store, sync: SyncRecord, now: number): Promise<ConnectorActivity> {
  const job = await queue.find(syncJobKey(sync.connectorId));
  const isClaimed = job !== undefined && job.leaseUntil !== null && job.leaseUntil > now;
  if (isClaimed && RUNNING.has(sync.state)) return syncing(sync, now);
  if (sync.resumeAt !== null && sync.resumeAt > now) {
    return { type: "waiting", until: isoOf(sync.resumeAt), reason: sync.problem };
  }
  // A run whose worker died waits for another worker, like a run that hasn't started.
  const before = job === undefined || isClaimed ? 0 : await queue.countWaiting(job, now);
  return { type: "queued", since: isoOf(job?.runAt ?? sync.createdAt), before };
}

function syncing({ mode, startedAt, progress }: SyncRecord, now: number): ConnectorActivity {
  return { type: "syncing", mode, since: isoOf(startedAt ?? now), done: progress.done, total: progress.total };
}
