import type { DeltaWords } from "./delta-rows.ts";
import { type Growing, push } from "./growing.ts";
import type { Postings } from "./postings.ts";

/** A block of words; its documents have the ids from `first` on, and those before `next` (a place among them) were read. */
interface UnreadBlock {
  words: DeltaWords;
  first: number;
  next: number;
}

/**
 * Words of changed documents as they came from the file. Giving each of them its number takes 60 µs a document; a search
 * for the bytes of one term 1 µs, so what a question asks for is found that way until somebody has time to read the rest.
 * Source: docs/decisions/0040.
 */
export class UnreadWords {
  readonly #blocks: UnreadBlock[] = [];

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Adds the words of documents that have the ids from `first` on. */
  add(words: DeltaWords, first: number): void {
    if (words.termStarts.length > 1) this.#blocks.push({ words, first, next: 0 });
  }

  /** Unread documents that have the term, ascending. */
  find(term: string): Postings {
    const line = Buffer.from(`\n${term}\n`);
    const ids: Growing<Uint16Array> = { array: new Uint16Array(64), length: 0 };
    const weights: Growing<Uint8Array> = { array: new Uint8Array(64), length: 0 };
    for (const block of this.#blocks) {
      findIn(block, line, (id, weight) => {
        push(ids, id);
        push(weights, weight);
      });
    }
    return { ids: ids.array.slice(0, ids.length), weights: weights.array.slice(0, weights.length) };
  }

  /** Takes out the first so many documents; gives each with its terms (a line each) and their weights. */
  take(documents: number, visit: (id: number, terms: Uint8Array, weights: Uint8Array) => void): void {
    for (let left = documents; left > 0; left--) {
      const [block] = this.#blocks;
      if (block === undefined) return;
      const { termStarts, weightStarts, terms, weights } = block.words;
      const k = block.next++;
      visit(
        block.first + k,
        terms.subarray((termStarts[k] ?? 0) + 1, termStarts[k + 1]),
        weights.subarray(weightStarts[k], weightStarts[k + 1]),
      );
      if (block.next === termStarts.length - 1) this.#blocks.shift();
    }
  }
}

const NEWLINE = 10;

/** A document has a term once. The line break after a document's last line is the one before the next document's first. */
function findIn({ words, first, next }: UnreadBlock, line: Buffer, visit: (id: number, weight: number) => void): void {
  const { terms, weights, termStarts, weightStarts } = words;
  let k = next;
  for (let at = terms.indexOf(line, termStarts[k]); at >= 0; at = terms.indexOf(line, termStarts[k])) {
    while ((termStarts[k + 1] ?? Infinity) <= at) k++;
    let place = weightStarts[k] ?? 0;
    for (let i = (termStarts[k] ?? 0) + 1; i <= at; i++) if (terms[i] === NEWLINE) place++;
    visit(first + k, weights[place] ?? 0);
    k++;
  }
}
