/**
 * Tables of the embedded index. They are in the same database as the records, so that an item and its index entry
 * change in one transaction.
 *
 * Numbers: `no` is the workspace's short number. `segment` and `termId` are unique in the whole database and never
 * reused. Keys that are read in ranges are packed into the row number: `high · 2^32 + low`. A posting row of (segment,
 * term) therefore needs no index besides the table, a segment is written and deleted as one contiguous part of the
 * file, and its terms are read in order when segments merge.
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
      /** Delta rows up to this number are already in segments and wait to be deleted. */
      foldedSeq: count,
      /** Increases when delta rows were removed in other ways. */
      deltaEpoch: count,
      /** Increases with each change of an access. */
      aclSeq: count,
      /** Counts the slices of compactions. */
      foldStep: count,
      analyzerVersion: integer,
    },
    { unique: [["workspaceId"]] },
  ),
  table("index_counters", ["name"], { name: text, value: integer }, { withoutRowid: true }),
  table("index_terms", ["no", "term"], { no: integer, term: text, termId: integer }, { withoutRowid: true }),
  /**
   * id = segment · 2^32 + termId. In measurements, reading big blobs from a table without row numbers took twice as
   * long.
   */
  table("index_postings", ["id"], { id: rowNumber, data: bytes }),
  table(
    "index_segments",
    ["segment"],
    {
      segment: rowNumber,
      no: integer,
      /** 0 = being written, 1 = live, 2 = retired and waiting to be deleted. */
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
  /** id = no · 2^32 + deltaSeq. One row per item that changed since the last compaction. */
  table(
    "index_delta",
    ["id"],
    {
      id: rowNumber,
      no: integer,
      kbId: text,
      /** Null = the item was removed. */
      document: nullable(text),
      terms: nullable(text),
      weights: nullable(bytes),
    },
    { unique: [["no", "kbId"]] },
  ),
  /** id = no · 2^32 + aclSeq. Accesses that are newer than the item's row or column. */
  table(
    "index_access",
    ["id"],
    { id: rowNumber, no: integer, kbId: text, aclId: integer },
    { unique: [["no", "kbId"]] },
  ),
  /** id = no · 2^32 + first aclId. Accesses of the store in blobs of some thousand, so that a reader starts fast. */
  table("index_acl_chunks", ["id"], { id: rowNumber, data: bytes }),
];

const HIGH = 2 ** 32;

/**
 * Returns the range of the keys with this `high`, for `id > ? AND id <= ?`; with `low`, only the keys above it. Every
 * key has a low part of at least 1, so `low` 0 returns all.
 */
export function keysOf(high: number, low = 0): [after: number, last: number] {
  return [packKey(high, low), packKey(high + 1, 0) - 1];
}

export function lowOf(key: number): number {
  return key % HIGH;
}

/** The states of a segment in `index_segments`. */
export const BUILDING = 0;
export const LIVE = 1;
export const RETIRED = 2;

/** Limit of documents in a segment, because local ids have 16 bits. */
export const MAX_SEGMENT_DOCS = 65_536;

/** Packs (high, low) into a rowid. They stay far below 2^21 and 2^32, so the number is exact. */
export function packKey(high: number, low: number): number {
  return high * HIGH + low;
}
