import { AccessLog } from "./access-log.ts";
import { type Columns, ColumnsBuilder } from "./columns.ts";
import type { DeltaDocuments } from "./delta-document.ts";
import { BLOCK_ROWS } from "./delta-rows.ts";
import type { ReadWords } from "./delta-words.ts";
import { growing, push } from "./growing.ts";
import type { SparseList } from "./posting-list.ts";
import { MAX_SEGMENT_DOCS } from "./schema.ts";
import type { SegmentView } from "./segment-view.ts";
import { TermBytes } from "./term-bytes.ts";
import { UnreadWords } from "./unread-words.ts";
import { isIdTerm, visitIdTerms } from "./vocabulary.ts";

/**
 * Documents changed since the last compaction, in memory: a growing segment with one slot for each version of an item.
 * Documents can be found at once. Their words are searched by hash until `readSome` has read them.
 */
export class DeltaSegment implements SegmentView {
  readonly #builder = new ColumnsBuilder(64);
  readonly #terms = new TermBytes();
  /** Postings in order of arrival. Those of a term are chained from the newest to the oldest; entry 0 ends a chain. */
  readonly #newest = growing(new Uint32Array(64));
  readonly #counts = growing(new Uint32Array(64));
  readonly #older = growing(new Uint32Array(64), 1);
  readonly #ids = growing(new Uint16Array(64), 1);
  readonly #weights = growing(new Uint8Array(64), 1);
  /** The lists as they were last read, by term number. */
  readonly #lists = new Map<number, SparseList>();
  readonly #unread: UnreadWords;
  /** Documents whose names haven't been read yet: their source, people, containers and fields. */
  readonly #unnamed: { documents: DeltaDocuments; first: number; next: number }[] = [];
  living = 0;
  readonly accessLog = new AccessLog();
  readonly columns: Columns = new GrowingColumns(this.#builder.columns, () => this.#readNames(Infinity));

  constructor(read: ReadWords) {
    this.#unread = new UnreadWords(read);
  }

  /** True when there is no space for another block. */
  get isFull(): boolean {
    return this.columns.docs > MAX_SEGMENT_DOCS - BLOCK_ROWS;
  }

  /** Appends documents. `visit` gets the kbId of each document with its position in `documents` and its slot. */
  addAll(documents: DeltaDocuments, visit: (kbId: string, place: number, id: number) => void): void {
    const first = this.columns.docs;
    const { bytes, starts, ends } = documents.kbIds;
    for (let k = 0; k < documents.count; k++) {
      const values = documents.valuesAt(k);
      visit(values.kbId, k, this.#builder.addValues(values, bytes, starts[k] ?? 0, ends[k] ?? 0));
    }
    this.living += documents.count;
    if (documents.count > 0) this.#unnamed.push({ documents, first, next: 0 });
    this.#unread.add(documents, first);
  }

  /** Reads names and words of up to this many documents; returns false when there was nothing to read. */
  readSome(documents: number): boolean {
    if (this.#unread.isEmpty && this.#unnamed.length === 0) return false;
    this.#readNames(documents);
    this.#unread.take(documents, (id, { terms, weights }) => {
      this.#terms.internLines(terms, weights.length, (number, line) =>
        this.#addPosting(number, id, weights[line] ?? 0),
      );
    });
    return true;
  }

  #readNames(count: number): void {
    for (let left = count; left > 0; left--) {
      const [block] = this.#unnamed;
      if (block === undefined) return;
      const k = block.next++;
      const names = block.documents.namesAt(k);
      this.#builder.addNames(block.first + k, names);
      visitIdTerms(names, (term) => this.#addPosting(this.#terms.intern(term), block.first + k, 1));
      if (block.next === block.documents.count) this.#unnamed.shift();
    }
  }

  /** Returns the posting list of a term. The list is never dense, because a delta is small. */
  postings(term: string): SparseList | undefined {
    if (isIdTerm(term)) {
      this.#readNames(Infinity);
      return this.#postingsRead(term);
    }
    const read = this.#postingsRead(term);
    if (this.#unread.isEmpty) return read;
    const { ids, weights } = this.#unread.find(term);
    if (ids.length === 0) return read;
    return { isDense: false, ids: concat(read?.ids, ids), weights: concat(read?.weights, weights) };
  }

  /** Walks a term's chain, and walks it again only after something was added to it. */
  #postingsRead(term: string): SparseList | undefined {
    const number = this.#terms.find(term);
    if (number < 0) return undefined;
    const count = this.#counts.array[number] ?? 0;
    const known = this.#lists.get(number);
    if (known?.ids.length === count) return known;
    const list = this.#walk(number, count);
    this.#lists.set(number, list);
    return list;
  }

  #walk(number: number, count: number): SparseList {
    const ids = new Uint16Array(count);
    const weights = new Uint8Array(count);
    let entry = this.#newest.array[number] ?? 0;
    for (let i = count - 1; i >= 0; i--) {
      ids[i] = this.#ids.array[entry] ?? 0;
      weights[i] = this.#weights.array[entry] ?? 0;
      entry = this.#older.array[entry] ?? 0;
    }
    return { isDense: false, ids, weights };
  }

  /** Returns all terms with this prefix. Reads all unread words first. */
  termsFrom(prefix: string): string[] {
    while (this.readSome(BLOCK_ROWS));
    return this.#terms.startingWith(prefix);
  }

  kill(id: number): void {
    this.living--;
    this.setAcl(id, 0);
  }

  setAcl(id: number, aclId: number): void {
    if ((this.columns.acl[id] ?? 0) === aclId) return;
    this.accessLog.add(id);
    this.columns.acl[id] = aclId;
  }

  #addPosting(number: number, id: number, weight: number): void {
    if (number === this.#newest.length) {
      push(this.#newest, 0);
      push(this.#counts, 0);
    }
    push(this.#older, this.#newest.array[number] ?? 0);
    push(this.#ids, id);
    push(this.#weights, weight);
    this.#newest.array[number] = this.#ids.length - 1;
    this.#counts.array[number] = (this.#counts.array[number] ?? 0) + 1;
  }
}

/** Columns whose names are read on first use. */
class GrowingColumns implements Columns {
  readonly #columns: Columns;
  readonly #readNames: () => void;

  constructor(columns: Columns, readNames: () => void) {
    this.#columns = columns;
    this.#readNames = readNames;
  }

  get docs() {
    return this.#columns.docs;
  }

  get kbIds() {
    return this.#columns.kbIds;
  }

  get stride() {
    return this.#columns.stride;
  }

  get acl() {
    return this.#columns.acl;
  }

  get lengths() {
    return this.#columns.lengths;
  }

  get updatedAt() {
    return this.#columns.updatedAt;
  }

  get createdAt() {
    return this.#columns.createdAt;
  }

  get dueAt() {
    return this.#columns.dueAt;
  }

  get kinds() {
    return this.#columns.kinds;
  }

  get statuses() {
    return this.#columns.statuses;
  }

  get origins() {
    this.#readNames();
    return this.#columns.origins;
  }

  get people() {
    this.#readNames();
    return this.#columns.people;
  }
}

function concat<T extends Uint16Array | Uint8Array>(read: T | undefined, found: T): T {
  if (read === undefined || read.length === 0) return found;
  // The species constructor of a typed array is its own class.
  const Type = read.constructor as new (length: number) => T;
  const all = new Type(read.length + found.length);
  all.set(read);
  all.set(found, read.length);
  return all;
}
