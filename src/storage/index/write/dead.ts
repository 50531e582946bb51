import { encodeKbId, findKbId, type KbIdColumn } from "#storage/index/kb-ids.ts";
import { hasBit, loadKbIds, setBit } from "#storage/index/segment-files.ts";
import { readManifest, type SegmentRow } from "#storage/index/segments.ts";
import type { Statements } from "#storage/index/sqlite.ts";

interface Marked {
  row: SegmentRow;
  kbIds: KbIdColumn;
  bits: Uint8Array;
  added: number;
}

/** Marks older copies of documents in the live segments of a workspace as dead. `save` writes the marks. */
export class DeadMarks {
  readonly #segments: readonly Marked[];

  private constructor(segments: readonly Marked[]) {
    this.#segments = segments;
  }

  /** Reads the kbIds of all live segments, one segment per step: a megabyte each. */
  static *open(sql: Statements, no: number): Generator<void, DeadMarks> {
    const segments: Marked[] = [];
    for (const row of readManifest(sql, no)) {
      const kbIds = loadKbIds(sql, row.segment, row.docs);
      segments.push({ row, kbIds, bits: row.dead?.slice() ?? new Uint8Array(Math.ceil(row.docs / 8)), added: 0 });
      yield;
    }
    return new DeadMarks(segments);
  }

  mark(kbId: string): void {
    const key = encodeKbId(kbId);
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
