import { groupsAlways } from "#storage/access/item-clocks.ts";
import { setMaxListeners } from "node:events";
import { isApiError } from "#api/errors.ts";
import { explainMissingPart } from "#core/build.ts";
import type { SourceProblem } from "#api/common.ts";
import type { Source } from "#sources/contract.ts";
import type { SyncEnd, SyncRequest } from "#server/sync/sync-events.ts";
import { runsOf } from "./run-session.ts";
import { withSignal } from "#sources/with-signal.ts";
import { isUnwritable } from "#storage/unless-unwritable.ts";
import { defined } from "#core/defined.ts";
import { SPOOLED_FROM_BYTES } from "#core/spool.ts";
import { findFault, withoutWords } from "#core/faults.ts";
import { BatchRefused, type BatchSink, makeBatchSink } from "./batch-sink.ts";
import { type ByteBudget, type Line, makeByteBudget } from "#server/sync/bytes/byte-budget.ts";
import { inOrder } from "./in-order.ts";
import { countPresent, dropBelow, keepBelow, removeOutOfScope, markPresent, sweep } from "./sweep.ts";
import { toProblem } from "#server/sync/problem.ts";
import { isMirror } from "#server/sync/clocks.ts";
import { beginClocks, keepUnread, applyListing, type ListingContext, confirmPermissions } from "./listings.ts";
import { type ItemCache, makeItemCache } from "./item-cache.ts";
import { accessCursor, findAccessCursor } from "./access-cursor.ts";
import {
  type ListingTally,
  LISTING_LIMITS,
  type ListingLimits,
  makeListingTally,
} from "#server/sync/listing-limits.ts";
import { CheckpointTimeout, withCheckpointTimeout } from "./checkpoint-timeout.ts";
import { type Pass, passOf, passState } from "./pass.ts";
import type { SyncCounts } from "#storage/records/syncs.ts";
import { redact } from "#core/redact.ts";
import { findShortage } from "#core/shortage.ts";
import { makeRunState } from "./run-state.ts";
import { type PreparedEvent, type EventOptions, prepareEvent } from "./prepared-events.ts";
import { isReaderRun } from "#server/sync/schedule/read-again.ts";
import { makeShortSlice, makeTimeSlice } from "./time-slice.ts";
import { makeStored } from "./stored-items.ts";
import { makeGroupUpdates, type GroupUpdates, type GroupUpdateOptions } from "#server/sync/people/group-updates.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/** Why a run is stopped early. */
export type StopReason = "cancel" | "give_back";

export interface RunOptions extends GroupUpdateOptions, EventOptions {
  store: Pick<WorkspaceStore, "workspaceId" | "itemWrites" | "access" | "sourcePeople">;
  source: Source;
  connector: ConnectorRecord;
  sync: SyncRecord;
  /** Aborted with a `StopReason` when the run must stop. */
  signal: AbortSignal;
  /** The number of items that are read and extracted at once. */
  parallel: number;
  /** Limits the bytes of files that all runs hold. */
  budget: ByteBudget;
  /** Limits how much one run lists, if its source can resume in the next run. */
  listing?: ListingLimits;
  /**
   * Whether another job waits for the worker. It is called once the run has used up its turn, at checkpoints from which
   * the run can resume.
   */
  isOtherWaiting?(): Promise<boolean>;
}

/**
 * How a run ended. Its changes are in the store already. `end-effects.ts` applies the end to the run and the connector.
 */
export type RunEnd =
  /**
   * The source reported everything. `isComplete`: every item in scope that isn't removed was named. `problem`: not
   * everything was stored. `goesOn`: the run stopped at a limit and the next run continues from there; the value is the
   * number of runs in a row that have stopped at a limit.
   */
  | { type: "done"; isComplete: boolean; strangers: number; problem?: SourceProblem; goesOn?: number }
  | { type: "failed"; problem: SourceProblem }
  | { type: "waiting"; retryAfterMs: number; problem: SourceProblem }
  | { type: "stopped"; reason: StopReason }
  /**
   * Another worker has the run now, or its connector or scope no longer exists. Nothing more may be recorded for it.
   */
  | { type: "superseded"; reason: "lease_lost" | "scope_changed" | "connector_inactive" };

/** The number of events that are read ahead of storing. Limits memory to a few batches. */
const WINDOW = 128;
/**
 * The maximum bytes of large files that one run has on the disk, so that some are ready when the extraction has
 * capacity for them.
 */
const DISK_BYTES = 256 * 1024 * 1024;
/** An item with more ops than this may be stored in several batches. */
const MANY_OPS = 20;
/**
 * The maximum time to the first checkpoint, as a multiple of the run's listing limit: a git fetch may take two hours.
 */
const NO_PLACE_TIMES = 3;
/** A run that must wait longer than this releases its worker. */
const DEFAULT_WAIT_MS = 60_000;
/**
 * The wait while the server itself can't continue. That isn't a failure of the source, so the interval between retries
 * doesn't grow.
 */
const HOST_WAIT_MS = 60_000;

/**
 * Does one run of a connector. Extracts the items of the source's events, several at once, and stores them in the order
 * of the events, batch by batch with the cursor. A run that is killed and run again ends in the same state. A bad item
 * never ends the run. Never throws for a source's failure.
 */
export async function runSync(options: RunOptions): Promise<RunEnd> {
  const abort = new AbortController();
  // Each item that is being read adds a listener, so there are more than Node's leak warning allows.
  setMaxListeners(0, abort.signal);
  const stop = () => abort.abort(options.signal.reason);
  if (options.signal.aborted) stop();
  options.signal.addEventListener("abort", stop, { once: true });
  const people = await makeGroupUpdates(options);
  const pass = await passOf(options.store.itemWrites, options.connector, options.sync);
  const sink = await makeSink(options, people, pass?.passId ?? options.sync.syncId);
  const line = options.budget.open({
    workspaceId: options.store.workspaceId,
    connectorId: options.connector.connectorId,
  });
  try {
    return await runEvents(options, { sink, people, line, pass }, abort);
  } catch (error) {
    return await endOf(abort.signal.reason instanceof CheckpointTimeout ? abort.signal.reason : error, options, sink);
  } finally {
    // Aborts reads that this run no longer needs.
    abort.abort(new Error("The sync has ended."));
    line.close();
    options.signal.removeEventListener("abort", stop);
  }
}

async function makeSink(options: RunOptions, people: GroupUpdates, passId: string): Promise<BatchSink> {
  const { store, connector, sync, lease, now } = options;
  const { connectorId } = connector;
  const guard = await store.itemWrites.guardOf(connectorId, now());
  return makeBatchSink({
    apply: (batch) => store.itemWrites.applyBatch(batch),
    connectorId,
    always: groupsAlways(connector),
    highest: guard.highest,
    run: {
      syncId: sync.syncId,
      passId,
      jobId: lease.jobId,
      leaseOwner: lease.owner,
      scopeVersion: connector.scopeVersion,
    },
    total: sync.progress.total,
    people,
    ...(isMirror(options.source.spec) && { mirror: { aclCheckedAt: connector.aclCheckedAt } }),
    now,
  });
}

async function runEvents(
  options: RunOptions,
  { sink, people, line, pass }: { sink: BatchSink; people: GroupUpdates; line: Line; pass: Pass | undefined },
  abort: AbortController,
): Promise<RunEnd> {
  const startedAt = options.now();
  const { source, connector, sync, store } = options;
  const runs = runsOf(source);
  if (!runs) throw new Error(`The source "${connector.providerId}" has nothing to sync.`);
  const readAgain = new Set(isReaderRun(sync) ? sync.items : []);
  const known = makeItemCache(store.itemWrites, connector.connectorId, { readAgain });
  if (sync.mode === "full") {
    await removeOutOfScope(options, sink);
    await known.loadAll();
  }
  const slice = makeTimeSlice(options, startedAt);
  const shortSlice = isReaderRun(sync) && makeShortSlice({ isOtherWaiting: async () => false, ...options });
  const passId = pass?.passId ?? sync.syncId;
  const request = toRequest(
    options,
    passId,
    sync.mode === "access" ? await findAccessCursor(options) : connector.cursor,
  );
  const state = makeRunState((key) => store.itemWrites.findState(connector.connectorId, key));
  const stored = makeStored(store, connector.connectorId, known);
  const tally = await tallyOf(options, pass);
  const runContext = { options, known, sink, people, tally, clocks: await beginClocks(options, sink) };
  const events = runs({ ...withSignal(options.context, abort.signal), stored, state }, request);
  const disk = makeByteBudget(DISK_BYTES).open({ workspaceId: store.workspaceId, connectorId: connector.connectorId });
  const preparedEvents = inOrder(
    withCheckpointTimeout(events, {
      mostMs: (options.listing ?? LISTING_LIMITS).ms * NO_PLACE_TIMES,
      now: options.now,
      stop: (reason) => abort.abort(reason),
      took: tally?.took,
    }),
    (event) => prepareEvent(options, event, { line, disk, known, state, slice, signal: abort.signal }),
    {
      parallel: options.parallel,
      window: WINDOW,
      isLarge: (event) =>
        event.t === "upsert" &&
        event.item.content.type === "inline" &&
        event.item.content.text.length > SPOOLED_FROM_BYTES,
      release: () => abort.abort(new Error("The sync has ended.")),
    },
  );
  let end: SyncEnd | undefined;
  let cursor: string | undefined;
  let problem: SourceProblem | undefined;
  let isAtBound = false;
  for await (const prepared of preparedEvents) {
    end = prepared.end ?? end;
    problem ??= prepared.problem ?? problemOf(prepared.end);
    cursor = prepared.cursor?.json ?? cursor;
    await applyEvent(prepared, runContext);
    prepared.release?.();
    if (shortSlice && !(await shortSlice.mayGoOn())) {
      await sink.flush();
      return { type: "stopped", reason: "give_back" };
    }
    // A partly read group would be read from its beginning again. After the last cursor, everything would be read
    // again.
    if (prepared.cursor === undefined || prepared.cursor.isLast || people.isOpen()) continue;
    if (prepared.cursor.listings !== undefined && tally?.why() !== undefined) {
      problem ??= { code: "source_error", message: tally.why() ?? "" };
      isAtBound = true;
      break;
    }
    if (await slice.mayGoOn()) continue;
    await sink.flush();
    return { type: "stopped", reason: "give_back" };
  }
  options.signal.throwIfAborted();
  // The source may have ended without an error after the abort.
  if (abort.signal.reason instanceof CheckpointTimeout) throw abort.signal.reason;
  if (end) await keepUnread(runContext, end);
  const isFullListing = end?.listing === "complete" && sync.mode !== "items";
  if (isFullListing) await sweep({ ...options, sync: { syncId: passId } }, known, sink);
  const { scopeVersion } = connector;
  const unfinished = isAtBound && pass ? { ...pass, runs: pass.runs + 1 } : undefined;
  if (tally) sink.cursor(cursor, { ...passState(unfinished, scopeVersion), ...tally.state(true) });
  await confirmPermissions(runContext, end);
  people.markCovered();
  await sink.flush(true);
  const refusal = end && (await people.end(end));
  if (refusal) return { type: "superseded", reason: refusal };
  const goesOn = unfinished?.runs;
  return { type: "done", isComplete: isFullListing, strangers: people.strangers, ...defined({ problem, goesOn }) };
}

/**
 * Returns the counter of the run's listing limits. Mirrored permissions are proven by one run. Several runs that list
 * everything together would prove nothing, so such a run has no limits.
 */
async function tallyOf({ store, source, connector, sync, listing }: RunOptions, pass: Pass | undefined) {
  if (pass === undefined || isMirror(source.spec)) return undefined;
  const { connectorId } = connector;
  return makeListingTally(store.itemWrites, { connectorId, syncId: sync.syncId }, listing);
}

function problemOf(end: SyncEnd | undefined): SourceProblem | undefined {
  return end?.why === undefined ? undefined : { code: "source_error", message: redact(end.why) };
}

function toRequest({ sync, connector }: RunOptions, passId: string, cursor: unknown): SyncRequest {
  const { mode } = sync;
  if (mode === "identities") throw new Error("Runs of identities are another job's.");
  return {
    mode,
    scope: connector.scope,
    cursor,
    ...(sync.items && { externalIds: sync.items }),
    runId: passId,
    ...(sync.people && { readsGroups: true }),
  };
}

type RunContext = ListingContext & {
  options: RunOptions;
  known: ItemCache;
  people: GroupUpdates;
  tally: ListingTally | undefined;
};

function leftOut(reason: string): Partial<SyncCounts> {
  return { skipped: 1, reasons: { [reason]: 1 } };
}

async function applyEvent(prepared: PreparedEvent, runContext: RunContext): Promise<void> {
  const { options, known, sink, people, clocks } = runContext;
  sink.count({ bytes: prepared.bytes, ...(prepared.isVanished && { skipped: 1 }) });
  await known.load([...(prepared.seen ?? []), ...(prepared.keepChildrenOf ?? [])]);
  for (const externalId of prepared.seen ?? []) {
    const item = known.find(externalId);
    const alive = item ? [item, ...known.childrenOf(externalId)] : [];
    for (const each of alive) countPresent(each, known, sink);
  }
  if (prepared.gone) await dropBelow(prepared.gone, options, sink);
  if (prepared.seenBelow) await keepBelow(prepared.seenBelow, options, known, sink);
  for (const externalId of prepared.keepChildrenOf ?? []) {
    for (const child of known.childrenOf(externalId)) markPresent(child, known, sink);
  }
  for (const op of prepared.ops) {
    sink.add(clocks && prepared.reportedAt !== undefined ? clocks.stamp(op, prepared.reportedAt) : op);
    if (op.type === "upsert" && op.item.text.state === "failed" && op.item.text.isFault) sink.count({ faults: 1 });
    if (op.type === "upsert" && op.item.datesLeftOut) sink.count({ datesLeftOut: op.item.datesLeftOut });
    if (op.type === "skip") sink.count(op.reason === "failed" ? { seen: 1, failed: 1 } : leftOut(op.reason));
    // An archive contains many items, so it may be stored in several batches. Its version is stored with the last one.
    if (prepared.ops.length > MANY_OPS) await sink.flushIfDue();
  }
  for (const op of clocks?.late() ?? []) sink.add(op);
  if (prepared.people) await people.add(prepared.people, prepared.reportedAt ?? options.now());
  if (prepared.listing) await applyListing(runContext, prepared.listing);
  if (prepared.progress) sink.progress(prepared.progress);
  if (prepared.cursor !== undefined) storeCursor(prepared.cursor, runContext);
  await sink.flushIfDue();
}

/** Stores the events so far with the cursor, unless a group is partly read. */
function storeCursor(
  { json, state, listings }: NonNullable<PreparedEvent["cursor"]>,
  {
    options: { sync },
    known,
    sink,
    people,
    tally,
  }: Pick<RunContext, "options" | "known" | "sink" | "people" | "tally">,
): void {
  const isAccess = sync.mode === "access";
  tally?.count(listings ?? 0);
  if (people.isOpen()) {
    if (!isAccess) sink.keep(state);
    return;
  }
  // A run that resumes from this cursor must find which items were named before it.
  for (const op of known.takeMarks()) sink.add(op);
  // A run of mode `access` has no position in the feed to which the connector's cursor belongs.
  if (isAccess) sink.cursor(undefined, accessCursor(sync.syncId, json));
  else sink.cursor(json, { ...state, ...(listings !== undefined && tally?.state()) });
}

async function endOf(thrown: unknown, options: RunOptions, sink: BatchSink): Promise<RunEnd> {
  const error = explainMissingPart(thrown) ?? thrown;
  if (sink.refusal) return { type: "superseded", reason: sink.refusal };
  // Everything before the failure is complete and has its cursor, so it is stored.
  const isLast = !isApiError(error, "source_rate_limited") && !isOfHost(error) && options.signal.reason !== "give_back";
  const fault = options.signal.aborted ? undefined : findFault(error);
  if (fault) sink.count({ faults: 1 });
  await storeRest(options, sink, isLast);
  if (sink.refusal) return { type: "superseded", reason: sink.refusal };
  if (sink.isCancelRequested) return { type: "stopped", reason: "cancel" };
  if (options.signal.aborted) {
    return { type: "stopped", reason: options.signal.reason === "cancel" ? "cancel" : "give_back" };
  }
  if (error instanceof CheckpointTimeout) {
    return { type: "done", isComplete: false, strangers: 0, problem: { code: "source_error", message: error.message } };
  }
  const problem = toProblem(error);
  if (isApiError(error, "source_rate_limited")) {
    return { type: "waiting", retryAfterMs: error.retryAfterMs ?? DEFAULT_WAIT_MS, problem };
  }
  if (isOfHost(error)) {
    return { type: "waiting", retryAfterMs: findShortage(error)?.retryAfterMs ?? HOST_WAIT_MS, problem };
  }
  const { connectorId, providerId } = options.connector;
  if (fault) options.faults?.note(fault, { connectorId, providerId, syncId: options.sync.syncId });
  else if (problem.code === "internal") options.context.log("The run failed.", { error: withoutWords(error) });
  return { type: "failed", problem };
}

/** Whether the server's machine caused the error: its disk, its limits, or its program, which was replaced. */
function isOfHost(error: unknown): boolean {
  return isUnwritable(error) || isApiError(error, "restart_needed") || findShortage(error) !== undefined;
}

async function storeRest({ context }: RunOptions, sink: BatchSink, isLast: boolean): Promise<void> {
  try {
    await sink.flush(isLast);
  } catch (error) {
    // The run ended for another reason, which is reported elsewhere. The next run repeats the work of the failed batch.
    if (!(error instanceof BatchRefused)) context.log("The last batch could not be stored.", { error });
  }
}
