/**
 * Tables of the embedded index. They are in the same SQLite file as the records, so that an item and its index entry
 * change in one transaction.
 *
 * Numbers: `no` is the workspace's short number; `segment` and `termId` are numbered over the whole file and never
 * reused. Keys that are read in ranges are packed into the rowid: `high · 2^32 + low`. A posting row of (segment, term)
 * therefore needs no index besides the table, a segment is written and deleted as one stretch of the file, and its
 * terms are read in order when segments merge.
 */
export const INDEX_DDL: readonly string[] = [
  // One row per workspace. `generation` increases when the set of segments changes, `deltaSeq` with each change of an
  // item, `aclSeq` with each change of an access. Delta rows up to `foldedSeq` are already in segments and wait for
  // deletion. `deltaEpoch` increases when delta rows were removed in other ways; `foldStep` counts slices of
  // compactions.
  `CREATE TABLE IF NOT EXISTS index_state (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    workspaceId TEXT UNIQUE,
    generation INTEGER NOT NULL DEFAULT 0,
    deltaSeq INTEGER NOT NULL DEFAULT 0,
    foldedSeq INTEGER NOT NULL DEFAULT 0,
    deltaEpoch INTEGER NOT NULL DEFAULT 0,
    aclSeq INTEGER NOT NULL DEFAULT 0,
    foldStep INTEGER NOT NULL DEFAULT 0,
    analyzerVersion INTEGER NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS index_counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS index_terms (
    no INTEGER NOT NULL, term TEXT NOT NULL, termId INTEGER NOT NULL, PRIMARY KEY (no, term)
  ) WITHOUT ROWID`,
  // id = segment · 2^32 + termId. Big blobs in a WITHOUT ROWID table took twice as long to read when measured.
  `CREATE TABLE IF NOT EXISTS index_postings (id INTEGER PRIMARY KEY, data BLOB NOT NULL)`,
  // state: 0 = being written, 1 = live, 2 = retired and waiting for deletion. dead: one bit per document.
  `CREATE TABLE IF NOT EXISTS index_segments (
    segment INTEGER PRIMARY KEY,
    no INTEGER NOT NULL,
    state INTEGER NOT NULL,
    docs INTEGER NOT NULL,
    deadCount INTEGER NOT NULL DEFAULT 0,
    dead BLOB,
    bytes INTEGER NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX IF NOT EXISTS index_segments_of ON index_segments (no, state)`,
  `CREATE TABLE IF NOT EXISTS index_columns (segment INTEGER NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS index_columns_of ON index_columns (segment, name)`,
  // id = no · 2^32 + deltaSeq. One row per item changed since the last compaction; document NULL = removed.
  `CREATE TABLE IF NOT EXISTS index_delta (
    id INTEGER PRIMARY KEY,
    no INTEGER NOT NULL,
    kbId TEXT NOT NULL,
    document TEXT,
    terms TEXT,
    weights BLOB
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS index_delta_item ON index_delta (no, kbId)`,
  // id = no · 2^32 + aclSeq. Accesses newer than the item's row or column.
  `CREATE TABLE IF NOT EXISTS index_access (id INTEGER PRIMARY KEY, no INTEGER NOT NULL, kbId TEXT NOT NULL, aclId INTEGER NOT NULL)`,
  // id = no · 2^32 + first aclId. Accesses of the store in blobs of some thousand, for a fast start.
  `CREATE TABLE IF NOT EXISTS index_acl_chunks (id INTEGER PRIMARY KEY, data BLOB NOT NULL)`,
  `CREATE UNIQUE INDEX IF NOT EXISTS index_access_item ON index_access (no, kbId)`,
];

const HIGH = 2 ** 32;

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
