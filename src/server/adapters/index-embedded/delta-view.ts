import type { IndexedDocument } from "#server/ports/search-index.ts";
import { ColumnsBuilder } from "./columns.ts";
import { type Growing, push } from "./growing.ts";
import type { Postings } from "./postings.ts";
import { MAX_SEGMENT_DOCS } from "./schema.ts";
import type { SegmentView } from "./segment-view.ts";
import { visitTerms } from "./vocabulary.ts";

/** Changed documents since the last fold, in memory: a segment that grows, one slot for each version of an item. */
export class DeltaSegment implements SegmentView {
  readonly #builder = new ColumnsBuilder(64);
  readonly #lists = new Map<string, { ids: Growing<Uint16Array>; weights: Growing<Uint8Array> }>();
  unreadable = 0;
  living = 0;

  get columns() {
    return this.#builder.columns;
  }

  get isFull(): boolean {
    return this.columns.docs >= MAX_SEGMENT_DOCS;
  }

  /** Appends a document and gives its slot. */
  add(document: IndexedDocument): number {
    const id = this.#builder.add({ ...document, length: document.text.length }, document.aclId);
    visitTerms(document, (term, weight) => {
      let list = this.#lists.get(term);
      if (list === undefined) {
        list = { ids: { array: new Uint16Array(2), length: 0 }, weights: { array: new Uint8Array(2), length: 0 } };
        this.#lists.set(term, list);
      }
      push(list.ids, id);
      push(list.weights, weight);
    });
    this.living++;
    if (document.aclId === 0) this.unreadable++;
    return id;
  }

  postings(term: string): Postings | undefined {
    const list = this.#lists.get(term);
    if (list === undefined) return undefined;
    return {
      ids: list.ids.array.subarray(0, list.ids.length),
      weights: list.weights.array.subarray(0, list.ids.length),
    };
  }

  /** All terms that begin with this. */
  *termsFrom(prefix: string): Generator<string> {
    for (const term of this.#lists.keys()) if (term.startsWith(prefix)) yield term;
  }

  kill(id: number): void {
    this.living--;
    this.setAcl(id, 0);
  }

  setAcl(id: number, aclId: number): void {
    const before = this.columns.acl[id] ?? 0;
    this.unreadable += Number(aclId === 0) - Number(before === 0);
    this.columns.acl[id] = aclId;
  }
}
