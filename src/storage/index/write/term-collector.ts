import { StringTable } from "#text/string-table.ts";
import { growing, push } from "#storage/index/growing.ts";
import type { Postings } from "#storage/index/postings.ts";

/** Inverts documents with terms into terms with documents, by a counting sort over flat arrays. */
export class TermCollector {
  readonly #table = new StringTable();
  readonly #terms = growing(new Uint32Array(1024));
  readonly #ids = growing(new Uint16Array(1024));
  readonly #weights = growing(new Uint8Array(1024));
  readonly #counts = growing(new Uint32Array(1024));

  /** The distinct terms. A term's position is its number in `lists`. */
  get terms(): readonly string[] {
    return this.#table.strings;
  }

  /**
   * Records that document `id` has the term `text.slice(start, end)`. Call it with ascending ids, and once per document
   * and term.
   */
  add(text: string, start: number, end: number, id: number, weight: number): void {
    const number = this.#table.intern(text, start, end);
    if (number === this.#counts.length) push(this.#counts, 0);
    this.#counts.array[number] = (this.#counts.array[number] ?? 0) + 1;
    push(this.#terms, number);
    push(this.#ids, id);
    push(this.#weights, weight);
  }

  /**
   * Returns the function that returns a term's posting list by the term's number. Call it once, after the last `add`.
   */
  lists(): (number: number) => Postings {
    const starts = new Uint32Array(this.#counts.length + 1);
    for (let i = 0; i < this.#counts.length; i++) starts[i + 1] = (starts[i] ?? 0) + (this.#counts.array[i] ?? 0);
    const next = starts.slice();
    const ids = new Uint16Array(this.#terms.length);
    const weights = new Uint8Array(this.#terms.length);
    for (let i = 0; i < this.#terms.length; i++) {
      const number = this.#terms.array[i] ?? 0;
      const at = next[number] ?? 0;
      next[number] = at + 1;
      ids[at] = this.#ids.array[i] ?? 0;
      weights[at] = this.#weights.array[i] ?? 0;
    }
    return (number) => {
      const start = starts[number] ?? 0;
      const end = starts[number + 1] ?? start;
      return { ids: ids.subarray(start, end), weights: weights.subarray(start, end) };
    };
  }
}
