import type { IndexedDocument } from "#storage/search-index.ts";
import {
  decodeDeltaDocuments,
  type DeltaColumns,
  type DeltaEntry,
  documentOf,
  encodeDeltaDocument,
  makeDeltaEntry,
} from "./delta-document.ts";
import { lowOf, packKey } from "./schema.ts";
import { numberOf, type Statements } from "./sqlite.ts";

/** A changed item since the last compaction; `document` undefined = removed. */
export interface DeltaRow {
  seq: number;
  kbId: string;
  document: IndexedDocument | undefined;
}

/** Delta rows that follow one another, as readers take them: no string is made of a term. A kbId is in one of them at most. */
export interface DeltaBlock {
  rows: readonly DeltaEntry[];
  words: DeltaWords;
}

/** The words of a block's documents, one after the other. Never changed. */
export interface DeltaWords {
  /** UTF-8: the terms of each document, ascending, a line each, with a line break between two lines. */
  terms: Uint8Array;
  /** A weight for each term. */
  weights: Uint8Array;
  /** For each document, where its first term begins, and which weight is its first; then where those of another would. */
  termStarts: Uint32Array;
  weightStarts: Uint32Array;
}

/** Rows of a block. Blocks of four times as many take a third longer. */
export const BLOCK_ROWS = 256;

/** Stores the newest state of an item, in place of an older delta row of it. */
export function putDeltaRow(sql: Statements, no: number, { seq, kbId, document }: DeltaRow): void {
  const key = packKey(no, seq);
  const insert = sql(
    "INSERT OR REPLACE INTO index_delta (id, no, kbId, document, terms, weights) VALUES (?, ?, ?, ?, ?, ?)",
  );
  if (document === undefined) insert.run(key, no, kbId, null, null, null);
  else {
    const { terms, weights } = document.text;
    insert.run(key, no, kbId, encodeDeltaDocument(seq, document), terms, weights);
  }
}

/**
 * Some rows as three values: a row at a time costs the driver twice as much. Its parameters are the range of keys. Rows are
 * read in the order of their keys, and what is NULL (no document) is in none of the values. A query inside would copy all.
 */
const BLOCK = `SELECT count(*) AS count,
  CAST(group_concat(CASE WHEN typeof(document) = 'blob' THEN document END, '') AS BLOB) AS documents,
  CAST(group_concat(terms, char(10)) AS BLOB) AS terms,
  CAST(group_concat(weights, '') AS BLOB) AS weights
  FROM index_delta WHERE id > ? AND id <= ?`;

/** The last key of a block, and that of all. */
const BLOCK_END = `SELECT id FROM index_delta WHERE id > ? AND id <= ? ORDER BY id LIMIT 1 OFFSET ${BLOCK_ROWS - 1}`;

/** Rows that are not in `documents`: those of a former version, and items that were removed. */
const OTHERS = `SELECT id, kbId, octet_length(terms) AS termBytes, length(weights) AS termCount, document
  FROM index_delta WHERE id > ? AND id <= ? AND typeof(document) <> 'blob'`;

/** The delta rows of a workspace with a greater number, in order. */
export function* readDeltaBlocks(sql: Statements, no: number, afterSeq: number): Generator<DeltaBlock> {
  const end = packKey(no + 1, 0) - 1;
  for (let after = packKey(no, afterSeq); after < end;) {
    const until = numberOf(sql(BLOCK_END), after, end) || end;
    // One row of aggregates: blobs, or NULL when there is nothing.
    const found = sql(BLOCK).get(after, until) as {
      count: number;
      documents: Uint8Array | null;
      terms: Uint8Array | null;
      weights: Uint8Array | null;
    };
    const rows = found.documents === null ? [] : decodeDeltaDocuments(found.documents);
    if (found.count === 0) return;
    if (rows.length < found.count) rows.push(...readOthers(sql, after, until));
    rows.sort((a, b) => a.seq - b.seq);
    yield { rows, words: toWords(rows, found.terms ?? new Uint8Array(0), found.weights ?? new Uint8Array(0)) };
    after = until;
  }
}

function readOthers(sql: Statements, after: number, until: number): DeltaEntry[] {
  const rows: unknown[] = sql(OTHERS).all(after, until);
  return rows.map((row) => {
    // Columns of `index_delta` as its DDL declares them.
    const { id, kbId, ...others } = row as OtherRow;
    return makeDeltaEntry(lowOf(id), kbId, others);
  });
}

interface OtherRow {
  id: number;
  kbId: string;
  document: string | null;
  termBytes: number | null;
  termCount: number | null;
}

function toWords(rows: readonly DeltaEntry[], terms: Uint8Array, weights: Uint8Array): DeltaWords {
  const termStarts = new Uint32Array(rows.length + 1);
  const weightStarts = new Uint32Array(rows.length + 1);
  let count = 0;
  for (const { document, termBytes, termCount } of rows) {
    if (document === undefined) continue;
    termStarts[count + 1] = (termStarts[count] ?? 0) + termBytes + 1;
    weightStarts[count + 1] = (weightStarts[count] ?? 0) + termCount;
    count++;
  }
  return {
    terms,
    weights,
    termStarts: termStarts.subarray(0, count + 1),
    weightStarts: weightStarts.subarray(0, count + 1),
  };
}

/** The document of a delta row by its number; undefined when it was replaced meanwhile, or says that its item was removed. */
export function findDeltaDocument(sql: Statements, no: number, seq: number): IndexedDocument | undefined {
  const row: unknown = sql("SELECT document, terms, weights FROM index_delta WHERE id = ?").get(packKey(no, seq));
  // Columns of `index_delta`, written by `putDeltaRow` and by nothing else.
  return row === undefined ? undefined : documentOf(row as DeltaColumns);
}
