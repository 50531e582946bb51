import type { IndexedDocument } from "#storage/search-index.ts";
import { ColumnsBuilder } from "#storage/index/columns.ts";
import { makeTermNumbers, takeNumbers } from "#storage/index/counters.ts";
import { encodePostings } from "#storage/index/postings.ts";
import { BUILDING, packKey } from "#storage/index/schema.ts";
import { saveColumns } from "#storage/index/segment-files.ts";
import type { Statements } from "#storage/index/sqlite.ts";
import { TermCollector } from "./term-collector.ts";
import { visitTerms } from "#storage/index/vocabulary.ts";

/** Bytes of a posting row in addition to its blob (key and record header), for the size statistics. */
export const ROW_OVERHEAD = 12;

/** Documents read or written between two checks of the clock. */
const STEP = 64;

/** Allocates a new segment number for this workspace. It is registered as "being written", so no reader uses it. */
export function openSegment(sql: Statements, no: number): number {
  const segment = takeNumbers(sql, "segment", 1);
  sql("INSERT INTO index_segments (segment, no, state, docs) VALUES (?, ?, ?, 0)").run(segment, no, BUILDING);
  return segment;
}

export interface NewDocument {
  document: IndexedDocument;
  aclId: number;
}

/**
 * Writes a segment of documents in ascending order of kbId. A generator: each step is at most a few milliseconds of
 * work, so that the caller can end a slice between two steps. Returns the number of documents.
 */
export function* writeSegment(
  sql: Statements,
  no: number,
  segment: number,
  documents: Iterable<NewDocument>,
): Generator<void, number> {
  const columns = new ColumnsBuilder(1024);
  const collector = new TermCollector();
  for (const { document, aclId } of documents) {
    const id = columns.add({ ...document, length: document.text.length }, aclId);
    visitTerms(document, (text, start, end, weight) => collector.add(text, start, end, id, weight));
    if (id % 8 === 7) yield;
  }
  const order = yield* internTerms(sql, no, collector);
  yield;
  const postingBytes = yield* writePostings(sql, segment, collector, order);
  const bytes = postingBytes + saveColumns(sql, segment, columns.columns);
  closeSegment(sql, segment, columns.columns.docs, bytes);
  return columns.columns.docs;
}

/** Records size and documents of a written segment, which stays invisible until it is made live. */
export function closeSegment(sql: Statements, segment: number, docs: number, bytes: number): void {
  sql("UPDATE index_segments SET docs = ?, bytes = ? WHERE segment = ?").run(docs, bytes, segment);
}

/** Yields pairs of (termId, number in the collector), packed and ascending, so that rows are appended in key order. */
function* internTerms(sql: Statements, no: number, collector: TermCollector): Generator<void, Float64Array> {
  const numberOfTerm = makeTermNumbers(sql, no);
  const pairs: number[] = [];
  for (const term of collector.terms) {
    pairs.push(packKey(numberOfTerm(term), pairs.length));
    if (pairs.length % STEP === 0) yield;
  }
  return Float64Array.from(pairs).sort();
}

function* writePostings(
  sql: Statements,
  segment: number,
  collector: TermCollector,
  order: Float64Array,
): Generator<void, number> {
  const insert = sql("INSERT INTO index_postings (id, data) VALUES (?, ?)");
  const listOf = collector.lists();
  let bytes = 0;
  for (let i = 0; i < order.length; i++) {
    const pair = order[i] ?? 0;
    const blob = encodePostings(listOf(pair % 2 ** 32));
    insert.run(packKey(segment, Math.floor(pair / 2 ** 32)), blob);
    bytes += blob.length + ROW_OVERHEAD;
    if (i % STEP === STEP - 1) yield;
  }
  return bytes;
}
