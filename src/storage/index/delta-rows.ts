import type { AnalyzedText } from "#text/analyzer.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { lowOf, packKey } from "./schema.ts";
import type { Statements } from "./sqlite.ts";

/** A changed item since the last compaction; `document` undefined = removed. */
export interface DeltaRow {
  seq: number;
  kbId: string;
  document: IndexedDocument | undefined;
}

/** Everything about a changed item but its words. */
export type DeltaDocument = Omit<IndexedDocument, "text"> & { length: number };

/** Delta rows that follow one another, as readers take them: no string is made of a term. */
export interface DeltaBlock {
  /** `document` undefined = removed. */
  rows: { seq: number; kbId: string; document: DeltaDocument | undefined }[];
  words: DeltaWords;
}

/** The words of a block's documents, one after the other. Never changed. */
export interface DeltaWords {
  /** UTF-8: the terms of each document, a line each, with a line break before every line and after the last. */
  terms: Buffer;
  /** A weight for each term. */
  weights: Uint8Array;
  /** For each document, where the line break before its first term stands, and which weight is its first; then the ends. */
  termStarts: Uint32Array;
  weightStarts: Uint32Array;
}

/** Rows of a block. */
export const BLOCK_ROWS = 1_024;

/** Stores the newest state of an item, in place of an older delta row of it. */
export function putDeltaRow(sql: Statements, no: number, row: DeltaRow): void {
  const { document } = row;
  const key = packKey(no, row.seq);
  const insert = sql(
    "INSERT OR REPLACE INTO index_delta (id, no, kbId, document, terms, weights) VALUES (?, ?, ?, ?, ?, ?)",
  );
  if (document === undefined) insert.run(key, no, row.kbId, null, null, null);
  else {
    const { text, ...rest } = document;
    insert.run(key, no, row.kbId, JSON.stringify({ ...rest, length: text.length }), text.terms, text.weights);
  }
}

/**
 * Some rows as three values: a row at a time costs the driver twice as much. Its parameters are the range of keys. The
 * inner order is the order of the texts, and what is NULL (no document) is in none of them.
 */
const BLOCK = `SELECT
  '[' || group_concat('[' || id || ',' || json_quote(kbId) || ',' || coalesce(octet_length(terms), 0) || ','
    || coalesce(length(weights), 0) || ',' || coalesce(document, 'null') || ']') || ']' AS rows,
  CAST(group_concat(char(10) || terms, '') || char(10) AS BLOB) AS terms,
  CAST(group_concat(weights, '') AS BLOB) AS weights
  FROM (SELECT id, kbId, document, terms, weights FROM index_delta WHERE id > ? AND id < ? ORDER BY id LIMIT ${BLOCK_ROWS})`;

/** The delta rows of a workspace with a greater number, in order. */
export function* readDeltaBlocks(sql: Statements, no: number, afterSeq: number): Generator<DeltaBlock> {
  for (let after = packKey(no, afterSeq); ;) {
    // One row of aggregates: texts and blobs, or NULL when there is nothing.
    const found = sql(BLOCK).get(after, packKey(no + 1, 0)) as {
      rows: string | null;
      terms: Uint8Array | null;
      weights: Uint8Array | null;
    };
    if (found.rows === null) return;
    // Columns of `index_delta`, written by `putDeltaRow` and by nothing else.
    const rows = JSON.parse(found.rows) as [number, string, number, number, DeltaDocument | null][];
    yield {
      rows: rows.map(([id, kbId, , , document]) => ({ seq: lowOf(id), kbId, document: document ?? undefined })),
      words: toWords(rows, found.terms ?? new Uint8Array(0), found.weights ?? new Uint8Array(0)),
    };
    if (rows.length < BLOCK_ROWS) return;
    after = rows.at(-1)?.[0] ?? after;
  }
}

function toWords(
  rows: readonly [number, string, number, number, DeltaDocument | null][],
  terms: Uint8Array,
  weights: Uint8Array,
): DeltaWords {
  const termStarts = new Uint32Array(rows.length + 1);
  const weightStarts = new Uint32Array(rows.length + 1);
  let count = 0;
  for (const [, , termBytes, weightCount, document] of rows) {
    if (document === null) continue;
    termStarts[count + 1] = (termStarts[count] ?? 0) + 1 + termBytes;
    weightStarts[count + 1] = (weightStarts[count] ?? 0) + weightCount;
    count++;
  }
  return {
    terms: Buffer.from(terms.buffer, terms.byteOffset, terms.byteLength),
    weights,
    termStarts: termStarts.subarray(0, count + 1),
    weightStarts: weightStarts.subarray(0, count + 1),
  };
}

/** One delta row by its number, unless it was replaced meanwhile. */
export function findDeltaRow(sql: Statements, no: number, seq: number): DeltaRow | undefined {
  const row: unknown = sql("SELECT id, kbId, document, terms, weights FROM index_delta WHERE id = ?").get(
    packKey(no, seq),
  );
  return row === undefined ? undefined : parseDeltaRow(row);
}

function parseDeltaRow(row: unknown): DeltaRow {
  // Columns of `index_delta`, written by `putDeltaRow` and by nothing else.
  const { id, kbId, document, terms, weights } = row as {
    id: number;
    kbId: string;
    document: string | null;
    terms: string | null;
    weights: Uint8Array | null;
  };
  if (document === null) return { seq: lowOf(id), kbId, document: undefined };
  const { length, ...rest } = JSON.parse(document) as Omit<IndexedDocument, "text"> & { length: number };
  const text: AnalyzedText = { terms: terms ?? "", weights: weights ?? new Uint8Array(0), length };
  return { seq: lowOf(id), kbId, document: { ...rest, text } };
}
