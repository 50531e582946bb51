import { LRUCache } from "lru-cache";
import { bytesOf, DENSE, openDense, type PostingList, toPostingList } from "./posting-list.ts";
import type { Postings } from "./postings.ts";

/** Limit in bytes of the posting lists that a reader keeps, shared ones included. */
const CACHE_BYTES = 128 * 2 ** 20;
/** Approximate bytes of an entry in addition to its numbers; also the cost of recording that a term has no list. */
const OVERHEAD = 250;

/** A list as bits in memory that several threads read and no thread writes any more. */
export interface SharedList {
  key: number;
  count: number;
  memory: ArrayBufferLike;
}

/**
 * A cache of recently read posting lists of segments on disk. A list never changes, and its key is never reused. The
 * least recently used lists are evicted first. Lists as bits, which take nine tenths of the bytes, can be shared with
 * the caches of other threads.
 */
export class PostingCache {
  readonly #lists: LRUCache<number, PostingList>;
  readonly #dense: number;
  readonly #made: SharedList[] | undefined;

  /**
   * `dense`: lists with at least this many entries are kept as bits. `isShared`: the owner calls `takeMade` regularly.
   */
  constructor({ budget = CACHE_BYTES, dense = DENSE, isShared = false } = {}) {
    this.#lists = new LRUCache({ maxSize: budget, sizeCalculation: (list) => OVERHEAD + bytesOf(list) });
    this.#dense = dense;
    this.#made = isShared ? [] : undefined;
  }

  /** Returns the list of a key, and reads it if it isn't cached. */
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

  /**
   * Uses lists that another thread has read, also in place of its own copies, so that each list takes memory only once.
   */
  addShared(lists: readonly SharedList[]): void {
    for (const { key, count, memory } of lists) this.#lists.set(key, openDense(memory, count));
  }

  /** Returns the lists that other threads don't have yet, each once. */
  takeMade(): SharedList[] {
    return this.#made?.splice(0) ?? [];
  }
}

/** Cached for a term without a list, because the cache can't hold `undefined`. */
const NONE: PostingList = { isDense: false, ids: new Uint16Array(0), weights: new Uint8Array(0) };
