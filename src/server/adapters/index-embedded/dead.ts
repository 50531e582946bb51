import { findKbId, type KbIdColumn } from "./columns.ts";
import { hasBit, loadKbIds, setBit } from "./segment-files.ts";
import { readManifest, type SegmentRow } from "./segments.ts";
import type { Statements } from "./sqlite.ts";

const encoder = new TextEncoder();

/** Marks older copies of documents in the live segments of a workspace as dead; written by `save`. */
export class DeadMarks {
  readonly #segments: { row: SegmentRow; kbIds: KbIdColumn; bits: Uint8Array; added: number }[];

  constructor(sql: Statements, no: number) {
    this.#segments = readManifest(sql, no).map((row) => ({
      row,
      kbIds: loadKbIds(sql, row.segment, row.docs),
      bits: row.dead?.slice() ?? new Uint8Array(Math.ceil(row.docs / 8)),
      added: 0,
    }));
  }

  mark(kbId: string): void {
    const key = encoder.encode(kbId);
    for (const segment of this.#segments) {
      const id = findKbId(segment.kbIds, key);
      if (id < 0 || hasBit(segment.bits, id)) continue;
      setBit(segment.bits, id);
      segment.added++;
    }
  }

  save(sql: Statements): void {
    for (const { row, bits, added } of this.#segments) {
      if (added === 0) continue;
      sql("UPDATE index_segments SET dead = ?, deadCount = ? WHERE segment = ?").run(
        bits,
        row.deadCount + added,
        row.segment,
      );
    }
  }
}
