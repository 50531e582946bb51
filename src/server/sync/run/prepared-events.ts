import { isApiError } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import { defined } from "#core/defined.ts";
import { type Spool, SPOOLED_FROM_BYTES } from "#core/spool.ts";
import { redact } from "#core/redact.ts";
import type { Skip } from "#sources/outcomes.ts";
import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import type { SourceContext } from "#sources/context.ts";
import type { ChildRules, Source } from "#sources/contract.ts";
import type { ContainerRef } from "#sources/item.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { SyncEnd, SyncEvent } from "#server/sync/sync-events.ts";
import type { Line } from "#server/sync/bytes/byte-budget.ts";
import { prepareWithChildren } from "#server/sync/items/children.ts";
import { fetcherOf } from "#server/sync/items/fetcher.ts";
import { keepsFormer } from "./former-text.ts";
import type { ItemCache } from "./item-cache.ts";
import type { ListingEvent } from "./listings.ts";
import { countTexts } from "./text-quota.ts";
import type { PrepareOptions } from "#server/sync/items/prepare.ts";
import { makeRoom, type Room } from "#server/sync/bytes/room.ts";
import type { RunState } from "./run-state.ts";
import type { GroupUpdate } from "#server/sync/people/group-updates.ts";
import type { TimeSlice } from "./time-slice.ts";
import { relisted, vanished } from "./unread-items.ts";

/** Dependencies for preparing a run's events. */
export interface EventOptions extends Omit<PrepareOptions, "workspaceId" | "signal"> {
  store: { workspaceId: string };
  source: Source;
  sync: Pick<SyncRecord, "mode">;
  /** The parsed `config`, the credentials and the log. Its signal is the run's signal. */
  context: SourceContext<unknown>;
  /** Stores the bytes of large files on the disk. */
  spool: Spool;
  /**
   * Waits for a moment without searches before an item is started, so that people's searches come first. Absent = items
   * start at once.
   */
  waitForGap?(): Promise<void>;
  /** Counts items and texts against quotas. Absent = no limits apply. */
  quotas?: Pick<QuotaKeeper, "takeItem" | "noteText">;
}

/** A prepared event: the data to store. Prepared events are in the order of the events. */
export interface PreparedEvent {
  ops: ItemOp[];
  bytes: number;
  seen?: readonly string[];
  /** The container in which every stored item still exists (`seenBelow`) or no longer exists (`gone`). */
  seenBelow?: ContainerRef;
  gone?: ContainerRef;
  /** Items whose stored child items stay unchanged. */
  keepChildrenOf?: readonly string[];
  cursor?: { json: string; state: Readonly<Record<string, string | null>>; listings?: number; isLast?: true };
  progress?: { done: number; total: number | null; note: string | null };
  /** When the source reported the item. */
  reportedAt?: number;
  listing?: ListingEvent;
  people?: GroupUpdate;
  end?: SyncEnd;
  /** Why the item was not stored, if the reason isn't the item itself. */
  problem?: SourceProblem;
  /** The item was gone when it was read. */
  isVanished?: boolean;
  /** Releases the item's share of the byte budget. */
  release?: () => void;
}

/** State that all steps of one run share. */
export interface EventContext {
  /** The run's line in the byte budget of all runs. */
  line: Line;
  /** The run's line for bytes that are on the disk until they are read. */
  disk: Line;
  known: ItemCache;
  state: RunState;
  slice: TimeSlice;
  signal: AbortSignal;
}

/**
 * Prepares an event. Several events are prepared at once, so this function stores nothing.
 *
 * @throws the signal's reason; ApiError as `prepareWithChildren`
 */
export function prepareEvent(
  options: EventOptions,
  event: SyncEvent,
  context: EventContext,
): PreparedEvent | Promise<PreparedEvent> {
  const { signal } = context;
  // Items that were read before the end of a run are still stored. No item is started after it.
  signal.throwIfAborted();
  const reportedAt = options.now();
  switch (event.t) {
    case "upsert":
      return prepareInside(options, event, context).then((result) => ({ ...result, reportedAt }));
    case "access": {
      const { externalId } = event;
      return {
        ops: [{ type: "access", externalId, access: options.judge(event.access) }],
        bytes: 0,
        reportedAt,
        ...keptWithChildren(externalId),
      };
    }
    case "refused":
    case "listed":
      return { ops: [], bytes: 0, listing: event };
    case "group":
    case "member":
    case "identity":
      return { ops: [], bytes: 0, people: event, reportedAt };
    case "delete":
      return { ops: [{ type: "delete", externalId: event.externalId, subtree: false }], bytes: 0 };
    case "delete_container":
      return { ops: [], bytes: 0, gone: { type: event.type, id: event.id } };
    case "seen":
      return { ops: [], bytes: 0, seen: event.externalIds, ...(event.container && { seenBelow: event.container }) };
    case "skip":
      return event.reason === "too_large" ? skipLarge(options, event, context) : toSkip(event);
    case "checkpoint":
      context.slice.begin();
      return {
        ops: [],
        bytes: 0,
        cursor: {
          json: JSON.stringify(event.cursor ?? null),
          state: context.state.take(),
          ...defined({ listings: event.listings, isLast: event.isLast }),
        },
      };
    case "progress": {
      const { done, total, note } = event;
      return { ops: [], bytes: 0, progress: { done, total: total ?? null, note: note ?? null } };
    }
    case "end":
      return { ops: [], bytes: 0, end: event };
  }
}

function toSkip(
  { externalId, reason, message, retryable }: Skip,
  more: Pick<Extract<ItemOp, { type: "skip" }>, "isUnread"> = {},
): PreparedEvent {
  const op: ItemOp = { type: "skip", externalId, reason, message: redact(message), retryable, ...more };
  return { ops: [op], bytes: 0, ...(reason === "failed" && keptWithChildren(externalId)) };
}

/** Keeps an existing item and stores the reason why it isn't read. */
async function skipLarge({ now }: EventOptions, event: Skip, { known }: EventContext): Promise<PreparedEvent> {
  await known.load([event.externalId]);
  if (!known.find(event.externalId)) return toSkip(event);
  const isUnread = keepsFormer(known, event.externalId, now());
  return toSkip({ ...event, reason: "failed", retryable: true }, isUnread ? { isUnread } : {});
}

/**
 * Prepares an item that needs room in the byte budget. Places follow the order of the events, so the first item never
 * waits for a later one.
 */
async function prepareInside(
  options: EventOptions,
  event: Extract<SyncEvent, { t: "upsert" }>,
  { line, disk, known, signal }: EventContext,
): Promise<PreparedEvent> {
  const room = makeRoom(line.take(), signal);
  const place = disk.take();
  try {
    await options.waitForGap?.();
    signal.throwIfAborted();
    await known.load([event.item.externalId]);
    const full = await overQuota(options, event.item.externalId, known);
    if (full) return full;
    const { content, size = SPOOLED_FROM_BYTES } = event.item;
    if (content.type === "fetch") await place.enter(size, signal);
    const result = await prepareItem(options, event, { known, signal, room });
    return { ...result, release: () => room.end()?.release() };
  } finally {
    room.end();
    place.release();
  }
}

/**
 * Returns the step that leaves a new item out if the workspace is full; undefined if there is room, or the item is
 * stored already.
 */
async function overQuota(
  { quotas, store }: EventOptions,
  externalId: string,
  known: ItemCache,
): Promise<PreparedEvent | undefined> {
  if (quotas === undefined || known.find(externalId)) return undefined;
  const problem = await quotas.takeItem(store.workspaceId);
  if (problem === undefined) return undefined;
  const op: ItemOp = { type: "skip", externalId, reason: "over_quota", message: problem.message, retryable: true };
  return { ops: [op], bytes: 0, problem };
}

/** Names the item as present but not read, so that its child items stay as well. */
function keptWithChildren(externalId: string): Pick<PreparedEvent, "keepChildrenOf"> {
  return { keepChildrenOf: [externalId] };
}

function rulesOf({ source, context }: EventOptions): ChildRules | undefined {
  return source.childRules?.(context.config);
}

async function prepareItem(
  options: EventOptions,
  { item }: Extract<SyncEvent, { t: "upsert" }>,
  { known, signal, room }: Pick<EventContext, "known" | "signal"> & { room: Room },
): Promise<PreparedEvent> {
  const { store, source, context, quotas } = options;
  const { connector, extractor, analyze, judge, judgePeople, keepsSecrets, readerVersionOf, faults, now, randomBytes } =
    options;
  const preparing = prepareWithChildren(
    {
      workspaceId: store.workspaceId,
      connector,
      extractor,
      analyze,
      judge,
      keepsSecrets,
      now,
      randomBytes,
      signal,
      room,
      storedVersion: (externalId) => known.versionOf(externalId),
      keepsFormer: (externalId) => keepsFormer(known, externalId, now()),
      hasChildren: (externalId) => known.childrenOf(externalId).length > 0,
      ...defined({
        judgePeople,
        readerVersionOf,
        faults,
        rules: rulesOf(options),
        fetchContent: fetcherOf(source, context, options.spool, signal),
      }),
    },
    item,
  );
  const prepared = await preparing.catch((error: unknown) => {
    if (isApiError(error, "source_changed")) return "changed" as const;
    throw error;
  });
  if (prepared === "changed") return relisted(options, item);
  if (!prepared) return vanished(options, item, known);
  const { unchanged, ...step } = prepared;
  if (quotas && !known.find(item.externalId)) countTexts(quotas, store.workspaceId, step.ops);
  return { ...step, seen: unchanged };
}
