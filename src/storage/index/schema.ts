/**
 * Tables of the embedded index. They are in the same database as the records, so that an item and its index entry change in
 * one transaction.
 *
 * Numbers: `no` is the workspace's short number; `segment` and `termId` are numbered over the whole database and never
 * reused. Keys that are read in ranges are packed into the row number: `high · 2^32 + low`. A posting row of (segment,
 * term) therefore needs no index besides the table, a segment is written and deleted as one stretch of the file, and its
 * terms are read in order when segments merge.
 */
import { table, words } from "#storage/tables/table.ts";

const { text, integer, rowNumber, bytes, nullable, withDefault } = words;

const count = withDefault(integer, 0);

export const INDEX_TABLES = [
  /** One row per workspace. */
  table(
    "index_state",
    ["no"],
    {
      no: withDefault(rowNumber),
      workspaceId: nullable(text),
      /** Increases when the set of segments changes. */
      generation: count,
      /** Increases with each change of an item. */
      deltaSeq: count,
      /** Delta rows up to it are already in segments and wait for deletion. */
      foldedSeq: count,
      /** Increases when delta rows were removed in other ways. */
      deltaEpoch: count,
      /** Increases with each change of an access. */
      aclSeq: count,
      /** Counts slices of compactions. */
      foldStep: count,
      analyzerVersion: integer,
    },
    { unique: [["workspaceId"]] },
  ),
  table("index_counters", ["name"], { name: text, value: integer }, { withoutRowid: true }),
  table("index_terms", ["no", "term"], { no: integer, term: text, termId: integer }, { withoutRowid: true }),
  /** id = segment · 2^32 + termId. Big blobs in a table without row numbers took twice as long to read when measured. */
  table("index_postings", ["id"], { id: rowNumber, data: bytes }),
  table(
    "index_segments",
    ["segment"],
    {
      segment: rowNumber,
      no: integer,
      /** 0 = being written, 1 = live, 2 = retired and waiting for deletion. */
      state: integer,
      docs: integer,
      deadCount: count,
      /** One bit per document. */
      dead: nullable(bytes),
      bytes: count,
    },
    { indexes: { index_segments_of: ["no", "state"] } },
  ),
  table("index_columns", [], { segment: integer, name: text, data: bytes }, { unique: [["segment", "name"]] }),
  /** id = no · 2^32 + deltaSeq. One row per item changed since the last compaction. */
  table(
    "index_delta",
    ["id"],
    {
      id: rowNumber,
      no: integer,
      kbId: text,
      /** Null = removed. */
      document: nullable(text),
      terms: nullable(text),
      weights: nullable(bytes),
    },
    { unique: [["no", "kbId"]] },
  ),
  /** id = no · 2^32 + aclSeq. Accesses newer than the item's row or column. */
  table(
    "index_access",
    ["id"],
    { id: rowNumber, no: integer, kbId: text, aclId: integer },
    { unique: [["no", "kbId"]] },
  ),
  /** id = no · 2^32 + first aclId. Accesses of the store in blobs of some thousand, for a fast start. */
  table("index_acl_chunks", ["id"], { id: rowNumber, data: bytes }),
];

const HIGH = 2 ** 32;

/** The range of the keys of `high`, for `id > ? AND id <= ?`; or of those above `low`, which is 1 or more for all. */
export function keysOf(high: number, low = 0): [after: number, last: number] {
  return [packKey(high, low), packKey(high + 1, 0) - 1];
}

export function lowOf(key: number): number {
  return key % HIGH;
}

/** Segment states in `index_segments`. */
export const BUILDING = 0;
export const LIVE = 1;
export const RETIRED = 2;

/** Most documents in a segment: local ids are 16 bits. */
export const MAX_SEGMENT_DOCS = 65_536;

/** Packs (high, low) into a rowid. Both stay far below 2^21 and 2^32, so the number is exact. */
export function packKey(high: number, low: number): number {
  return high * HIGH + low;
}
