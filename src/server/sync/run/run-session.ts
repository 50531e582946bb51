/**
 * Bookkeeping for a run whose source has sessions: unchanged items, items to read, failures, and the run's position.
 */
import { accessKeyOf } from "#core/access-key.ts";
import { defined } from "#core/defined.ts";
import type { StoredItems, SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import { failedSkip } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { Failed, Outcome, SourceRef } from "#sources/outcomes.ts";
import type { Batching, Entry, Page, Session, SessionSpec, WalkEnd } from "#sources/session.ts";
import { type Batches, makeBatches } from "./batching.ts";
import { type StoredCursor, storedCursorSchema } from "./stored-cursor.ts";
import type { SyncEnd, SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";

/**
 * With more failures than this, the listing can't prove that items are gone: a failure that isn't recorded would remove
 * its items.
 */
const MOST_FAILED = 1_000;

export type Runs<Config> = (ctx: SyncContext<Config>, run: SyncRequest) => AsyncGenerator<SyncEvent, void>;

/** Returns the function that yields the events of a source's runs; undefined for a source that isn't read. */
export function runsOf<Config>({ sessions }: Pick<Source<Config>, "sessions">): Runs<Config> | undefined {
  return sessions && runSessions(sessions);
}

/** Yields the events of the runs of a source that has sessions. */
export function runSessions<Config, Cursor, Checkpoint>(spec: SessionSpec<Config, Cursor, Checkpoint>): Runs<Config> {
  const { batching = {} } = spec;
  const read = storedCursorSchema(spec);
  return async function* sync(ctx, run) {
    const kept = read(run.cursor);
    const { mode, scope, runId, readsGroups } = run;
    const before = defined({ feed: kept.feed, left: kept.walk?.checkpoint });
    const session = await spec.open(ctx, { mode, scope, ...defined({ runId, readsGroups }), ...before });
    try {
      if (mode === "items") yield* readAsked(ctx, session, run.externalIds ?? []);
      else yield* walk({ ctx, run, session, batching }, kept);
    } finally {
      await session.close?.();
    }
  };
}

/** Reads only these items, in their current state. */
async function* readAsked(
  ctx: Reading["ctx"],
  session: Reading["session"],
  externalIds: readonly string[],
): AsyncGenerator<SyncEvent, void> {
  for await (const result of readAll({ ctx, session }, externalIds)) {
    yield result.t === "failed" ? failedEvent(result) : result;
    // No later listing would remove the item.
    const isGone = result.t === "skip" && result.reason !== "failed" && result.reason !== "too_large";
    if (isGone) yield { t: "delete", externalId: result.externalId };
  }
  if (ctx.signal.aborted) return;
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

interface Reading {
  ctx: { stored: StoredItems; signal: AbortSignal };
  session: { read(externalIds: readonly string[]): AsyncGenerator<Outcome, void> };
}

/** Yields the outcome of each of these items. An item that the source doesn't report stays unchanged. */
async function* readAll({ ctx, session }: Reading, externalIds: readonly string[]): AsyncGenerator<Outcome, void> {
  if (externalIds.length === 0) return;
  const open = new Set(externalIds);
  for await (const result of session.read(externalIds)) {
    if (ctx.signal.aborted) return;
    for (const id of idsOf(result)) open.delete(id);
    yield result;
  }
  for (const externalId of open) yield failedSkip(externalId, NOT_UNDERSTOOD);
}

function idsOf(outcome: Outcome): readonly string[] {
  if (outcome.t === "upsert") return [outcome.item.externalId, outcome.item.formerId ?? []].flat();
  if (outcome.t === "delete" || outcome.t === "skip") return [outcome.externalId];
  if (outcome.t === "seen") return outcome.externalIds;
  return outcome.t === "refused" && "externalId" in outcome.what ? [outcome.what.externalId] : [];
}

function failedEvent({ what, message, as = nameOf(what) }: Failed): SyncEvent {
  return failedSkip(as, message);
}

function nameOf(what: SourceRef): string {
  if ("container" in what) return what.container.id;
  return "group" in what ? what.group : what.externalId;
}

interface Run<Config, Cursor, Checkpoint> {
  ctx: SyncContext<Config>;
  run: SyncRequest;
  session: Session<Cursor, Checkpoint>;
  batching: Partial<Batching>;
}

async function* walk<Config, Cursor, Checkpoint>(
  { ctx, run, session, batching }: Run<Config, Cursor, Checkpoint>,
  { feed, walk: former }: StoredCursor<Cursor, Checkpoint>,
): AsyncGenerator<SyncEvent, void> {
  const { runId, scope, mode } = run;
  if (mode === "items") return;
  const own = former && former.runId === runId ? former : undefined;
  const since = mode === "incremental" ? feed : undefined;
  const batches = makeBatches(batching, ctx.now, own?.done);
  const failed = makeFailed(own?.failed);
  const reporting: Reporting<Checkpoint> = {
    ctx,
    session,
    batches,
    failed,
    mode,
    isNew: makeIsNew(own?.checkpoint),
    keep(given) {
      // The checkpoint is copied, because a walk may later change the object.
      const checkpoint = structuredClone(given);
      return {
        feed,
        ...(runId !== undefined && { walk: { runId, checkpoint, done: batches.done, failed: failed.list() } }),
      };
    },
  };
  const request = { mode, scope, ...(since !== undefined && { since }), ...(own && { resume: own.checkpoint }) };
  const events = session.walk(request);
  try {
    let step = await events.next();
    while (!step.done && !ctx.signal.aborted) {
      const event = step.value;
      const failure = event.t === "page" ? yield* reportPage(reporting, event) : yield* reportEntry(reporting, event);
      if (ctx.signal.aborted) return;
      step = failure ? await events.throw(failure.error) : await events.next();
    }
    if (!step.done || ctx.signal.aborted) return;
    yield* batches.checkpoint({ feed: step.value.cursor }, { total: batches.done, isLast: true });
    yield endOf(step.value, failed);
  } finally {
    // A walk that is stopped early must release its resources.
    await events.return(undefined as never);
  }
}

/**
 * Returns the end event of a run, with the parts that prove no permission: the parts that could not be read or, if
 * there are too many to name, the whole run.
 */
function endOf({ complete, why, permissions }: WalkEnd<unknown>, failed: Reporting["failed"]): SyncEnd {
  const notLookedAt = failed.list();
  return {
    t: "end",
    listing: complete && !failed.isFull() ? "complete" : "partial",
    permissions: failed.isFull() ? "not_checked" : permissions,
    ...defined({ why }),
    ...(notLookedAt.length > 0 && { notLookedAt }),
  };
}

/**
 * Checks whether a position differs from the last one. If a run gave its worker to others without having advanced, it
 * would repeat the same work in each turn.
 */
function makeIsNew(before: unknown) {
  let last = JSON.stringify(before);
  return (place: unknown): boolean => {
    const text = JSON.stringify(place);
    const isNew = text !== last;
    last = text;
    return isNew;
  };
}

/** Collects the parts that could not be read in the run so far. */
function makeFailed(before: readonly SourceRef[] = []) {
  const failed = new Map(before.map((what) => [JSON.stringify(what), what]));
  const list = () => [...failed.values()].slice(0, MOST_FAILED);
  return {
    add({ what }: Failed): void {
      failed.set(JSON.stringify(what), what);
    },
    list,
    isFull: () => failed.size >= MOST_FAILED,
  };
}

interface Reporting<Checkpoint = never> extends Reading {
  batches: Batches;
  failed: ReturnType<typeof makeFailed>;
  mode: SyncRequest["mode"];
  isNew(checkpoint: unknown): boolean;
  /** The data stored with a checkpoint. */
  keep(checkpoint: Checkpoint): unknown;
}

/**
 * Handles a page's entries. Unchanged entries are only named, entries with other readers get their new access, and the
 * other entries are read. Returns the failure, if there was one.
 */
async function* reportPage<Checkpoint>(
  reporting: Reporting<Checkpoint>,
  { entries, checkpoint, isDue, within, listings, note, total }: Page<Checkpoint>,
): AsyncGenerator<SyncEvent, { error: unknown } | undefined> {
  const { batches, keep, isNew, ctx, mode } = reporting;
  function* place(at: Checkpoint): Generator<SyncEvent, void> {
    if (isNew(at) || batches.hasChanged()) yield* batches.checkpoint(keep(at), defined({ note, total }));
  }
  if (listings !== undefined) batches.countListings(listings);
  const toRead: string[] = [];
  for (const [at, entry] of entries.entries()) {
    if (ctx.signal.aborted) return undefined;
    if ("t" in entry) yield* reportEntry(reporting, entry);
    else {
      const { externalId, access, build } = entry;
      const isSame = isAsStored(entry, await ctx.stored.version(externalId), mode);
      if (isSame && (access === undefined || (await ctx.stored.accessKey(externalId)) === accessKeyOf(access)))
        yield* batches.seen(externalId);
      // An item whose readers have changed may have moved without a new version. If the page's entry contains the item,
      // the item reports its place.
      else if (isSame && access && (mode === "access" || !build)) yield { t: "access", externalId, access };
      else if (build) yield batches.upsert(build());
      else toRead.push(externalId);
    }
    if (within && batches.isDue()) yield* place(within(at + 1));
  }
  try {
    for await (const outcome of readAll(reporting, toRead)) yield* reportEntry(reporting, outcome);
  } catch (error) {
    return { error };
  }
  if (checkpoint !== undefined && (isDue || batches.isDue())) yield* place(checkpoint);
  return undefined;
}

/**
 * Whether the stored item is up to date. A run of mode `access` reads no stored item again, unless the page's entry
 * contains the item.
 */
function isAsStored({ version, build }: Entry, before: string | undefined, mode: Reporting["mode"]): boolean {
  return before !== undefined && (before === version || (mode === "access" && !build));
}

function* reportEntry(
  { batches, failed }: Pick<Reporting, "batches" | "failed">,
  entry: Outcome,
): Generator<SyncEvent, undefined> {
  if (entry.t === "upsert") yield batches.upsert(entry.item);
  else if (entry.t === "seen" && !entry.container) for (const id of entry.externalIds) yield* batches.seen(id);
  else if (entry.t === "failed") {
    failed.add(entry);
    yield failedEvent(entry);
  } else {
    // Named items must not be removed together with their container.
    if (entry.t === "listed" || entry.t === "delete_container") yield* batches.flush();
    yield entry;
  }
}
