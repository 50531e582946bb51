import type { RandomBytes } from "#core/clock.ts";
import { readerVersionOf } from "#extract/registry.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/store.ts";
import { requestSync } from "./request.ts";

/** Items of the source that one run reads again: others wait no longer for it than for these. */
const READ_AT_ONCE = 200;
/** What a run could not read again (its source did not name it, or left it out) is tried again after this. */
const TRY_AGAIN_MS = 24 * 3_600_000;

/**
 * Whether a run reads again what an older reader has read, or what was cut for time: it says nothing of how its connector is
 * doing.
 */
export function isReaderRun({ trigger, mode }: Pick<SyncRecord, "trigger" | "mode">): boolean {
  return trigger === "reader" && mode === "items";
}

export interface ReadAgainDeps {
  now: () => number;
  randomBytes: RandomBytes;
  /** How good each reader is; this program's own unless told. */
  readerVersionOf?: ReaderVersionOf;
}

/**
 * Asks for a run that reads again some of what an older reader has read, or was cut for time, behind all other work;
 * nothing where there is nothing to read, or one was asked for already. Call it in a transaction. Source: docs/decisions/0048.
 *
 * @returns whether it asked
 */
export async function requestReadAgain(
  { now, randomBytes, readerVersionOf: versionOf = readerVersionOf }: ReadAgainDeps,
  tx: Store,
  workspaceId: string,
  connector: ConnectorRecord,
): Promise<boolean> {
  // What needs people first would only be refused.
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
 * The items of a run that reads again: chosen when it begins, and when it goes on, those of them that are still to be read.
 * Until they are, no other run chooses them.
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

/** A run that reads again has ended before its end: what it has not read is chosen again. */
export async function chooseAgain({ itemWrites }: WorkspaceStore, { connectorId, items }: SyncRecord): Promise<void> {
  await itemWrites.readAgainAt(connectorId, items ?? [], null);
}
