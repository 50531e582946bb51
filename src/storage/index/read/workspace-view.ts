import { encodeKbId, type KbIdList, listKbIds, type SortedKbIds, sortKbIds } from "#storage/index/kb-ids.ts";
import { readDeltaBlocks } from "#storage/index/delta-rows.ts";
import { DeltaSegment } from "#storage/index/delta-view.ts";
import { makeReadWords, type ReadWords } from "#storage/index/delta-words.ts";
import type { PostingCache } from "#storage/index/posting-cache.ts";
import { keysOf } from "#storage/index/schema.ts";
import { BaseSegment, type SegmentView } from "#storage/index/segment-view.ts";
import { readManifest } from "#storage/index/segments.ts";
import type { Statements } from "#storage/index/sqlite.ts";
import type { IndexState } from "#storage/index/state.ts";

/** The position of the newest version of a changed item; without a segment, the item was removed. */
interface DeltaPlace {
  seq: number;
  segment: DeltaSegment | undefined;
  id: number;
}

interface Place {
  segment: BaseSegment | DeltaSegment;
  id: number;
}

/**
 * One workspace's index in a reader's memory: the columns of all segments and the delta. `refresh` brings it forward to
 * the state that the reader's transaction sees. The view never goes back to an earlier state.
 */
export class WorkspaceView {
  readonly no: number;
  readonly #sql: Statements;
  readonly #postings: PostingCache;
  readonly #readWords: ReadWords;
  #base = new Map<number, BaseSegment>();
  #deltas: DeltaSegment[] = [];
  #delta = new Map<string, DeltaPlace>();
  #state: IndexState | undefined;
  #segments: SegmentView[] = [];

  constructor(sql: Statements, no: number, postings: PostingCache) {
    this.#sql = sql;
    this.#postings = postings;
    this.#readWords = makeReadWords(sql, no);
    this.no = no;
  }

  /** All segments: those on disk, then the delta. */
  get segments(): readonly SegmentView[] {
    return this.#segments;
  }

  get deltas(): readonly DeltaSegment[] {
    return this.#deltas;
  }

  /** Finds the living version of a document by kbId, for filters. */
  find(kbId: string): { segment: SegmentView; id: number } | undefined {
    const changed = this.#delta.get(kbId);
    if (changed !== undefined) return changed.segment && { segment: changed.segment, id: changed.id };
    return this.#findInBase(encodeKbId(kbId), this.#base.values());
  }

  /** Reads the words of this many changed documents that searches have only scanned; false when there are none. */
  readSome(documents: number): boolean {
    return this.#deltas.some((delta) => delta.readSome(documents));
  }

  /** Updates the view. Call it with the state read in the same transaction as everything that follows. */
  refresh(state: IndexState): void {
    const before = this.#state;
    const isNewGeneration = before === undefined || before.generation !== state.generation;
    const fresh = isNewGeneration ? this.#loadManifest() : [];
    if (before === undefined || before.deltaEpoch !== state.deltaEpoch) this.#readWholeDelta(state);
    else {
      if (before.compactedSeq !== state.compactedSeq) this.#forgetCompacted(state);
      if (before.deltaSeq !== state.deltaSeq) this.#readDelta(Math.max(before.deltaSeq, state.compactedSeq));
      if (fresh.length > 0) this.#overlayOn(fresh);
    }
    if (before !== undefined && before.aclSeq !== state.aclSeq) this.#readAccess(before.aclSeq);
    this.#segments = this.#segmentList();
    this.#state = { ...state };
  }

  #segmentList(): (BaseSegment | DeltaSegment)[] {
    return [...this.#base.values(), ...this.#deltas];
  }

  /** Updates the set of segments from the manifest and returns the new ones. */
  #loadManifest(): BaseSegment[] {
    const known = this.#base;
    const fresh: BaseSegment[] = [];
    this.#base = new Map();
    for (const row of readManifest(this.#sql, this.no)) {
      let segment = known.get(row.segment);
      if (segment === undefined) fresh.push((segment = new BaseSegment(this.#sql, row, this.#postings)));
      if (row.dead !== undefined) segment.killAll(row.dead);
      this.#base.set(row.segment, segment);
    }
    return fresh;
  }

  #readWholeDelta(state: IndexState): void {
    this.#deltas = [];
    this.#delta = new Map();
    this.#readDelta(state.compactedSeq);
    // Reads accesses that are newer than the rows.
    this.#readAccess(0);
  }

  #readDelta(afterSeq: number): void {
    for (const { documents, removed } of readDeltaBlocks(this.#sql, this.no, afterSeq)) {
      let segment = this.#deltas.at(-1);
      if (segment === undefined || segment.isFull) this.#deltas.push((segment = new DeltaSegment(this.#readWords)));
      const changed = segment;
      const former = this.#findAllInBase(documents.kbIds);
      changed.addAll(documents, (kbId, k, id) => {
        this.#setPlace(kbId, { seq: documents.seqs[k] ?? 0, segment: changed, id }, former[k]);
      });
      const gone = this.#findAllInBase(listKbIds(removed.map(({ kbId }) => Buffer.from(kbId))));
      for (const [k, { seq, kbId }] of removed.entries()) {
        this.#setPlace(kbId, { seq, segment: undefined, id: -1 }, gone[k]);
      }
    }
  }

  /** Sets an item's position; `former` is its position on disk. */
  #setPlace(kbId: string, place: DeltaPlace, former: Place | undefined): void {
    const changed = this.#delta.get(kbId);
    if (changed === undefined) former?.segment.kill(former.id);
    else changed.segment?.kill(changed.id);
    this.#delta.set(kbId, place);
  }

  /** Drops changes that a compaction has moved into segments. Starts with a new delta when few are left. */
  #forgetCompacted(state: IndexState): void {
    for (const [kbId, place] of this.#delta) {
      if (place.seq > state.compactedSeq) continue;
      this.#delta.delete(kbId);
      place.segment?.kill(place.id);
    }
    const slots = this.#deltas.reduce((sum, delta) => sum + delta.columns.docs, 0);
    const living = this.#deltas.reduce((sum, delta) => sum + delta.living, 0);
    if (living < slots / 2) this.#readWholeDelta(state);
  }

  /** Applies the delta and newer accesses to the documents of newly loaded segments. */
  #overlayOn(fresh: readonly BaseSegment[]): void {
    for (const kbId of this.#delta.keys()) {
      const place = this.#findInBase(encodeKbId(kbId), fresh);
      if (place !== undefined) place.segment.kill(place.id);
    }
    for (const { kbId, aclId } of this.#accessRows(0)) {
      const place = this.#delta.has(kbId) ? undefined : this.#findInBase(encodeKbId(kbId), fresh);
      place?.segment.setAcl(place.id, aclId);
    }
  }

  #readAccess(afterSeq: number): void {
    for (const { kbId, aclId } of this.#accessRows(afterSeq)) {
      const found = this.find(kbId);
      if (found === undefined) continue;
      const { segment, id } = placeOf(found);
      segment.setAcl(id, aclId);
    }
  }

  #accessRows(afterSeq: number): { kbId: string; aclId: number }[] {
    return this.#sql("SELECT kbId, aclId FROM index_access WHERE id > ? AND id <= ? ORDER BY id").all(
      ...keysOf(this.no, afterSeq),
    );
  }

  /** Finds the positions of these kbIds on disk. */
  #findAllInBase(kbIds: KbIdList): (Place | undefined)[] {
    const places: (Place | undefined)[] = [];
    if (kbIds.starts.length === 0) return places;
    let sorted: SortedKbIds | undefined;
    for (const segment of this.#base.values()) {
      const { skip } = segment.heads;
      if (sorted?.skip !== skip) sorted = sortKbIds(kbIds, skip);
      segment.findAll(sorted, (place, id) => (places[place] ??= { segment, id }));
    }
    return places;
  }

  #findInBase(key: Uint8Array, segments: Iterable<BaseSegment>): { segment: BaseSegment; id: number } | undefined {
    for (const segment of segments) {
      const id = segment.find(key);
      if (id >= 0) return { segment, id };
    }
    return undefined;
  }
}

/** Every view is one of the two classes that are created here. */
function placeOf(found: { segment: SegmentView; id: number }): Place {
  if (found.segment instanceof BaseSegment || found.segment instanceof DeltaSegment) {
    return { segment: found.segment, id: found.id };
  }
  throw new Error("A segment of an unknown kind");
}
