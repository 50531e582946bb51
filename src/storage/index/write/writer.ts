import { ANALYZER_VERSION } from "#text/analyzer.ts";
import { inTransaction } from "#storage/transaction.ts";
import type { IndexChange, IndexedDocument } from "#storage/search-index.ts";
import { rewriteChunks } from "#storage/index/visibility/access-chunks.ts";
import { DeadMarks } from "./dead.ts";
import { putDeltaRow } from "#storage/index/delta-rows.ts";
import {
  COMPACTION_LIMITS,
  type CompactionJob,
  type CompactionLimits,
  isDeltaDue,
  planCompaction,
} from "./compaction.ts";
import { BUILDING, LIVE, packKey, RETIRED } from "#storage/index/schema.ts";
import { openSegment, writeSegment } from "./segment-writer.ts";
import { type Database, makeStatements, numberOf, type Statements } from "#storage/index/sqlite.ts";
import { ensureState, type IndexState, readState } from "#storage/index/state.ts";

/**
 * The write side of the embedded index: synchronous, on the only writing connection. `apply` writes a row for each
 * change and touches no posting; compactions write segments from the rows later. `apply`, `hide`, `bulk`, `rebuild` and
 * `dropWorkspace` work inside the caller's open transaction, so that records and index change together.
 */
export type IndexWriter = ReturnType<typeof makeIndexWriter>;

export interface IndexWriterOptions {
  /** Returns milliseconds of a monotonic clock. */
  now?: () => number;
  sliceMs?: number;
  limits?: CompactionLimits;
}

interface RunningCompaction {
  job: CompactionJob;
  /** The value of `foldStep` that the job expects in the database. Another value means that a slice was rolled back. */
  step: number;
}

/** The milliseconds of a slice that are spent in steps; the rest of the slice is for the commit. */
const SLICE_MS = 18;

/**
 * Makes the write side on a raw connection. In memory it holds only state that a restart may lose: running compactions.
 */
export function makeIndexWriter(db: Database, options: IndexWriterOptions = {}) {
  const { now = () => performance.now(), sliceMs = SLICE_MS, limits = COMPACTION_LIMITS } = options;
  const sql = makeStatements(db);
  const running = new Map<number, RunningCompaction>();
  /** Workspaces that may need a compaction; undefined until the table was read for the first time. */
  let attention: Set<number> | undefined;

  const attended = (): Set<number> => {
    const all = () => sql("SELECT no FROM index_state").all();
    return (attention ??= new Set(all().map((row) => Number(row.no))));
  };

  const slice = (no: number): boolean => {
    const step = numberOf(sql("SELECT foldStep FROM index_state WHERE no = ?"), no);
    let compaction = running.get(no);
    if (compaction?.step !== step) compaction = undefined;
    if (compaction === undefined) {
      abandon(sql, no);
      const job = planCompaction(sql, no, limits);
      if (job === undefined) return false;
      compaction = { job, step };
    }
    const end = now() + sliceMs;
    let isDone = false;
    // The job is removed while a step works: after a step throws, there is nothing to continue.
    running.delete(no);
    while (!isDone && now() < end) isDone = compaction.job.next().done === true;
    if (!isDone) running.set(no, compaction);
    compaction.step = step + 1;
    sql("UPDATE index_state SET foldStep = ? WHERE no = ?").run(step + 1, no);
    return true;
  };

  const forgetCompaction = (no: number) => {
    if (running.delete(no)) abandon(sql, no);
  };

  return {
    apply(workspaceId: string, changes: readonly IndexChange[]): void {
      if (changes.length === 0) return;
      const state = ensureState(sql, workspaceId, ANALYZER_VERSION);
      applyChanges(sql, state, changes);
      attention?.add(state.no);
    },
    hide(workspaceId: string, kbIds: readonly string[]): void {
      if (kbIds.length === 0) return;
      const { no, aclSeq } = ensureState(sql, workspaceId, ANALYZER_VERSION);
      sql(
        `INSERT OR REPLACE INTO index_access (id, no, kbId, aclId)
         SELECT ? + 1 + key, ?, value, 0 FROM json_each(?)`,
      ).run(packKey(no, aclSeq), no, JSON.stringify(kbIds));
      sql("UPDATE index_state SET aclSeq = ? WHERE no = ?").run(aclSeq + kbIds.length, no);
      attention?.add(no);
    },
    /**
     * Adds or replaces many documents at once by writing segments directly. Worthwhile from some thousand documents on.
     */
    bulk(workspaceId: string, documents: Iterable<IndexedDocument>): void {
      const { no } = ensureState(sql, workspaceId, ANALYZER_VERSION);
      forgetCompaction(no);
      writeBulk(sql, no, documents, limits.maxDocs);
      attention?.add(no);
    },
    /**
     * Replaces the whole index of a workspace with these documents, step by step: each `next()` of the iterator is some
     * milliseconds of work and may run in its own transaction. Searches use the old index until the last step. Changes
     * that are applied in between take precedence over `documents`. Compactions of the workspace pause while it runs.
     * An undefined document is a pause: callers that produce documents slowly yield one after each document.
     */
    *rebuild(workspaceId: string, documents: Iterable<IndexedDocument | undefined>): Generator<void> {
      const { no, deltaSeq } = ensureState(sql, workspaceId, ANALYZER_VERSION);
      forgetCompaction(no);
      const job = rebuildAll(sql, no, deltaSeq, documents, limits.maxDocs);
      running.set(no, { job, step: numberOf(sql("SELECT foldStep FROM index_state WHERE no = ?"), no) });
      try {
        yield* job;
      } finally {
        running.delete(no);
      }
    },
    /** Drops a workspace at once. Later compaction slices delete its rows. */
    dropWorkspace(workspaceId: string): void {
      const state = readState(sql, workspaceId);
      if (state === undefined) return;
      forgetCompaction(state.no);
      sql("UPDATE index_state SET workspaceId = NULL WHERE no = ?").run(state.no);
      attention?.add(state.no);
    },
    /**
     * Runs one slice (at most about 25 ms) of due maintenance, in its own transaction (or in the open one).
     * @returns true when there was something to do, so that the caller calls again; false when nothing is left for now
     */
    nextCompactionSlice(workspaceId?: string): boolean {
      const slices = () => {
        if (workspaceId !== undefined) {
          const state = readState(sql, workspaceId);
          return state !== undefined && slice(state.no);
        }
        const some = attended();
        for (const no of some) {
          if (slice(no)) return true;
          some.delete(no);
        }
        return false;
      };
      return db.isTransaction ? slices() : inTransaction(db, slices);
    },
    /** Whether so many changes of a workspace are outside segments that their compaction is due. */
    hasManyChanges: (): boolean => [...attended()].some((no) => isDeltaDue(sql, no, limits)),
    /** Retires segments that a crash left half-written. Call it once at start, in a transaction. */
    sweep(): void {
      sql("UPDATE index_segments SET state = ? WHERE state = ?").run(RETIRED, BUILDING);
      running.clear();
      attention = undefined;
    },
    /** Updates the index's own copy of the accesses after the records deleted some of them, step by step. */
    *followAccesses(workspaceId: string): Generator<void> {
      const state = readState(sql, workspaceId);
      if (state !== undefined) yield* rewriteChunks(sql, workspaceId, state.no);
    },
    /** Returns the workspaces whose index another version of the analyzer made. */
    outdatedWorkspaces(): string[] {
      const rows = sql(
        "SELECT workspaceId FROM index_state WHERE analyzerVersion <> ? AND workspaceId IS NOT NULL",
      ).all(ANALYZER_VERSION);
      return rows.map((row) => String(row.workspaceId));
    },
  };
}

/** Deletes the output of an unfinished compaction, which is invisible. */
function abandon(sql: Statements, no: number): void {
  sql("UPDATE index_segments SET state = ? WHERE no = ? AND state = ?").run(RETIRED, no, BUILDING);
}

function applyChanges(sql: Statements, state: IndexState, changes: readonly IndexChange[]): void {
  const { no } = state;
  let { deltaSeq, aclSeq } = state;
  const forgetAccess = sql("DELETE FROM index_access WHERE no = ? AND kbId = ?");
  for (const change of changes) {
    switch (change.type) {
      case "upsert":
        putDeltaRow(sql, no, { seq: ++deltaSeq, kbId: change.document.kbId, document: change.document });
        forgetAccess.run(no, change.document.kbId);
        break;
      case "remove":
        putDeltaRow(sql, no, { seq: ++deltaSeq, kbId: change.kbId, document: undefined });
        forgetAccess.run(no, change.kbId);
        break;
      case "access":
        sql("INSERT OR REPLACE INTO index_access (id, no, kbId, aclId) VALUES (?, ?, ?, ?)").run(
          packKey(no, ++aclSeq),
          no,
          change.kbId,
          change.aclId,
        );
    }
  }
  sql("UPDATE index_state SET deltaSeq = ?, aclSeq = ? WHERE no = ?").run(deltaSeq, aclSeq, no);
}

function writeBulk(sql: Statements, no: number, documents: Iterable<IndexedDocument>, maxDocs: number): void {
  for (const batch of batches(documents, maxDocs)) {
    const dead = drain(DeadMarks.open(sql, no));
    for (const { kbId } of batch) {
      dead.mark(kbId);
      sql("DELETE FROM index_delta WHERE no = ? AND kbId = ?").run(no, kbId);
      sql("DELETE FROM index_access WHERE no = ? AND kbId = ?").run(no, kbId);
    }
    dead.save(sql);
    makeLive(sql, drain(writeBatch(sql, no, batch)));
  }
  sql("UPDATE index_state SET generation = generation + 1, deltaEpoch = deltaEpoch + 1 WHERE no = ?").run(no);
}

function* rebuildAll(
  sql: Statements,
  no: number,
  untilSeq: number,
  documents: Iterable<IndexedDocument | undefined>,
  maxDocs: number,
): Generator<void> {
  const accessUntil = numberOf(sql("SELECT aclSeq FROM index_state WHERE no = ?"), no);
  const segments: number[] = [];
  let batch = new Map<string, IndexedDocument>();
  for (const document of documents) {
    if (document === undefined) yield;
    else batch.set(document.kbId, document);
    if (batch.size < maxDocs) continue;
    segments.push(yield* writeBatch(sql, no, [...batch.values()]));
    batch = new Map();
  }
  if (batch.size > 0) segments.push(yield* writeBatch(sql, no, [...batch.values()]));
  sql("UPDATE index_segments SET state = ? WHERE no = ? AND state = ?").run(RETIRED, no, LIVE);
  for (const segment of segments) makeLive(sql, segment);
  sql("DELETE FROM index_access WHERE id > ? AND id <= ?").run(packKey(no, 0), packKey(no, accessUntil));
  sql(
    `UPDATE index_state SET generation = generation + 1, deltaEpoch = deltaEpoch + 1,
     foldedSeq = max(foldedSeq, ?), analyzerVersion = ? WHERE no = ?`,
  ).run(untilSeq, ANALYZER_VERSION, no);
}

function* writeBatch(sql: Statements, no: number, batch: IndexedDocument[]): Generator<void, number> {
  batch.sort((a, b) => (a.kbId < b.kbId ? -1 : 1));
  const segment = openSegment(sql, no);
  const rows = batch.map((document) => ({ document, aclId: document.aclId }));
  yield* writeSegment(sql, no, segment, rows);
  return segment;
}

function makeLive(sql: Statements, segment: number): void {
  sql("UPDATE index_segments SET state = ? WHERE segment = ?").run(LIVE, segment);
}

function drain<T>(job: Generator<void, T>): T {
  let step = job.next();
  while (step.done !== true) step = job.next();
  return step.value;
}

/** Yields batches of distinct kbIds. Within a batch, the last document of a kbId wins. */
function* batches(documents: Iterable<IndexedDocument>, maxDocs: number): Generator<IndexedDocument[]> {
  let batch = new Map<string, IndexedDocument>();
  for (const document of documents) {
    batch.set(document.kbId, document);
    if (batch.size < maxDocs) continue;
    yield [...batch.values()];
    batch = new Map();
  }
  if (batch.size > 0) yield [...batch.values()];
}
