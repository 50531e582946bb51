import type { Postings } from "./postings.ts";

/** Bytes of posting lists that a reader keeps. */
const CACHE_BYTES = 64 * 2 ** 20;
/** What an entry costs beside its numbers, roughly; also the cost of knowing that there is no list. */
const OVERHEAD = 250;

/**
 * Posting lists of base segments as they were read last: a list never changes and its key is never given again. The
 * least recently used go first.
 */
export class PostingCache {
  readonly #lists = new Map<number, Postings | undefined>();
  readonly #budget: number;
  #bytes = 0;

  constructor(budget = CACHE_BYTES) {
    this.#budget = budget;
  }

  /** The list of a key; read now if it is not there. */
  get(key: number, read: () => Postings | undefined): Postings | undefined {
    const known = this.#lists.get(key);
    if (known !== undefined || this.#lists.has(key)) {
      this.#lists.delete(key);
      this.#lists.set(key, known);
      return known;
    }
    const list = read();
    this.#lists.set(key, list);
    this.#bytes += sizeOf(list);
    for (const [oldest, old] of this.#lists) {
      if (this.#bytes <= this.#budget) break;
      this.#lists.delete(oldest);
      this.#bytes -= sizeOf(old);
    }
    return list;
  }
}

function sizeOf(list: Postings | undefined): number {
  return OVERHEAD + (list === undefined ? 0 : list.ids.length * 3);
}
