import { inChunks } from "#core/in-chunks.ts";
import type { Source } from "#sources/contract.ts";
import type { ContainerRef } from "#sources/item.ts";
import { removalLimit } from "#storage/item-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { BatchSink } from "./batch-sink.ts";
import { containerEntityId } from "#server/sync/items/entities.ts";
import type { ItemCache } from "./item-cache.ts";
import { listBelow } from "./stored-items.ts";

/** The run that names the items. */
export interface SweepOptions {
  store: Pick<WorkspaceStore, "workspaceId" | "itemWrites">;
  source: Source;
  connector: Pick<ConnectorRecord, "connectorId" | "scope">;
  sync: Pick<SyncRecord, "syncId">;
  now: () => number;
}

/** The number of unnamed items that are read at once. */
const UNNAMED_PAGE = 2_000;

/**
 * Marks a stored item as present and unchanged. The item is counted when it is marked, so only one attempt counts it.
 */
export function countPresent(item: StoredItem, known: ItemCache, sink: BatchSink): void {
  sink.count({}, 1);
  mark(item, true, known, sink);
}

/** Marks a stored item as present, whether or not this run read it. */
export function markPresent(item: StoredItem, known: ItemCache, sink: BatchSink): void {
  mark(item, false, known, sink);
}

/**
 * Marks an item as present. A held item is restored at once. For other items, the mark is stored only when a cursor
 * relies on it.
 */
function mark({ externalId, indexState }: StoredItem, isCounted: boolean, known: ItemCache, sink: BatchSink): void {
  if (indexState !== "held") known.markLater(externalId, isCounted);
  else sink.add({ type: "seen", externalIds: [externalId], ...(isCounted && { isCounted }) });
}

/** Marks every item in a container as present at the end of the run, as if the run had named each item. */
export async function keepBelow(
  container: ContainerRef,
  options: SweepOptions,
  known: ItemCache,
  sink: BatchSink,
): Promise<void> {
  // Earlier events about items in the container must be stored before its items are listed.
  await sink.flush();
  const entityId = containerEntityId(options.store.workspaceId, options.connector.connectorId, container);
  for await (const page of listBelow(options.store, options.connector.connectorId, entityId)) {
    for (const item of page) countPresent(item, known, sink);
    for (const op of known.takeMarks()) sink.add(op);
    await sink.flushIfDue();
  }
}

/** Removes every item in a container, or holds all of them if there are suspiciously many. */
export async function dropBelow(container: ContainerRef, options: SweepOptions, sink: BatchSink): Promise<void> {
  const { store, connector, now } = options;
  await sink.flush();
  const entityId = containerEntityId(store.workspaceId, connector.connectorId, container);
  const gone: StoredItem[] = [];
  for await (const page of listBelow(store, connector.connectorId, entityId)) gone.push(...page);
  await removeOrHold("drop", gone, { store, connector, now }, sink);
}

/**
 * Removes items that are gone, or holds all of them if there are suspiciously many. Items that were read elsewhere
 * aren't counted.
 */
export async function removeOrHold(
  type: "drop" | "sweep",
  gone: readonly Pick<StoredItem, "kbId" | "wasReadElsewhere">[],
  { store, connector: { connectorId }, now }: Pick<SweepOptions, "store" | "connector" | "now">,
  sink: BatchSink,
): Promise<void> {
  if (gone.length === 0) return;
  const guard = await store.itemWrites.guardOf(connectorId, now());
  const judged = gone.filter(({ wasReadElsewhere }) => !wasReadElsewhere).length;
  const hold = guard.removed + judged > removalLimit(guard.highest);
  const ids = gone.map(({ kbId }) => kbId);
  for (const kbIds of inChunks(ids, 100)) {
    sink.add({ type, kbIds, hold });
    await sink.flush();
  }
}

/** Removes items outside the scope at once. The removal guard isn't applied, because a person requested the change. */
export async function removeOutOfScope({ source, store, connector }: SweepOptions, sink: BatchSink): Promise<void> {
  const inScope = source.inScope?.bind(source);
  const { scope } = connector;
  if (!inScope || (scope.include.length === 0 && scope.exclude.length === 0)) return;
  const out: string[] = [];
  for await (const { kbId, ...item } of store.itemWrites.walkPlaced(connector.connectorId)) {
    if (!inScope(scope, item)) out.push(kbId);
  }
  for (const kbIds of inChunks(out, 100)) {
    sink.add({ type: "remove", kbIds });
    await sink.flush();
  }
}

/** Removes items that a complete listing did not name, or holds all of them if there are suspiciously many. */
export async function sweep(
  { store, connector, sync, now }: SweepOptions,
  known: ItemCache,
  sink: BatchSink,
): Promise<void> {
  for (const op of known.takeMarks()) sink.add(op);
  await sink.flush();
  const gone: Pick<StoredItem, "kbId" | "wasReadElsewhere">[] = [];
  for (let after = ""; ;) {
    const page = await store.itemWrites.listUnnamed(connector.connectorId, sync.syncId, after, UNNAMED_PAGE);
    gone.push(...page);
    const last = page.at(-1);
    if (!last || page.length < UNNAMED_PAGE) break;
    after = last.externalId;
  }
  await removeOrHold("sweep", gone, { store, connector, now }, sink);
}
