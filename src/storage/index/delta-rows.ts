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

/** A delta row as readers take it: terms as they are stored (UTF-8, a line each), no string made of them. */
export interface DeltaEntry {
  document: Omit<IndexedDocument, "text"> & { length: number };
  terms: Uint8Array;
  weights: Uint8Array;
}

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

/** The delta rows of a workspace with a greater number, in order; `entry` undefined = removed. */
export function* readDeltaEntries(
  sql: Statements,
  no: number,
  afterSeq: number,
): Generator<{ seq: number; kbId: string; entry: DeltaEntry | undefined }> {
  const rows = sql(
    `SELECT id, kbId, document, CAST(terms AS BLOB) AS terms, weights FROM index_delta
     WHERE id > ? AND id < ? ORDER BY id`,
  ).iterate(packKey(no, afterSeq), packKey(no + 1, 0));
  for (const row of rows) {
    // Columns of `index_delta`, written by `putDeltaRow` and by nothing else; an empty blob may come as null.
    const { id, kbId, document, terms, weights } = row as {
      id: number;
      kbId: string;
      document: string | null;
      terms: Uint8Array | null;
      weights: Uint8Array | null;
    };
    yield { seq: lowOf(id), kbId, entry: document === null ? undefined : toEntry(document, terms, weights) };
  }
}

function toEntry(document: string, terms: Uint8Array | null, weights: Uint8Array | null): DeltaEntry {
  return {
    // As above.
    document: JSON.parse(document) as DeltaEntry["document"],
    terms: terms ?? new Uint8Array(0),
    weights: weights ?? new Uint8Array(0),
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
