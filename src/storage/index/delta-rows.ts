import type { IndexedDocument } from "#storage/search-index.ts";
import { type DeltaColumns, DeltaDocuments, documentOf, encodeDeltaDocument } from "./delta-document.ts";
import { keysOf, lowOf, packKey } from "./schema.ts";
import { numberOf, type Statements } from "./sqlite.ts";

/** A changed item since the last compaction; `document` undefined = the item was removed. */
export interface DeltaRow {
  seq: number;
  kbId: string;
  document: IndexedDocument | undefined;
}

/** Consecutive delta rows without their words, as readers get them. At most one of the rows has a given kbId. */
export interface DeltaBlock {
  documents: DeltaDocuments;
  removed: readonly RemovedItem[];
}

interface RemovedItem {
  seq: number;
  kbId: string;
}

/** Rows per block; a row takes half a kilobyte. */
export const BLOCK_ROWS = 2_048;

/** Stores the newest state of an item and replaces its older delta row. */
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
 * Reads the documents of several rows as one value, because reading row by row costs the driver four times as much. The
 * parameters are the key range. Rows are read in the order of their keys. A subquery would copy everything.
 */
const BLOCK = `SELECT count(*) AS count, count(CASE WHEN typeof(document) = 'blob' THEN 1 END) AS encoded,
  CAST(group_concat(CASE WHEN typeof(document) = 'blob' THEN document END, '') AS BLOB) AS documents
  FROM index_delta WHERE id > ? AND id <= ?`;

/** Selects the last key of a block, and the last key of all rows. */
const BLOCK_END = `SELECT id FROM index_delta WHERE id > ? AND id <= ? ORDER BY id LIMIT 1 OFFSET ${BLOCK_ROWS - 1}`;

/** Selects rows that aren't in `documents`: those that an earlier version wrote as JSON, and those of removed items. */
const OTHERS = `SELECT id, kbId, document, terms, weights FROM index_delta
  WHERE id > ? AND id <= ? AND typeof(document) <> 'blob'`;

/** Reads the delta rows of a workspace that have a greater number, in order. */
export function* readDeltaBlocks(sql: Statements, no: number, afterSeq: number): Generator<DeltaBlock> {
  const [first, end] = keysOf(no, afterSeq);
  for (let after = first; after < end;) {
    const until = numberOf(sql(BLOCK_END), after, end) || end;
    // The statement returns one row of aggregates: a blob, or NULL when there are no rows.
    const found = sql(BLOCK).get(after, until) as { count: number; encoded: number; documents: Uint8Array | null };
    if (found.count === 0) return;
    const documents = found.documents ?? new Uint8Array(0);
    if (found.encoded === found.count) yield { documents: new DeltaDocuments(documents), removed: [] };
    else {
      const { removed, former } = readOthers(sql, after, until);
      yield { documents: new DeltaDocuments(Buffer.concat([documents, ...former])), removed };
    }
    after = until;
  }
}

/** Converts rows that earlier versions wrote to the current encoding. */
function readOthers(sql: Statements, after: number, until: number): { removed: RemovedItem[]; former: Uint8Array[] } {
  const removed: RemovedItem[] = [];
  const former: Uint8Array[] = [];
  // The columns of `index_delta` have the types that its DDL declares.
  const rows = sql(OTHERS).all(after, until) as (DeltaColumns & { id: number; kbId: string })[];
  for (const { id, kbId, ...columns } of rows) {
    const document = documentOf(columns);
    if (document === undefined) removed.push({ seq: lowOf(id), kbId });
    else former.push(encodeDeltaDocument(lowOf(id), document));
  }
  return { removed, former };
}

/**
 * Returns the document of a delta row by its number; undefined when the row was replaced since or records a removal.
 */
export function findDeltaDocument(sql: Statements, no: number, seq: number): IndexedDocument | undefined {
  const row: unknown = sql("SELECT document, terms, weights FROM index_delta WHERE id = ?").get(packKey(no, seq));
  // Only `putDeltaRow` writes the columns of `index_delta`.
  return row === undefined ? undefined : documentOf(row as DeltaColumns);
}
