import { LRUCache } from "lru-cache";
import {
  bytesOf,
  DENSE,
  type DenseList,
  packDense,
  type PostingList,
  toPostingList,
  unpackDense,
} from "./posting-list.ts";
import type { Postings } from "./postings.ts";

/** Bytes of posting lists that a reader keeps, those that it shares with others among them. */
const CACHE_BYTES = 128 * 2 ** 20;
/** What an entry costs besides its numbers, roughly; also the cost of knowing that there is no list. */
const OVERHEAD = 250;

/** A list as bits in memory that several threads read, and none writes any more. */
export interface SharedList {
  key: number;
  count: number;
  buffer: SharedArrayBuffer;
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
    const list = postings && toPostingList(postings, this.#dense);
    const kept = list?.isDense === true && this.#made !== undefined ? this.#share(key, list, this.#made) : list;
    this.#lists.set(key, kept ?? NONE);
    return kept;
  }

  /** Takes lists that another thread has read, also in place of its own: then they take memory once. */
  addShared(lists: readonly SharedList[]): void {
    for (const { key, count, buffer } of lists) this.#lists.set(key, unpackDense(buffer, count));
  }

  /** The lists that others don't know yet, each once. */
  takeMade(): SharedList[] {
    return this.#made?.splice(0) ?? [];
  }

  #share(key: number, list: DenseList, made: SharedList[]): DenseList {
    const { count } = list;
    const buffer = packDense(list);
    made.push({ key, count, buffer });
    return unpackDense(buffer, count);
  }
}

/** Kept where there is no list: the cache takes no `undefined`. */
const NONE: PostingList = { isDense: false, ids: new Uint16Array(0), weights: new Uint8Array(0) };
