/** Sets of the documents of a segment. A document is one bit, by its local id; 32 bits are a word. */

/** The number of words for the largest possible segment. */
export const MAX_WORDS = 2_048;

/** Returns the number of bits that are set in a word. */
export function countOnes(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function countCommon(one: Uint32Array, other: Uint32Array): number {
  const words = Math.min(one.length, other.length);
  let count = 0;
  for (let i = 0; i < words; i++) count += countOnes((one[i] ?? 0) & (other[i] ?? 0));
  return count;
}

export function haveCommon(one: Uint32Array, other: Uint32Array): boolean {
  const words = Math.min(one.length, other.length);
  for (let i = 0; i < words; i++) if (((one[i] ?? 0) & (other[i] ?? 0)) !== 0) return true;
  return false;
}

/** Writes the ids in the set, ascending, into `ids` and returns how many there are. */
export function listBits(bits: Uint32Array, words: number, ids: Uint16Array): number {
  let count = 0;
  for (let i = 0; i < words; i++) {
    let word = bits[i] ?? 0;
    while (word !== 0) {
      const lowest = word & -word;
      ids[count++] = i * 32 + 31 - Math.clz32(lowest);
      word ^= lowest;
    }
  }
  return count;
}

/** Returns 1 when the bit of this document is set, else 0. The array may end before the bit. */
export function bitAt(bits: Uint32Array, id: number): number {
  const at = id >>> 5;
  // Checked first: once V8 has seen a read beyond the end, it makes an object of each word, which is four times as slow
  // for all callers.
  return at < bits.length ? ((bits[at] ?? 0) >>> (id & 31)) & 1 : 0;
}
