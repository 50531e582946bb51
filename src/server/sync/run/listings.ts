import { isChildId } from "#core/child-ids.ts";
import { defined } from "#core/defined.ts";
import type { Source } from "#sources/contract.ts";
import type { ContainerRef } from "#sources/item.ts";
import type { SourceRef } from "#sources/outcomes.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { SyncEnd, SyncEvent } from "#server/sync/sync-events.ts";
import { removeOrHold } from "./sweep.ts";
import { BatchRefused, type BatchSink } from "./batch-sink.ts";
import { isMirror, isProof, makeRunClocks, type RunClocks } from "#server/sync/clocks.ts";
import { containerEntityId } from "#server/sync/items/entities.ts";
import type { ItemCache } from "./item-cache.ts";
import { listBelow } from "./stored-items.ts";
import type { GroupUpdates } from "#server/sync/people/group-updates.ts";

export interface ListingRun {
  store: Pick<WorkspaceStore, "workspaceId" | "itemWrites" | "access">;
  source: Pick<Source, "spec">;
  connector: ConnectorRecord;
  sync: SyncRecord;
  now: () => number;
}

/** The state of a run that is needed to record which parts of the source it read. */
export interface ListingContext {
  options: ListingRun;
  known: Pick<ItemCache, "takeMarks">;
  sink: BatchSink;
  /** Absent if permissions aren't mirrored. */
  clocks: RunClocks | undefined;
}

type ListedGroups = Pick<GroupUpdates, "refuse" | "endListing">;

export type ListingEvent = Extract<SyncEvent, { t: "refused" | "listed" }>;

const PAGE = 500;

/**
 * Makes the permission clocks of a run; undefined if permissions aren't mirrored. A connector without items gets the
 * clock of the run that adds its first items.
 */
export async function beginClocks(options: ListingRun, sink: BatchSink): Promise<RunClocks | undefined> {
  const { source, connector, sync, store, now } = options;
  if (!isMirror(source.spec)) return undefined;
  let { aclCheckedAt } = connector;
  if (aclCheckedAt === null && (await store.itemWrites.guardOf(connector.connectorId, now())).living === 0) {
    sink.clock((aclCheckedAt = sync.startedAt ?? now()));
  }
  const clocksFrom = await store.access.clocksFrom(connector.connectorId);
  return makeRunClocks({ aclCheckedAt, clocksFrom }, await store.access.maxAclAgeMs(), now);
}

/**
 * Applies an event that reports that a part of the source was refused or completely listed.
 *
 * @throws BatchRefused when nothing more may be stored
 */
export async function applyListing(
  context: ListingContext & { people: ListedGroups },
  event: ListingEvent,
): Promise<void> {
  const { people } = context;
  if (event.t === "refused") {
    return "group" in event.what ? people.refuse(event.what.group) : hideRefused(context, event.what);
  }
  await endSlice(context, event);
  // The groups of a container can't be divided into time ranges.
  if (event.from !== undefined || event.to !== undefined) return;
  const refusal = await people.endListing(event.container);
  if (refusal) throw new BatchRefused(refusal);
}

/**
 * Keeps items that the source refused to show, and makes them readable by no one. Where access is set in kb, it stays
 * unchanged.
 */
async function hideRefused(context: ListingContext, what: SourceRef): Promise<void> {
  for await (const items of storedOf(context, what)) await keepItems(context, items, "refused");
}

/**
 * Keeps the parts that the run could not read. Their permissions keep the time at which they were last read. This
 * doesn't apply after an incremental run of a source whose items are readable by groups of their containers: such items
 * are as current as those groups, which have separate clocks.
 */
export async function keepUnread(context: ListingContext, end: SyncEnd): Promise<void> {
  const { source, sync } = context.options;
  const isInPart = sync.mode === "incremental" && end.listing === "partial";
  const isOfGroups = isInPart && source.spec.acl !== "per_item";
  for (const what of end.notLookedAt ?? []) {
    if (isOfGroups && "container" in what) continue;
    for await (const items of storedOf(context, what)) await keepItems(context, items, "not_looked_at");
  }
}

/**
 * Ends the listing of a slice. Items in it that the run did not name are removed or held. The other items get the
 * current time as their clock.
 */
async function endSlice(context: ListingContext, listed: Extract<SyncEvent, { t: "listed" }>): Promise<void> {
  const { options, sink } = context;
  const { store, connector, sync, now } = options;
  const slice = {
    entityId: containerEntityId(store.workspaceId, connector.connectorId, listed.container),
    ...defined({ from: listed.from, to: listed.to }),
  };
  await flushMarks(context);
  const gone: StoredItem[] = [];
  const read = (after: string) => store.itemWrites.listSlice(connector.connectorId, slice, after, PAGE);
  for await (const items of pages(read)) {
    const named = items.filter(({ seenBy }) => seenBy === sync.syncId);
    gone.push(...items.filter((item) => isGone(item, sync.syncId)));
    const ids = named.map(({ externalId }) => externalId);
    for (const op of context.clocks?.restamp(ids, now()) ?? []) sink.add(op);
    await sink.flush();
  }
  await removeOrHold("sweep", gone, { store, connector, now }, sink);
}

/**
 * Sets the connector's permission clock to the start of a run that would have shown every change of a permission, and
 * drops the item clocks that are older. Unread parts got separate clocks before, so a process that ends in between has
 * nothing to undo.
 */
export async function confirmPermissions(context: ListingContext, end: SyncEnd | undefined): Promise<void> {
  const { options, sink } = context;
  const { store, connector, sync, source, now } = options;
  if (!isMirror(source.spec) || !isProof(source.spec, { mode: sync.mode, lastFullAt: connector.lastFullAt }, end))
    return;
  await flushMarks(context);
  sink.clock(sync.startedAt ?? now());
  await sink.flush();
  const read = (after: string) => store.itemWrites.listOvertaken(connector.connectorId, sync.syncId, after, PAGE);
  for await (const items of pages(read)) {
    sink.add({ type: "clock", externalIds: items.map(({ externalId }) => externalId), at: null, cause: null });
    await sink.flush();
  }
  await store.access.dropUnusedClocks(connector.connectorId);
}

async function keepItems(context: ListingContext, items: readonly StoredItem[], cause: "refused" | "not_looked_at") {
  const { sink, clocks } = context;
  const present = items.filter(({ indexState }) => indexState !== "held").map(({ externalId }) => externalId);
  sink.add({ type: "seen", externalIds: present });
  const externalIds = items.map(({ externalId }) => externalId).filter((id) => !isChildId(id));
  if (clocks) sink.add({ type: "clock", externalIds, at: null, cause });
  await sink.flush();
}

async function* storedOf(context: ListingContext, what: SourceRef): AsyncGenerator<StoredItem[], void> {
  const { store, connector } = context.options;
  await flushMarks(context);
  if ("externalId" in what) yield await store.itemWrites.listStoredOf(connector.connectorId, [what.externalId]);
  if (!("container" in what)) return;
  for await (const items of below(context, what.container))
    yield what.isRest ? items.filter(({ seenBy }) => seenBy !== context.options.sync.syncId) : items;
}

function below({ options: { store, connector } }: ListingContext, container: ContainerRef) {
  return listBelow(
    store,
    connector.connectorId,
    containerEntityId(store.workspaceId, connector.connectorId, container),
  );
}

/** Stores the run's pending marks, so that later queries see them. */
async function flushMarks({ known, sink }: ListingContext): Promise<void> {
  for (const op of known.takeMarks()) sink.add(op);
  await sink.flush();
}

async function* pages<T extends { kbId: string }>(read: (after: string) => Promise<T[]>): AsyncGenerator<T[], void> {
  for (let after = ""; ;) {
    const page = await read(after);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.kbId;
  }
}

function isGone({ externalId, seenBy, indexState }: StoredItem, syncId: string): boolean {
  return seenBy !== syncId && indexState !== "held" && !isChildId(externalId);
}
