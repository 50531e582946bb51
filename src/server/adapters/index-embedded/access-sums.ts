import type { SegmentView } from "./segment-view.ts";

interface Change {
  aclId: number;
  items: number;
  length: number;
}

/** Older changes are forgotten; who has not seen them counts anew. */
const LOG_LIMIT = 10_000;

/**
 * How many living items each access has, and how long they are together: what N and the average length of a viewer are
 * made of. Integers only, so that sums brought forward by changes are exactly the sums counted anew.
 */
export class AccessSums {
  items = new Int32Array(0);
  lengths = new Float64Array(0);
  #log: Change[] = [];
  #logStart = 0;

  /** Number of changes so far. */
  get version(): number {
    return this.#logStart + this.#log.length;
  }

  add(aclId: number, items: number, length: number): void {
    if (aclId === 0) return;
    this.#reserve(aclId);
    this.items[aclId] = (this.items[aclId] ?? 0) + items;
    this.lengths[aclId] = (this.lengths[aclId] ?? 0) + length;
    if (this.#log.length >= LOG_LIMIT) this.#restartLog();
    this.#log.push({ aclId, items, length });
  }

  /** Changes since a version, or undefined when they are no longer known. */
  since(version: number): readonly Change[] | undefined {
    return version < this.#logStart ? undefined : this.#log.slice(version - this.#logStart);
  }

  /** Counts everything anew. */
  recount(segments: readonly SegmentView[]): void {
    this.items.fill(0);
    this.lengths.fill(0);
    for (const { columns } of segments) {
      for (let id = 0; id < columns.docs; id++) {
        const aclId = columns.acl[id] ?? 0;
        if (aclId === 0) continue;
        if (aclId >= this.items.length) this.#reserve(aclId);
        this.items[aclId] = (this.items[aclId] ?? 0) + 1;
        this.lengths[aclId] = (this.lengths[aclId] ?? 0) + (columns.lengths[id] ?? 0);
      }
    }
    this.#restartLog();
  }

  #restartLog(): void {
    this.#logStart = this.version + 1;
    this.#log = [];
  }

  #reserve(aclId: number): void {
    if (aclId < this.items.length) return;
    const capacity = Math.max(aclId + 1, this.items.length * 2, 64);
    const items = new Int32Array(capacity);
    items.set(this.items);
    this.items = items;
    const lengths = new Float64Array(capacity);
    lengths.set(this.lengths);
    this.lengths = lengths;
  }
}
