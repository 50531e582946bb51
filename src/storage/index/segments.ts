import { LIVE } from "./schema.ts";
import type { Statements } from "./sqlite.ts";

/** A live segment as the manifest lists it. */
export interface SegmentRow {
  segment: number;
  docs: number;
  deadCount: number;
  /** One bit per document; undefined = all documents are alive. */
  dead: Uint8Array | undefined;
  bytes: number;
}

/** Reads the manifest: the live segments of a workspace in order of their numbers. */
export function readManifest(sql: Statements, no: number): SegmentRow[] {
  const rows = sql(
    "SELECT segment, docs, deadCount, dead, bytes FROM index_segments WHERE no = ? AND state = ? ORDER BY segment",
  ).all(no, LIVE);
  return rows.map((row) => ({ ...row, dead: row.dead ?? undefined }));
}
