import type { RandomBytes } from "#core/clock.ts";
import { readerVersionOf } from "#extract/registry.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { requestSync } from "./request.ts";

/** The number of items of a source that one run reads again. Other runs wait no longer than these items take. */
const READ_AT_ONCE = 200;
/**
 * Items that a run could not read again, because its source did not name them or left them out, are tried again after
 * this time.
 */
const TRY_AGAIN_MS = 24 * 3_600_000;

/**
 * Whether a run only reads items again that an older reader version has read or whose text was truncated after a
 * timeout. Such a run doesn't affect its connector's health.
 */
export function isReaderRun({ trigger, mode }: Pick<SyncRecord, "trigger" | "mode">): boolean {
  return trigger === "reader" && mode === "items";
}

export interface ReadAgainDeps {
  now: () => number;
  randomBytes: RandomBytes;
  /** The version of each reader. Default: the versions in this program. */
  readerVersionOf?: ReaderVersionOf;
}

/**
 * Requests a run that reads some items again that an older reader version has read or whose text was truncated after a
 * timeout. The run comes after all other work. Does nothing if there are no such items or if such a run is queued
 * already. Call it in a transaction. Source: docs/decisions/0048.
 *
 * @returns whether it requested a run
 */
export async function requestReadAgain(
  { now, randomBytes, readerVersionOf: versionOf = readerVersionOf }: ReadAgainDeps,
  tx: Store,
  workspaceId: string,
  connector: ConnectorRecord,
): Promise<boolean> {
  // A run of a connector that needs a person's action would fail.
  if (connector.state !== "active" && connector.state !== "error") return false;
  const { itemWrites, syncs } = tx.in(workspaceId);
  if ((await syncs.listOpen([connector.connectorId])).some(isReaderRun)) return false;
  const due = await itemWrites.listOlder(connector.connectorId, versionOf, { now: now(), limit: 1 });
  if (due.length === 0) return false;
  const wish = { trigger: "reader", mode: "items", items: [], now: now(), randomBytes } as const;
  await requestSync(tx, workspaceId, connector, wish);
  return true;
}

/**
 * Returns the items of a run that reads items again. They are chosen when the run begins. When it resumes, these are
 * the items still to be read. Until they are read, no other run chooses them.
 */
export async function chooseOlder(
  { now, readerVersionOf: versionOf = readerVersionOf }: Pick<ReadAgainDeps, "now" | "readerVersionOf">,
  { itemWrites }: Pick<WorkspaceStore, "itemWrites">,
  { connectorId, startedAt, items }: SyncRecord,
): Promise<string[]> {
  if (startedAt !== null) {
    const left = await itemWrites.olderAmong(connectorId, versionOf, items ?? [], startedAt);
    return (items ?? []).filter((externalId) => left.has(externalId));
  }
  const chosen = await itemWrites.listOlder(connectorId, versionOf, { now: now(), limit: READ_AT_ONCE });
  await itemWrites.readAgainAt(connectorId, chosen, now() + TRY_AGAIN_MS);
  return chosen;
}

/** Releases the unread items of a read-again run that ended early, so that they are chosen again. */
export async function chooseAgain({ itemWrites }: WorkspaceStore, { connectorId, items }: SyncRecord): Promise<void> {
  await itemWrites.readAgainAt(connectorId, items ?? [], null);
}
