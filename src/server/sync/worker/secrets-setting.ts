import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ClaimedJob } from "#storage/records/queue.ts";
import type { Store } from "#storage/records/store.ts";

/** How long the setting is cached. A run reads it for each item. */
const FRESH_MS = 1_000;
/** The cache size, larger than the number of workspaces that have runs at a time. */
const MAX_KNOWN = 1_000;

/**
 * Makes the check whether a workspace keeps secrets in texts, so that they can be found. It is called for each item, so
 * a change takes effect within a second, including in runs that are in progress. Source: S37.
 */
export function makeKeepsSecrets(store: Pick<Store, "workspaces">, now: () => number) {
  const known = new LRUCache<string, { keeps: boolean; until: number }>(atMost(MAX_KNOWN));
  return async (workspaceId: string): Promise<boolean> => {
    const fresh = known.get(workspaceId);
    if (fresh !== undefined && now() < fresh.until) return fresh.keeps;
    const keeps = (await store.workspaces.find(workspaceId))?.secrets === "index";
    known.set(workspaceId, { keeps, until: now() + FRESH_MS });
    return keeps;
  };
}

/**
 * Updates the stored data after a change of the workspace's setting for secrets. Secrets are removed from the stored
 * texts and kept nowhere, so restoring them means reading the sources again. Pushed items get their secrets back only
 * when they are pushed again.
 *
 * @param readAgain  queues a full run of a connector
 * @returns false when it was interrupted and has to begin again
 */
export async function applySecretsSetting(
  store: Store,
  readAgain: (tx: Store, connector: ConnectorRecord) => Promise<void>,
  { workspaceId }: ClaimedJob,
  signal: AbortSignal,
): Promise<boolean> {
  const workspace = await store.workspaces.find(workspaceId);
  if (workspace === undefined) return true;
  const { connectors, itemWrites } = store.in(workspaceId);
  if (workspace.secrets === "mask") {
    for (let after: string | null = ""; after !== null;) {
      if (signal.aborted) return false;
      after = await itemWrites.maskStored(after);
    }
    return true;
  }
  for (const connector of await connectors.list()) {
    if (signal.aborted) return false;
    await itemWrites.forgetVersions(connector.connectorId);
    await store.transaction((tx) => readAgain(tx, connector));
  }
  return true;
}
