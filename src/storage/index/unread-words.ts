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
 * for the bytes of one term 0.3 µs, as they are sorted, so what a question asks for is found that way until somebody has
 * time to read the rest.
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
    const bytes = Buffer.from(term);
    const ids: Growing<Uint16Array> = { array: new Uint16Array(64), length: 0 };
    const weights: Growing<Uint8Array> = { array: new Uint8Array(64), length: 0 };
    for (const block of this.#blocks) {
      findIn(block, bytes, (id, weight) => {
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
        terms.subarray(termStarts[k], (termStarts[k + 1] ?? 0) - 1),
        weights.subarray(weightStarts[k], weightStarts[k + 1]),
      );
      if (block.next === termStarts.length - 1) this.#blocks.shift();
    }
  }
}

const NEWLINE = 10;

function findIn(
  { words, first, next }: UnreadBlock,
  term: Uint8Array,
  visit: (id: number, weight: number) => void,
): void {
  const { terms, weights, termStarts, weightStarts } = words;
  for (let k = next; k < termStarts.length - 1; k++) {
    const start = termStarts[k] ?? 0;
    const at = findLine(terms, start, (termStarts[k + 1] ?? 0) - 1, term);
    if (at < 0) continue;
    let place = weightStarts[k] ?? 0;
    for (let i = start; i < at; i++) if (terms[i] === NEWLINE) place++;
    visit(first + k, weights[place] ?? 0);
  }
}

/** Where a line stands among the ascending lines between `start` and `end` (where a line break follows the last one, or nothing), or -1. */
function findLine(lines: Uint8Array, start: number, end: number, wanted: Uint8Array): number {
  let low = start;
  let high = end;
  while (low < high) {
    let at = (low + high) >>> 1;
    while (at > low && lines[at - 1] !== NEWLINE) at--;
    let same = 0;
    while (same < wanted.length && lines[at + same] === wanted[same]) same++;
    const byte = lines[at + same] ?? NEWLINE;
    if (same === wanted.length && byte === NEWLINE) return at;
    if (byte === NEWLINE || (same < wanted.length && rankOf(byte) < rankOf(wanted[same] ?? 0))) {
      low = at + same;
      while (low < high && lines[low] !== NEWLINE) low++;
      low++;
    } else high = at - 1;
  }
  return -1;
}

/**
 * Terms ascend by UTF-16 code units. Bytes of UTF-8 have the same order but for characters from U+10000 on (first byte
 * 0xF0 and more): their surrogates come before U+E000 (0xEE).
 */
function rankOf(byte: number): number {
  return byte < 0xee ? byte : byte < 0xf0 ? byte + 5 : byte - 2;
}
