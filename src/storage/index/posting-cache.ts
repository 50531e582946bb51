import { LRUCache } from "lru-cache";
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
  readonly #lists: LRUCache<number, Postings>;

  constructor(budget = CACHE_BYTES) {
    this.#lists = new LRUCache({ maxSize: budget, sizeCalculation: sizeOf });
  }

  /** The list of a key; read now if it is not there. */
  get(key: number, read: () => Postings | undefined): Postings | undefined {
    const known = this.#lists.get(key);
    if (known !== undefined) return known === NONE ? undefined : known;
    const list = read();
    this.#lists.set(key, list ?? NONE);
    return list;
  }
}

/** Kept where there is no list: the cache takes no `undefined`. */
const NONE: Postings = { ids: new Uint16Array(0), weights: new Uint8Array(0) };

function sizeOf({ ids }: Postings): number {
  return OVERHEAD + ids.length * 3;
}
