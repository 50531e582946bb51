import { growing, grown, push } from "./growing.ts";

/**
 * Assigns numbers to terms in UTF-8: the first term added is 0, the next 1, and so on. Like `StringTable`, but for
 * bytes as they come from the database: a known term needs no string, and all terms are in one array.
 */
export class TermBytes {
  #bytes = new Uint8Array(4_096);
  /** Term `n` is `bytes[starts[n]]` up to `bytes[starts[n + 1]]`, exclusive. */
  readonly #starts = growing(new Uint32Array(1_024), 1);
  readonly #hashes = growing(new Int32Array(1_024));
  /** A term's number + 1, by hash, with linear probing; 0 = free. At most half of the slots are used. */
  #slots = new Int32Array(4_096);

  /** Returns the number of a term, or -1. */
  find(term: string): number {
    const bytes = encoder.encode(term);
    return (this.#slots[this.#slotOf(bytes, 0, bytes.length, hashOf(bytes, 0, bytes.length))] ?? 0) - 1;
  }

  /** Calls `visit` with the number of each line's term and the line's position. New terms get a number. */
  internLines(bytes: Uint8Array, count: number, visit: (number: number, line: number) => void): void {
    let start = 0;
    for (let line = 0; line < count; line++) {
      let end = start;
      let hash = SEED;
      // One pass computes the hash and finds the end of the line.
      for (; end < bytes.length; end++) {
        const byte = bytes[end] ?? 0;
        if (byte === NEWLINE) break;
        hash = Math.imul(hash ^ byte, PRIME);
      }
      visit(this.#intern(bytes, start, end, hash ^ (hash >>> 15)), line);
      start = end + 1;
    }
  }

  /** Returns the number of a term; a new term gets a number. */
  intern(term: string): number {
    const bytes = encoder.encode(term);
    return this.#intern(bytes, 0, bytes.length, hashOf(bytes, 0, bytes.length));
  }

  #intern(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slot = this.#slotOf(bytes, start, end, hash);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return known - 1;
    const number = this.#hashes.length;
    this.#slots[slot] = number + 1;
    push(this.#hashes, hash);
    const at = this.#starts.array[number] ?? 0;
    this.#bytes = grown(this.#bytes, at + end - start);
    for (let i = start; i < end; i++) this.#bytes[at + i - start] = bytes[i] ?? 0;
    push(this.#starts, at + end - start);
    if (this.#hashes.length * 2 > this.#slots.length) this.#rehash();
    return number;
  }

  /** Returns the terms with this prefix. */
  startingWith(prefix: string): string[] {
    const wanted = encoder.encode(prefix);
    const found: string[] = [];
    for (let number = 0; number < this.#hashes.length; number++) {
      const start = this.#starts.array[number] ?? 0;
      const end = this.#starts.array[number + 1] ?? 0;
      if (end - start < wanted.length || !this.#isAt(start, wanted, 0, wanted.length)) continue;
      found.push(decoder.decode(this.#bytes.subarray(start, end)));
    }
    return found;
  }

  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    const hashes = this.#hashes.array;
    const starts = this.#starts.array;
    let slot = hash & mask;
    for (;;) {
      const known = this.#slots[slot] ?? 0;
      if (known === 0) return slot;
      if (hashes[known - 1] === hash) {
        const at = starts[known - 1] ?? 0;
        if ((starts[known] ?? 0) - at === end - start && this.#isAt(at, bytes, start, end)) return slot;
      }
      slot = (slot + 1) & mask;
    }
  }

  #isAt(at: number, bytes: Uint8Array, start: number, end: number): boolean {
    const mine = this.#bytes;
    for (let i = start; i < end; i++) if (mine[at + i - start] !== bytes[i]) return false;
    return true;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#hashes.length; number++) {
      let slot = (this.#hashes.array[number] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const NEWLINE = 10;
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a with a final mix, because the low bits choose the slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), PRIME);
  return hash ^ (hash >>> 15);
}
