import { inChunks } from "#core/in-chunks.ts";
import type { DeltaDocuments } from "./delta-document.ts";
import type { DeltaWords, ReadWords } from "./delta-words.ts";
import { growing, push } from "./growing.ts";
import type { Postings } from "./postings.ts";
import { hashOf } from "./term-hash.ts";

/** Data about unread words: the row number of each document, and hashes of its terms. */
export type HashedDocuments = Pick<DeltaDocuments, "seqs" | "hashes" | "hashStarts" | "unhashed">;

/** A block of documents whose ids start at `first`. Those at positions before `next` were taken. */
interface UnreadBlock {
  documents: HashedDocuments;
  first: number;
  next: number;
  /** The words read so far, by position. */
  words: (DeltaWords | undefined)[];
}

/** Rows whose words are read as one value. With long texts, more rows could exceed SQLite's limit of a gigabyte. */
const READ_AT_ONCE = 2_048;

/**
 * Words of changed documents that haven't been taken yet. For most of them only hashes are in memory. The words of
 * documents that may have a term of a query are read during that query, and the rest when there is time.
 * Source: docs/decisions/0040, docs/decisions/0044.
 */
export class UnreadWords {
  readonly #blocks: UnreadBlock[] = [];
  readonly #read: ReadWords;

  constructor(read: ReadWords) {
    this.#read = read;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Adds documents, whose ids start at `first`. */
  add(documents: HashedDocuments, first: number): void {
    if (documents.seqs.length > 0) this.#blocks.push({ documents, first, next: 0, words: [] });
  }

  /** Returns the documents that have the term, ascending. */
  find(term: string): Postings {
    const hash = hashOf(term);
    const found = this.#blocks.map((block) => ({ block, suspects: findSuspects(block, hash) }));
    this.#readWords(found.map(({ block, suspects }) => ({ block, places: suspects.map(({ k }) => k) })));
    const bytes = Buffer.from(term);
    const ids = growing(new Uint16Array(64));
    const weights = growing(new Uint8Array(64));
    for (const { block, suspects } of found) {
      for (const { k, line } of suspects) {
        const weight = weightOf(block.words[k], bytes, line);
        if (weight === undefined) continue;
        push(ids, block.first + k);
        push(weights, weight);
      }
    }
    return { ids: ids.array.slice(0, ids.length), weights: weights.array.slice(0, weights.length) };
  }

  /** Takes out the first `documents` documents and visits those with words. */
  take(documents: number, visit: (id: number, words: DeltaWords) => void): void {
    for (let left = documents; left > 0;) {
      const [block] = this.#blocks;
      if (block === undefined) return;
      const { seqs } = block.documents;
      const end = Math.min(seqs.length, block.next + left);
      const places = Array.from({ length: end - block.next }, (_, i) => block.next + i);
      this.#readWords([{ block, places }]);
      for (const k of places) {
        const words = block.words[k];
        if (words !== undefined) visit(block.first + k, words);
        block.words[k] = undefined;
      }
      left -= places.length;
      block.next = end;
      if (end === seqs.length) this.#blocks.shift();
    }
  }

  /**
   * Reads words. A row that no longer exists was replaced or merged, so its document is dead before the next search.
   */
  #readWords(wanted: readonly { block: UnreadBlock; places: readonly number[] }[]): void {
    const bySeq = new Map<number, { block: UnreadBlock; k: number }>();
    for (const { block, places } of wanted) {
      for (const k of places) if (block.words[k] === undefined) bySeq.set(block.documents.seqs[k] ?? 0, { block, k });
    }
    for (const seqs of inChunks([...bySeq.keys()], READ_AT_ONCE)) {
      this.#read(seqs, (seq, words) => {
        const place = bySeq.get(seq);
        if (place !== undefined) place.block.words[place.k] = words;
      });
    }
  }
}

/**
 * A document that may have a term. `line` is the number of the only line of its terms that can be the term, where that
 * is known.
 */
interface Suspect {
  k: number;
  line: number | undefined;
}

/** Returns the documents in which a term has, or may have, this hash; ascending. */
function findSuspects({ documents, next }: UnreadBlock, hash: number): Suspect[] {
  const { hashes, hashStarts, unhashed } = documents;
  const found: Suspect[] = [];
  let k = next;
  for (let at = hashes.indexOf(hash, hashStarts[k]); at >= 0;) {
    while ((hashStarts[k + 1] ?? 0) <= at) k++;
    const start = hashStarts[k] ?? 0;
    const end = hashStarts[k + 1] ?? 0;
    const after = hashes.indexOf(hash, at + 1);
    const isOnly = after < 0 || after >= end;
    found.push({ k: k++, line: isOnly ? at - start : undefined });
    at = isOnly ? after : hashes.indexOf(hash, end);
  }
  if (unhashed.length === 0) return found;
  const others = unhashed.filter((place) => place >= next).map((place) => ({ k: place, line: undefined }));
  return [...found, ...others].sort((a, b) => a.k - b.k);
}

/**
 * Returns the weight of a term; undefined for words without it. When its line is known, the lines before it need not be
 * counted.
 */
function weightOf(words: DeltaWords | undefined, term: Uint8Array, line: number | undefined): number | undefined {
  if (words === undefined) return undefined;
  const { terms, weights } = words;
  const at = findLine(terms, 0, terms.length, term);
  if (at < 0) return undefined;
  if (line !== undefined) return weights[line];
  let place = 0;
  for (let i = 0; i < at; i++) if (terms[i] === NEWLINE) place++;
  return weights[place];
}

const NEWLINE = 10;

/**
 * Returns the position of a line among the ascending lines between `start` and `end` (followed by a line break or
 * nothing), or -1.
 */
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
 * Ranks a byte. Terms ascend by UTF-16 code units. UTF-8 bytes have the same order except for characters from U+10000
 * on (first byte 0xF0 and above), whose surrogates sort before U+E000 (0xEE).
 */
function rankOf(byte: number): number {
  return byte < 0xee ? byte : byte < 0xf0 ? byte + 5 : byte - 2;
}
