import { hasChunkToWrite, writeChunks } from "#storage/index/visibility/access-chunks.ts";
import { findKbId } from "#storage/index/kb-ids.ts";
import { DeadMarks } from "./dead.ts";
import { findDeltaDocument } from "#storage/index/delta-rows.ts";
import { mergeSegments } from "./merge.ts";
import { keysOf, LIVE, lowOf, MAX_SEGMENT_DOCS, packKey, RETIRED } from "#storage/index/schema.ts";
import { loadColumns, saveAccessColumn } from "#storage/index/segment-files.ts";
import { type NewDocument, openSegment, writeSegment } from "./segment-writer.ts";
import { readManifest, type SegmentRow } from "#storage/index/segments.ts";
import { numberOf, type Statement, type Statements } from "#storage/index/sqlite.ts";

/**
 * The limits that decide when maintenance is due. Production uses `COMPACTION_LIMITS`; tests use small numbers to reach
 * every level.
 */
export interface CompactionLimits {
  /** The number of delta rows that makes a compaction due, which is also the most rows written at once. */
  deltaRows: number;
  maxDeltaRows: number;
  /** Segments below this many living documents are small; `fanIn` of them merge. */
  smallDocs: number;
  fanIn: number;
  /** Segments from `smallDocs` up to this many documents merge two by two. */
  mediumDocs: number;
  maxDocs: number;
  /** The share of dead documents that makes a rewrite due. */
  deadShare: number;
  /** The number of access rows that are written into the segments' columns at once. */
  accessRows: number;
  /** The number of accesses written into one chunk. */
  accessChunk: number;
}

/** Segments grow in the levels 4k → 32k → 65,536. */
export const COMPACTION_LIMITS: CompactionLimits = {
  deltaRows: 4_096,
  maxDeltaRows: 8_192,
  smallDocs: 16_384,
  fanIn: 8,
  mediumDocs: 49_152,
  maxDocs: MAX_SEGMENT_DOCS,
  deadShare: 0.1,
  accessRows: 4_096,
  accessChunk: 8_192,
};

export type CompactionJob = Generator<void, void>;

/** The number of rows deleted in one cleanup step. */
const DELETE_STEP = 100;

/**
 * Returns the next maintenance job of a workspace; undefined when nothing is due. Each job writes data that no reader
 * uses yet and ends with one step that switches the manifest. An abandoned job leaves only an invisible segment behind.
 */
export function planCompaction(sql: Statements, no: number, limits: CompactionLimits): CompactionJob | undefined {
  const state = sql("SELECT workspaceId, foldedSeq FROM index_state WHERE no = ?").get(no);
  if (state === undefined) return undefined;
  if (state.workspaceId === null) return removeWorkspace(sql, no);
  const compactedKey = packKey(no, Number(state.foldedSeq));
  if (numberOf(sql("SELECT count(*) FROM index_segments WHERE no = ? AND state = ?"), no, RETIRED) > 0) {
    return cleanUp(sql, no, compactedKey);
  }
  if (numberOf(sql("SELECT count(*) FROM index_delta WHERE id > ? AND id <= ?"), packKey(no, 0), compactedKey) > 0) {
    return cleanUp(sql, no, compactedKey);
  }
  if (isDeltaDue(sql, no, limits)) return compactDelta(sql, no, compactedKey, limits.maxDeltaRows);
  const inputs = chooseMerge(readManifest(sql, no), limits);
  if (inputs !== undefined) return mergeInto(sql, no, inputs);
  const accessRows = numberOf(sql("SELECT count(*) FROM index_access WHERE id > ? AND id <= ?"), ...keysOf(no));
  if (accessRows >= limits.accessRows) return compactAccess(sql, no, limits.accessRows);
  const workspaceId = String(state.workspaceId);
  if (!hasChunkToWrite(sql, workspaceId, no, limits.accessChunk)) return undefined;
  return writeChunks(sql, workspaceId, no, limits.accessChunk);
}

/** Whether so many changes are outside segments that their compaction is due. */
export function isDeltaDue(sql: Statements, no: number, { deltaRows }: CompactionLimits): boolean {
  const state = sql("SELECT deltaSeq, foldedSeq FROM index_state WHERE no = ?").get(no);
  if (state === undefined || Number(state.deltaSeq) - Number(state.foldedSeq) < deltaRows) return false;
  const range = keysOf(no, Number(state.foldedSeq));
  return numberOf(sql("SELECT count(*) FROM index_delta WHERE id > ? AND id <= ?"), ...range) >= deltaRows;
}

/** Chooses the segments to merge now. */
export function chooseMerge(rows: readonly SegmentRow[], limits: CompactionLimits): SegmentRow[] | undefined {
  const living = (row: SegmentRow) => row.docs - row.deadCount;
  const sorted = rows.toSorted((a, b) => living(a) - living(b) || a.segment - b.segment);
  const small = sorted.filter((row) => living(row) < limits.smallDocs);
  if (small.length >= limits.fanIn) return fitting(small, living, limits.maxDocs);
  const medium = sorted.filter((row) => living(row) >= limits.smallDocs && living(row) < limits.mediumDocs);
  const [first, second] = medium;
  if (first && second && living(first) + living(second) <= limits.maxDocs) return [first, second];
  const worn = rows.find((row) => row.deadCount > row.docs * limits.deadShare);
  return worn === undefined ? undefined : [worn];
}

function fitting(
  rows: readonly SegmentRow[],
  living: (row: SegmentRow) => number,
  maxDocs: number,
): SegmentRow[] | undefined {
  let docs = 0;
  const chosen = rows.filter((row) => (docs += living(row)) <= maxDocs);
  return chosen.length >= 2 ? chosen : undefined;
}

function* compactDelta(sql: Statements, no: number, compactedKey: number, maxRows: number): CompactionJob {
  const rows: { id: number; kbId: string }[] = sql(
    "SELECT id, kbId FROM index_delta WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
  ).all(compactedKey, keysOf(no)[1], maxRows);
  const lastSeq = lowOf(rows.at(-1)?.id ?? compactedKey);
  const segment = openSegment(sql, no);
  const dead = yield* DeadMarks.open(sql, no);
  yield;
  for (const [i, row] of rows.entries()) {
    dead.mark(row.kbId);
    if (i % 64 === 63) yield;
  }
  rows.sort((a, b) => (a.kbId < b.kbId ? -1 : 1));
  yield;
  const docs = yield* writeSegment(sql, no, segment, documentsOf(sql, no, rows));
  yield;
  dead.save(sql);
  sql("UPDATE index_segments SET state = ? WHERE segment = ?").run(docs > 0 ? LIVE : RETIRED, segment);
  sql("UPDATE index_state SET generation = generation + 1, foldedSeq = ? WHERE no = ?").run(lastSeq, no);
}

/**
 * Yields the documents of delta rows that are still current. A row that was replaced in between belongs to the next
 * compaction.
 */
function* documentsOf(sql: Statements, no: number, rows: readonly { id: number }[]): Generator<NewDocument> {
  for (const { id } of rows) {
    const document = findDeltaDocument(sql, no, lowOf(id));
    if (document === undefined) continue;
    const newer: unknown = sql("SELECT aclId FROM index_access WHERE no = ? AND kbId = ?").get(no, document.kbId);
    // The column has its declared type.
    yield { document, aclId: (newer as { aclId: number } | undefined)?.aclId ?? document.aclId };
  }
}

function* mergeInto(sql: Statements, no: number, inputs: readonly SegmentRow[]): CompactionJob {
  const segment = openSegment(sql, no);
  const { docs, vanished } = yield* mergeSegments(sql, segment, inputs);
  yield;
  for (const input of inputs) sql("UPDATE index_segments SET state = ? WHERE segment = ?").run(RETIRED, input.segment);
  sql("UPDATE index_segments SET state = ? WHERE segment = ?").run(docs > 0 ? LIVE : RETIRED, segment);
  sql("UPDATE index_state SET generation = generation + 1 WHERE no = ?").run(no);
  yield;
  yield* forgetTerms(sql, no, vanished);
}

/** Removes words from the vocabulary that only removed documents had, once no segment contains them. Source: S52. */
function* forgetTerms(sql: Statements, no: number, vanished: readonly number[]): CompactionJob {
  const segments = readManifest(sql, no).map(({ segment }) => segment);
  const posting = sql("SELECT 1 FROM index_postings WHERE id = ?");
  const unused = new Set<number>();
  for (const [i, termId] of vanished.entries()) {
    if (segments.every((segment) => posting.get(packKey(segment, termId)) === undefined)) unused.add(termId);
    if (i % 64 === 63) yield;
  }
  let after = "";
  while (unused.size > 0) {
    const rows: { term: string; termId: number }[] = sql(
      "SELECT term, termId FROM index_terms WHERE no = ? AND term > ? ORDER BY term LIMIT 500",
    ).all(no, after);
    for (const { term, termId } of rows) {
      if (unused.delete(termId)) sql("DELETE FROM index_terms WHERE no = ? AND term = ?").run(no, term);
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.term;
    yield;
  }
}

/**
 * Writes newer accesses into the columns, some thousand at a time. Readers see the same state before, during and after
 * it.
 */
function* compactAccess(sql: Statements, no: number, atOnce: number): CompactionJob {
  const [first, last] = keysOf(no);
  const end = numberOf(sql("SELECT max(id) FROM index_access WHERE id <= ?"), last);
  for (let after = first; after < end;) {
    const rows: AccessRow[] = sql(
      "SELECT id, kbId, aclId FROM index_access WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
    ).all(after, end, atOnce);
    yield* compactAccessRows(sql, no, rows);
    after = rows.at(-1)?.id ?? end;
  }
}

interface AccessRow {
  id: number;
  kbId: string;
  aclId: number;
}

function* compactAccessRows(sql: Statements, no: number, rows: readonly AccessRow[]): CompactionJob {
  const encoder = new TextEncoder();
  const keys = rows.map((row) => ({ key: encoder.encode(row.kbId), aclId: row.aclId }));
  for (const { segment, docs } of readManifest(sql, no)) {
    yield;
    const columns = loadColumns(sql, segment, docs);
    let changes = 0;
    for (const { key, aclId } of keys) {
      const id = findKbId(columns, key);
      if (id < 0) continue;
      columns.acl[id] = aclId;
      changes++;
    }
    if (changes > 0) saveAccessColumn(sql, segment, columns.acl);
  }
  const remove = sql(
    `DELETE FROM index_access WHERE id = ?
     AND NOT EXISTS (SELECT 1 FROM index_delta d WHERE d.no = index_access.no AND d.kbId = index_access.kbId)`,
  );
  for (const [i, row] of rows.entries()) {
    remove.run(row.id);
    if (i % 256 === 255) yield;
  }
  yield;
}

function* cleanUp(sql: Statements, no: number, compactedKey: number): CompactionJob {
  yield* deleteStepwise(deleteSome(sql, "index_delta", "id", "id > ? AND id <= ?"), packKey(no, 0), compactedKey);
  for (const { segment } of sql("SELECT segment FROM index_segments WHERE no = ? AND state = ?").all(no, RETIRED)) {
    yield* deleteStepwise(deleteSome(sql, "index_postings", "id", "id > ? AND id <= ?"), ...keysOf(Number(segment)));
    sql("DELETE FROM index_columns WHERE segment = ?").run(segment);
    sql("DELETE FROM index_segments WHERE segment = ?").run(segment);
    yield;
  }
}

/** Removes the remaining rows of a dropped workspace, which can no longer be addressed. */
function* removeWorkspace(sql: Statements, no: number): CompactionJob {
  sql("UPDATE index_segments SET state = ? WHERE no = ?").run(RETIRED, no);
  yield* cleanUp(sql, no, keysOf(no)[1]);
  yield* deleteStepwise(deleteSome(sql, "index_terms", "no, term", "no = ?"), no);
  yield* deleteStepwise(deleteSome(sql, "index_access", "id", "no = ?"), no);
  yield* deleteStepwise(deleteSome(sql, "index_acl_chunks", "id", "id > ? AND id <= ?"), ...keysOf(no));
  sql("DELETE FROM index_state WHERE no = ?").run(no);
}

function deleteSome(sql: Statements, table: string, key: string, where: string): Statement {
  return sql(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${DELETE_STEP})`,
  );
}

function* deleteStepwise(statement: Statement, ...parameters: number[]): Generator<void> {
  while (Number(statement.run(...parameters).changes) === DELETE_STEP) yield;
}
