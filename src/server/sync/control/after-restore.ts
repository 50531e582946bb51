import type { RandomBytes } from "#core/clock.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import { beginAgain } from "#server/sync/binding.ts";
import { isMirror } from "#server/sync/clocks.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { MAY_RUN, nextSyncState } from "#server/sync/state.ts";

export interface RestoredDeps {
  store: Store;
  findSource(providerId: string): Promise<Source | undefined> | Source | undefined;
  now: () => number;
  randomBytes: RandomBytes;
}

/**
 * Handles a database restored from a copy. Its data from sources may be days older than recorded, and a provider may
 * have reported more since the copy was made. Drops all cursors and states and has everything read again, including
 * groups and users. Until then, mirrored items are hidden. Accounts are identified again, and webhooks are subscribed
 * to again. Running it twice does no harm.
 *
 * @returns the number of connectors that begin again
 */
export async function invalidateEverything(deps: RestoredDeps): Promise<number> {
  let count = 0;
  for (const { workspaceId } of await deps.store.workspaces.list()) {
    for (const { connectorId } of await deps.store.in(workspaceId).connectors.list()) {
      if (await deps.store.transaction((tx) => invalidateConnector(deps, tx, workspaceId, connectorId))) count++;
    }
    await deps.store.transaction((tx) => tx.in(workspaceId).accounts.invalidateAll(deps.now()));
  }
  return count;
}

async function invalidateConnector(
  { findSource, now, randomBytes }: RestoredDeps,
  tx: Store,
  workspaceId: string,
  connectorId: string,
): Promise<boolean> {
  const workspace = tx.in(workspaceId);
  const before = await workspace.connectors.find(connectorId);
  if (!before || before.state === "deleting") return false;
  const source = await findSource(before.providerId);
  if (!source?.sessions) return false;
  await endRuns(tx, workspaceId, connectorId, now());
  const begun = await beginAgain(workspace, connectorId, { now: now(), isInvalid: isMirror(source.spec) });
  // A new version of the connector's config also renews the webhook subscription.
  const patch = { scopeVersion: before.scopeVersion + 1, proofTriedAt: null };
  await workspace.connectors.update(connectorId, patch);
  const connector: ConnectorRecord = { ...before, ...begun, ...patch };
  if (!MAY_RUN.has(connector.state)) return true;
  const wish = { trigger: "schedule", now: now(), randomBytes } as const;
  await requestSync(tx, workspaceId, connector, { ...wish, mode: "full" });
  if (source.syncIdentities) await requestIdentities(tx, workspaceId, connector, wish);
  return true;
}

/** Ends the runs that were in progress when the copy was made. They can't be resumed. */
async function endRuns(tx: Store, workspaceId: string, connectorId: string, now: number): Promise<void> {
  const { syncs } = tx.in(workspaceId);
  for (const sync of [...(await syncs.listOpen([connectorId])), ...(await syncs.listOpenIdentities(connectorId))]) {
    const state = nextSyncState(sync.state, "stop");
    await syncs.update(sync.syncId, { state, finishedAt: now, resumeAt: null });
  }
}
