import { setMaxListeners } from "node:events";
import { isApiError } from "#api/errors.ts";
import type { SourceProblem } from "#api/common.ts";
import type { ChildRules, Source, SourceContext, SyncEnd, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { withSignal } from "#sources/with-signal.ts";
import type { Scope } from "#core/scope.ts";
import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import { isUnwritable } from "#storage/unless-unwritable.ts";
import { outermostId } from "#core/child-ids.ts";
import { defined } from "#core/defined.ts";
import { BatchRefused, type BatchSink, makeBatchSink } from "./batch-sink.ts";
import { type ByteGate, makeByteGate } from "./byte-gate.ts";
import { inOrder } from "./in-order.ts";
import { bytesHeld, prepareWithChildren } from "./children.ts";
import type { PrepareOptions } from "./prepare.ts";
import { toProblem } from "./problem.ts";
import { type Known, makeKnown } from "./known.ts";
import { redact } from "#core/redact.ts";
import { type ItemOp, removalLimit } from "#storage/batch/item-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { StoredItem } from "#storage/records/item-writes.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/store.ts";

/** Why a run is told to end before its end. */
export type StopReason = "cancel" | "give_back";

export interface RunOptions extends Omit<PrepareOptions, "workspaceId" | "connector" | "signal" | "fetchContent"> {
  store: Pick<WorkspaceStore, "workspaceId" | "itemWrites">;
  source: Source;
  connector: ConnectorRecord;
  sync: SyncRecord;
  /** The claim under which it runs. */
  lease: { jobId: string; owner: string };
  /** `config` parsed, credentials, log; its signal is the run's. */
  context: SourceContext<unknown>;
  /** Aborted with a `StopReason`. */
  signal: AbortSignal;
  /** Items read and extracted at once. */
  parallel: number;
  /** Absent = nothing has a limit. */
  quotas?: Pick<QuotaKeeper, "takeItem" | "noteText">;
}

/** How a run ended. What it did is in the store already; what it means for run and connector is `finish.ts`. */
export type RunEnd =
  /**
   * The source said all it had. `isComplete`: every living item in scope was named; `isCurrent`: and the run would have
   * shown every change of a permission. `problem`: not all was taken.
   */
  | { type: "done"; isComplete: boolean; isCurrent: boolean; problem?: SourceProblem }
  | { type: "failed"; problem: SourceProblem }
  | { type: "waiting"; retryAfterMs: number; problem: SourceProblem }
  | { type: "stopped"; reason: StopReason }
  /** Somebody else has it now, or its connector or scope is gone. Nothing more may be said about it. */
  | { type: "superseded"; reason: "lease_lost" | "scope_changed" | "connector_inactive" };

/** Events read ahead of what is stored: bounds memory by some batches. */
const WINDOW = 128;
/** Bytes of files that are read, extracted or waiting for their place in a batch: bounds memory whatever the files are. */
const BYTES_IN_FLIGHT = 64 * 1024 * 1024;
/** Counted for a file whose source does not say how large it is. */
const UNKNOWN_BYTES = 1024 * 1024;
/** Ops of one item that go into one batch, whatever it becomes. */
const MANY_OPS = 20;
/** Long waits give the worker back. */
const DEFAULT_WAIT_MS = 60_000;
/** As long as nothing can be stored; no failure of the source, so it is not tried more and more seldom. */
const UNWRITABLE_WAIT_MS = 60_000;

/**
 * One run of a connector: the source's events, extracted several at once and stored in their order, batch by batch with
 * the cursor. Killed anywhere and run again it ends in the same state. A bad item never ends it. Never throws for what
 * a source does.
 */
export async function runSync(options: RunOptions): Promise<RunEnd> {
  const abort = new AbortController();
  // As many items listen as are read at once, more than Node takes for a leak.
  setMaxListeners(0, abort.signal);
  const stop = () => abort.abort(options.signal.reason);
  if (options.signal.aborted) stop();
  options.signal.addEventListener("abort", stop, { once: true });
  const sink = await makeSink(options);
  try {
    return await runEvents(options, sink, abort);
  } catch (error) {
    return await endOf(error, options, sink);
  } finally {
    // Whatever still reads for this run has no reader any more.
    abort.abort(new Error("The sync has ended."));
    options.signal.removeEventListener("abort", stop);
  }
}

async function makeSink(options: RunOptions): Promise<BatchSink> {
  const { store, connector, sync, lease, now } = options;
  const { connectorId, connectionId } = connector;
  const guard = await store.itemWrites.guardOf(connectorId, now());
  return makeBatchSink({
    apply: (batch) => store.itemWrites.applyBatch(batch),
    connectorId,
    always: [`group:connector:${connectorId}`, ...(connectionId ? [`group:connection:${connectionId}`] : [])],
    highest: guard.highest,
    run: { syncId: sync.syncId, jobId: lease.jobId, leaseOwner: lease.owner, scopeVersion: connector.scopeVersion },
    total: sync.progress.total,
    now,
  });
}

async function runEvents(options: RunOptions, sink: BatchSink, abort: AbortController): Promise<RunEnd> {
  const { source, connector, sync, store } = options;
  if (!source.sync) throw new Error(`The source "${connector.providerId}" has nothing to sync.`);
  const known = makeKnown(store.itemWrites, connector.connectorId);
  if (sync.mode === "full" || source.loadsStored !== true) await known.load();
  if (sync.mode === "full") await leaveOutOfScope(source, connector.scope, known, sink);
  const events = source.sync(withSignal(options.context, abort.signal), toRequest(options, known));
  const gate = makeByteGate(BYTES_IN_FLIGHT);
  const steps = inOrder(events, (event) => toStep(options, event, gate, known, abort.signal), {
    parallel: options.parallel,
    window: WINDOW,
    release: () => abort.abort(new Error("The sync has ended.")),
  });
  let end: SyncEnd | undefined;
  let problem: SourceProblem | undefined;
  for await (const step of steps) {
    end = step.end ?? end;
    problem ??= step.problem;
    await take(step, known, sink, sync.syncId);
    step.leaveGate?.();
  }
  options.signal.throwIfAborted();
  const isFullListing = end?.listing === "complete" && sync.mode !== "items";
  if (isFullListing) await sweep(options, known, sink);
  await sink.flush(true);
  return {
    type: "done",
    isComplete: isFullListing,
    isCurrent: isFullListing && end?.permissions === "current",
    ...defined({ problem }),
  };
}

function toRequest({ sync, connector }: RunOptions, known: Known): SyncRequest<unknown> {
  return {
    // Identities have a run of their own when a source has them; until then nothing asks for it.
    mode: sync.mode === "identities" ? "incremental" : sync.mode,
    scope: connector.scope,
    cursor: connector.cursor,
    ...(sync.items && { externalIds: sync.items }),
    runId: sync.syncId,
    storedVersion: (externalId) => known.versionOf(externalId),
    loadStored: (externalIds) => known.load(externalIds),
  };
}

/** An event made ready: what is to be stored, in the order of the events. */
interface Step {
  ops: ItemOp[];
  bytes: number;
  seen?: readonly string[];
  named?: readonly string[];
  /** Items whose stored child items stay as they are. */
  keepChildrenOf?: readonly string[];
  cursor?: string;
  progress?: { done: number; total: number | null; note: string | null };
  end?: SyncEnd;
  /** Why the item was not taken, when that is no fault of its own. */
  problem?: SourceProblem;
  /** An item that was gone when it was to be read. */
  isVanished?: boolean;
  /** Gives back the room that it held among the bytes in flight. */
  leaveGate?: () => void;
}

function toStep(
  options: RunOptions,
  event: SyncEvent,
  gate: ByteGate,
  known: Known,
  signal: AbortSignal,
): Step | Promise<Step> {
  // What was read before the end of a run is still stored; nothing is begun after it.
  signal.throwIfAborted();
  switch (event.t) {
    case "upsert":
      return prepareInside(options, event, gate, known, signal);
    case "access": {
      const { externalId } = event;
      return {
        ops: [{ type: "access", externalId, access: options.judge(event.access) }],
        bytes: 0,
        ...alive(externalId),
      };
    }
    case "delete":
      return { ops: [{ type: "delete", externalId: event.externalId, subtree: event.subtree === true }], bytes: 0 };
    case "seen":
      return { ops: [], bytes: 0, seen: event.externalIds };
    case "skip": {
      const { externalId, reason, retryable } = event;
      const op: ItemOp = { type: "skip", externalId, reason, message: redact(event.message), retryable };
      return { ops: [op], bytes: 0, ...(reason === "failed" && alive(externalId)) };
    }
    case "checkpoint":
      return { ops: [], bytes: 0, cursor: JSON.stringify(event.cursor ?? null) };
    case "progress": {
      const { done, total, note } = event;
      return { ops: [], bytes: 0, progress: { done, total: total ?? null, note: note ?? null } };
    }
    case "end":
      return { ops: [], bytes: 0, end: event };
  }
}

/** Events come here in their order and leave in it, so that the first in line never waits for one behind it. */
async function prepareInside(
  options: RunOptions,
  event: Extract<SyncEvent, { t: "upsert" }>,
  gate: ByteGate,
  known: Known,
  signal: AbortSignal,
): Promise<Step> {
  const full = await overQuota(options, event.item.externalId, known);
  if (full) return full;
  if (event.item.content.type !== "fetch") return prepareStep(options, event, known, signal);
  const leaveGate = await gate.enter(bytesHeld(event.item, UNKNOWN_BYTES, rulesOf(options)), signal);
  return { ...(await prepareStep(options, event, known, signal)), leaveGate };
}

/** The step that leaves a new item out of a workspace that is full; undefined while there is room, or it is known. */
async function overQuota(
  { quotas, store, source, connector, sync }: RunOptions,
  externalId: string,
  known: Known,
): Promise<Step | undefined> {
  if (quotas === undefined || known.has(externalId)) return undefined;
  if (sync.mode !== "full" && source.loadsStored === true) {
    // Such a run knows only what it asked for.
    const [stored] = await store.itemWrites.listStoredOf(connector.connectorId, [externalId]);
    if (stored !== undefined) return undefined;
  }
  const problem = await quotas.takeItem(store.workspaceId);
  if (problem === undefined) return undefined;
  const op: ItemOp = { type: "skip", externalId, reason: "over_quota", message: problem.message, retryable: true };
  return { ops: [op], bytes: 0, problem };
}

/** Named, and not read: what is in it stays as well. */
function alive(externalId: string): Pick<Step, "named" | "keepChildrenOf"> {
  return { named: [externalId], keepChildrenOf: [externalId] };
}

function rulesOf({ source, context }: RunOptions): ChildRules | undefined {
  return source.childRules?.(context.config);
}

async function prepareStep(
  options: RunOptions,
  { item }: Extract<SyncEvent, { t: "upsert" }>,
  known: Known,
  signal: AbortSignal,
): Promise<Step> {
  const { source, context, store, connector } = options;
  const fetchContent = source.fetchContent?.bind(source);
  const rules = rulesOf(options);
  const prepared = await prepareWithChildren(
    {
      ...options,
      ...defined({ rules }),
      storedVersion: (externalId) => known.versionOf(externalId),
      hasChildren: (externalId) => known.childrenOf(externalId).length > 0,
      workspaceId: store.workspaceId,
      connector,
      signal,
      ...(fetchContent && {
        fetchContent: (externalId: string) => fetchContent(withSignal(context, signal), { externalId }),
      }),
    },
    item,
  );
  if (!prepared) return { ops: [], bytes: 0, isVanished: true };
  const { unchanged, ...step } = prepared;
  if (options.quotas && !known.has(item.externalId)) noteTexts(options.quotas, store.workspaceId, step.ops);
  return { ...step, seen: unchanged };
}

function noteTexts(quotas: Pick<QuotaKeeper, "noteText">, workspaceId: string, ops: readonly ItemOp[]): void {
  for (const op of ops) {
    if (op.type === "upsert" && op.item.text.state === "text") quotas.noteText(workspaceId, op.item.text.text.length);
  }
}

async function take(step: Step, known: Known, sink: BatchSink, syncId: string): Promise<void> {
  sink.count({ bytes: step.bytes, ...(step.isVanished && { skipped: 1 }) });
  for (const externalId of step.named ?? []) known.name(externalId);
  for (const externalId of step.seen ?? []) {
    const item = known.name(externalId);
    for (const each of item ? [item, ...known.childrenOf(externalId)] : []) {
      // What an earlier attempt has stored or marked was counted by it.
      sink.count(each.seenBy === syncId ? {} : { seen: 1, unchanged: 1 }, 1);
      markAlive(each, known, sink);
    }
  }
  for (const externalId of step.keepChildrenOf ?? []) {
    for (const child of known.childrenOf(externalId)) markAlive(child, known, sink);
  }
  for (const op of step.ops) {
    sink.add(op);
    if (op.type === "skip") sink.count(op.reason === "failed" ? { seen: 1, failed: 1 } : { skipped: 1 });
    // An archive is many items: it may go in several batches, its version with the last.
    if (step.ops.length > MANY_OPS) await sink.flushIfDue();
  }
  if (step.progress) sink.progress(step.progress);
  if (step.cursor !== undefined) {
    // Whoever resumes from this cursor must know what was named before it.
    for (const externalIds of known.takeMarks()) sink.add({ type: "seen", externalIds });
    sink.cursor(step.cursor);
  }
  await sink.flushIfDue();
}

/** A held item that is there again is kept; others are marked only where a cursor relies on it. */
function markAlive({ externalId, indexState }: StoredItem, known: Known, sink: BatchSink): void {
  known.name(externalId);
  if (indexState === "held") sink.add({ type: "seen", externalIds: [externalId] });
  else known.markLater(externalId);
}

/** What the scope leaves out goes at once and without the guard: a person asked for it. */
async function leaveOutOfScope(source: Source, scope: Scope, known: Known, sink: BatchSink): Promise<void> {
  const inScope = source.inScope?.bind(source);
  if (!inScope) return;
  const out = known.listUnnamed().filter((item) => !inScope(scope, { externalId: outermostId(item.externalId) }));
  for (const kbIds of inChunks(
    out.map((item) => item.kbId),
    100,
  )) {
    sink.add({ type: "remove", kbIds });
    await sink.flush();
  }
  for (const item of out) known.forget(item.externalId);
}

/** Removes what a complete listing did not name, or holds all of it when that is suspiciously much. */
async function sweep({ store, connector, sync, now }: RunOptions, known: Known, sink: BatchSink): Promise<void> {
  await sink.flush();
  await known.load();
  const gone = known.listUnnamed().filter((item) => item.seenBy !== sync.syncId && item.indexState !== "held");
  if (gone.length === 0) return;
  const guard = await store.itemWrites.guardOf(connector.connectorId, now());
  const hold = guard.removed + gone.length > removalLimit(guard.highest);
  for (const kbIds of inChunks(
    gone.map((item) => item.kbId),
    100,
  )) {
    sink.add({ type: "sweep", kbIds, hold });
    await sink.flush();
  }
}

async function endOf(error: unknown, options: RunOptions, sink: BatchSink): Promise<RunEnd> {
  if (sink.refusal) return { type: "superseded", reason: sink.refusal };
  // What came before the end is whole, with its cursor: it is kept.
  const isLast =
    !isApiError(error, "source_rate_limited") && !isUnwritable(error) && options.signal.reason !== "give_back";
  await storeRest(options, sink, isLast);
  if (sink.refusal) return { type: "superseded", reason: sink.refusal };
  if (sink.isCancelRequested) return { type: "stopped", reason: "cancel" };
  if (options.signal.aborted) {
    return { type: "stopped", reason: options.signal.reason === "cancel" ? "cancel" : "give_back" };
  }
  const problem = toProblem(error);
  if (isApiError(error, "source_rate_limited")) {
    return { type: "waiting", retryAfterMs: error.retryAfterMs ?? DEFAULT_WAIT_MS, problem };
  }
  if (isUnwritable(error)) return { type: "waiting", retryAfterMs: UNWRITABLE_WAIT_MS, problem };
  if (problem.code === "internal") options.context.log("The run failed.", { error });
  return { type: "failed", problem };
}

async function storeRest({ context }: RunOptions, sink: BatchSink, isLast: boolean): Promise<void> {
  try {
    await sink.flush(isLast);
  } catch (error) {
    // The reason for the end is told elsewhere and is not this one; the next run does what is missing here.
    if (!(error instanceof BatchRefused)) context.log("The last batch could not be stored.", { error });
  }
}

function* inChunks<T>(values: readonly T[], size: number): Generator<T[]> {
  for (let i = 0; i < values.length; i += size) yield values.slice(i, i + size);
}
