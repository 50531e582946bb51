import { defined } from "#core/defined.ts";
import type { Principal } from "#core/principals.ts";
import type { BatchResult, BatchRun, ItemBatch, ItemOp } from "#storage/item-batch.ts";
import type { GroupUpdates } from "#server/sync/people/group-updates.ts";
import { addCounts } from "#storage/batch/add-counts.ts";
import type { SyncCounts, SyncProgress } from "#storage/records/syncs.ts";

/**
 * Collects a run's ops and stores them in batches. Each batch is one transaction, which also stores the cursor that
 * covers it.
 */
export interface BatchSink {
  add(op: ItemOp): void;
  /**
   * Adds counts that leave no trace in the records. Another attempt would count them again, so they are stored with the
   * next cursor or at the end; bytes are stored with the next batch. `done` is the progress that people see.
   */
  count(counts: Partial<SyncCounts>, done?: number): void;
  progress(progress: SyncProgress): void;
  /**
   * Sets a cursor that covers everything added so far, and `state`, which is stored with it. Undefined leaves the
   * connector's cursor unchanged.
   */
  cursor(cursor: string | undefined, state?: Readonly<Record<string, string | null>>): void;
  /** Adds state that is stored with the next cursor. */
  keep(state: Readonly<Record<string, string | null>>): void;
  /** Sets the connector's permission clock, starting with the next batch. */
  clock(aclCheckedAt: number): void;
  flushIfDue(): Promise<void>;
  /**
   * @param isEnd  true = no other attempt of the run follows
   * @throws BatchRefused when the store refused the batch or the run was requested to end
   */
  flush(isEnd?: boolean): Promise<void>;
  /** The reason why the store accepts nothing more from this run. */
  readonly refusal: "lease_lost" | "scope_changed" | "connector_inactive" | undefined;
  readonly isCancelRequested: boolean;
}

/** Thrown when the run must end. `BatchSink.refusal` or `isCancelRequested` has the reason. */
export class BatchRefused extends Error {
  override readonly name = "BatchRefused";
}

export interface SinkOptions {
  apply(batch: ItemBatch): Promise<BatchResult>;
  connectorId: string;
  always: readonly Principal[];
  highest: number;
  run: Omit<BatchRun, "addCounts" | "progress" | "cursor" | "state" | "aclCheckedAt">;
  /** Groups and users that the run reports. They are stored with its items. */
  people?: Pick<GroupUpdates, "takeBatch" | "markCovered" | "isDue" | "onApplied">;
  /** The connector's current permission clock. Present if permissions are mirrored. */
  mirror?: { aclCheckedAt: number | null };
  total: number | null;
  now: () => number;
}

/**
 * Target for how long a batch occupies the writer, which is also how long others wait for it.
 * Source: docs/decisions/0001.
 */
const TARGET_MS = 20;
const SMALLEST = 20;
const LARGEST = 500;
/** The terms and texts of a batch are passed to another thread: a few megabytes at most. */
const MAX_CHARS = 2_000_000;
/** A slow source's progress is stored at least this often. */
const MAX_AGE_MS = 1_000;

/** Makes a sink that adjusts the size of its batches to the time they take. */
export function makeBatchSink(options: SinkOptions): BatchSink {
  let ops: ItemOp[] = [];
  let chars = 0;
  let loose: Partial<SyncCounts> = {};
  /** The part of the counts that the next batch's cursor covers. */
  let covered: Partial<SyncCounts> = {};
  let bytes = 0;
  let progress: SyncProgress | undefined;
  let done = 0;
  /** The progress that was last shown to people. */
  let shown = 0;
  // The last total is kept while the source reports none, so that the progress bar stays visible.
  let total = options.total;
  let cursor: string | undefined;
  let hasCover = false;
  let state: Record<string, string | null> = {};
  let kept: Record<string, string | null> = {};
  let { mirror } = options;
  let clock: number | undefined;
  let size = 100;
  let startedAt = options.now();
  let refusal: BatchSink["refusal"];
  let isCancelRequested = false;

  function coverCounts(): void {
    covered = addCounts(covered, loose);
    loose = {};
  }

  function takeCounts(): Partial<SyncCounts> {
    const taken = { ...covered, ...(bytes > 0 && { bytes }) };
    covered = {};
    bytes = 0;
    return taken;
  }

  async function flush(isEnd = false): Promise<void> {
    startedAt = options.now();
    if (isEnd) coverCounts();
    const uncounted = takeCounts();
    const people = options.people?.takeBatch();
    if (
      people === undefined &&
      ops.length === 0 &&
      Object.keys(uncounted).length === 0 &&
      !hasCover &&
      !progress &&
      shown === done &&
      clock === undefined
    )
      return;
    shown = done;
    const taken = ops;
    const run: BatchRun = {
      ...options.run,
      addCounts: uncounted,
      progress: progress ?? { done, total: total === null ? null : Math.max(total, done), note: null },
      ...defined({ cursor, aclCheckedAt: clock }),
      ...(Object.keys(state).length > 0 && { state }),
    };
    const moved = clock;
    clock = undefined;
    ops = [];
    chars = 0;
    progress = undefined;
    cursor = undefined;
    hasCover = false;
    state = {};
    const { connectorId, always, highest } = options;
    const basis = { connectorId, always, highest, now: options.now(), ...(mirror && { mirror }) };
    const result = await options.apply({ ...basis, run, ops: taken, ...defined({ people }) });
    if (mirror && moved !== undefined) mirror = { aclCheckedAt: moved };
    if (!result.isApplied) {
      refusal = result.reason;
      throw new BatchRefused(result.reason);
    }
    if (result.people) await options.people?.onApplied(result.people);
    if (taken.length >= SMALLEST) size = fit(size, taken.length, result.tookMs);
    isCancelRequested = result.isCancelRequested;
    if (isCancelRequested) throw new BatchRefused("cancelled");
  }

  return {
    add(op) {
      ops.push(op);
      done += op.type === "seen" ? 0 : 1;
      if (op.type === "upsert" && op.item.text.state === "text") chars += op.item.text.text.length;
    },
    count({ bytes: read = 0, ...counts }, more = 0) {
      done += more;
      bytes += read;
      loose = addCounts(loose, counts);
    },
    progress(next) {
      total = next.total ?? total;
      progress = { ...next, total };
    },
    cursor(next, more = {}) {
      cursor = next;
      hasCover = true;
      coverCounts();
      options.people?.markCovered();
      state = { ...state, ...kept, ...more };
      kept = {};
    },
    keep(more) {
      kept = { ...kept, ...more };
    },
    clock: (next) => (clock = next),
    async flushIfDue() {
      const isFull = ops.length >= size || chars >= MAX_CHARS || options.people?.isDue() === true;
      if (isFull || options.now() - startedAt >= MAX_AGE_MS) await flush();
    },
    flush,
    get refusal() {
      return refusal;
    },
    get isCancelRequested() {
      return isCancelRequested;
    },
  };
}

/** Returns the batch size that would have taken `TARGET_MS`, moving half of the way towards it each time. */
function fit(size: number, count: number, tookMs: number): number {
  const ideal = (count * TARGET_MS) / Math.max(tookMs, 0.5);
  return Math.round(Math.min(LARGEST, Math.max(SMALLEST, (size + ideal) / 2)));
}
