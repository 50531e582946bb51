import { LRUCache } from "lru-cache";
import { bytesOf, DENSE, openDense, type PostingList, toPostingList } from "./posting-list.ts";
import type { Postings } from "./postings.ts";

/** Bytes of posting lists that a reader keeps, those that it shares with others among them. */
const CACHE_BYTES = 128 * 2 ** 20;
/** What an entry costs besides its numbers, roughly; also the cost of knowing that there is no list. */
const OVERHEAD = 250;

/** A list as bits in memory that several threads read, and none writes any more. */
export interface SharedList {
  key: number;
  count: number;
  memory: ArrayBufferLike;
}

/**
 * Posting lists of base segments as they were read last: a list never changes and its key is never given again. The
 * least recently used go first. Lists as bits, nine tenths of the bytes, can be shared with caches of other threads.
 */
export class PostingCache {
  readonly #lists: LRUCache<number, PostingList>;
  readonly #dense: number;
  readonly #made: SharedList[] | undefined;

  /** `dense`: from so many entries on a list is kept as bits. `isShared`: `takeMade` is called now and then. */
  constructor({ budget = CACHE_BYTES, dense = DENSE, isShared = false } = {}) {
    this.#lists = new LRUCache({ maxSize: budget, sizeCalculation: (list) => OVERHEAD + bytesOf(list) });
    this.#dense = dense;
    this.#made = isShared ? [] : undefined;
  }

  /** The list of a key; read now if it is not there. */
  get(key: number, read: () => Postings | undefined): PostingList | undefined {
    const known = this.#lists.get(key);
    if (known !== undefined) return known === NONE ? undefined : known;
    const postings = read();
    const isShared = this.#made !== undefined;
    const list = postings && toPostingList(postings, this.#dense, isShared ? SharedArrayBuffer : ArrayBuffer);
    this.#lists.set(key, list ?? NONE);
    if (list?.isDense === true) this.#made?.push({ key, count: list.count, memory: list.bits.buffer });
    return list;
  }

  /** Takes lists that another thread has read, also in place of its own: then they take memory once. */
  addShared(lists: readonly SharedList[]): void {
    for (const { key, count, memory } of lists) this.#lists.set(key, openDense(memory, count));
  }

  /** The lists that others don't know yet, each once. */
  takeMade(): SharedList[] {
    return this.#made?.splice(0) ?? [];
  }
}

/** Kept where there is no list: the cache takes no `undefined`. */
const NONE: PostingList = { isDense: false, ids: new Uint16Array(0), weights: new Uint8Array(0) };
