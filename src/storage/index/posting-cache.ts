import { LRUCache } from "lru-cache";
import { bytesOf, DENSE, type PostingList, toPostingList } from "./posting-list.ts";
import type { Postings } from "./postings.ts";

/** Bytes of posting lists that a reader keeps. */
const CACHE_BYTES = 64 * 2 ** 20;
/** What an entry costs besides its numbers, roughly; also the cost of knowing that there is no list. */
const OVERHEAD = 250;

/**
 * Posting lists of base segments as they were read last: a list never changes and its key is never given again. The
 * least recently used go first.
 */
export class PostingCache {
  readonly #lists: LRUCache<number, PostingList>;
  readonly #dense: number;

  /** `dense`: from so many entries on a list is kept as bits. */
  constructor({ budget = CACHE_BYTES, dense = DENSE }: { budget?: number; dense?: number } = {}) {
    this.#lists = new LRUCache({ maxSize: budget, sizeCalculation: (list) => OVERHEAD + bytesOf(list) });
    this.#dense = dense;
  }

  /** The list of a key; read now if it is not there. */
  get(key: number, read: () => Postings | undefined): PostingList | undefined {
    const known = this.#lists.get(key);
    if (known !== undefined) return known === NONE ? undefined : known;
    const postings = read();
    const list = postings && toPostingList(postings, this.#dense);
    this.#lists.set(key, list ?? NONE);
    return list;
  }
}

/** Kept where there is no list: the cache takes no `undefined`. */
const NONE: PostingList = { isDense: false, ids: new Uint16Array(0), weights: new Uint8Array(0) };
