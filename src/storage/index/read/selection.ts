/** Selects the matching documents of a segment before scoring, by bit sets: 32 documents at a time. */
import { bitAt, countOnes, listBits, MAX_WORDS } from "#storage/index/bits.ts";
import { addTo, type DenseList, lengthOf, type PostingList, type SparseList } from "#storage/index/posting-list.ts";
import { firstAtLeast, SEARCH_RATIO } from "./scoring.ts";
import type { Filter } from "./search-context.ts";

/** Document sets of one segment. All bits are zero between two uses. */
export interface BitScratch {
  /** Documents that have at least one of the words and, in `twice`, documents that have at least two. */
  once: Uint32Array;
  twice: Uint32Array;
  /** Documents that have all required terms. */
  must: Uint32Array;
  spare: Uint32Array;
}

export function makeBitScratch(): BitScratch {
  const make = () => new Uint32Array(MAX_WORDS);
  return { once: make(), twice: make(), must: make(), spare: make() };
}

export function clearBits({ once, twice, must, spare }: BitScratch): void {
  for (const bits of [once, twice, must, spare]) bits.fill(0);
}

/** A list from the query that documents are matched against. */
export interface Asked {
  list: PostingList;
  isWord: boolean;
  isRequired: boolean;
}

/**
 * Writes the visible documents that are in every list into `ids`, ascending, and returns their number. Walks the
 * shortest list; dense lists only serve to test membership.
 */
export function selectAll(
  lists: readonly PostingList[],
  visible: Uint32Array,
  ids: Uint16Array,
  { once }: BitScratch,
): number {
  const dense = lists.filter((list) => list.isDense).sort((a, b) => a.count - b.count);
  const [first, ...others] = lists.filter((list) => !list.isDense).sort((a, b) => lengthOf(a) - lengthOf(b));
  if (first === undefined) return commonOf(dense, visible, ids, once);
  ids.set(first.ids);
  let count = keepIn(visible, ids, first.ids.length);
  for (const { bits } of dense) count = keepIn(bits, ids, count);
  for (const list of others) count = keepListed(list, ids, count);
  return count;
}

function commonOf(lists: readonly DenseList[], visible: Uint32Array, ids: Uint16Array, common: Uint32Array): number {
  const words = lists.reduce((least, { bits }) => Math.min(least, bits.length), Math.min(visible.length, MAX_WORDS));
  common.set(visible.subarray(0, words));
  for (const { bits } of lists) for (let i = 0; i < words; i++) common[i] = (common[i] ?? 0) & (bits[i] ?? 0);
  const count = listBits(common, words, ids);
  common.fill(0, 0, words);
  return count;
}

/** Works without branches, because half of the branch predictions would be wrong. */
function keepIn(bits: Uint32Array, ids: Uint16Array, count: number): number {
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const id = ids[k] ?? 0;
    ids[kept] = id;
    kept += bitAt(bits, id);
  }
  return kept;
}

function keepListed({ ids: listed }: SparseList, ids: Uint16Array, count: number): number {
  const isSearched = listed.length > count * SEARCH_RATIO;
  let kept = 0;
  let at = 0;
  for (let k = 0; k < count && at < listed.length; k++) {
    const id = ids[k] ?? 0;
    if (isSearched) at = firstAtLeast(listed, listed.length, id, at);
    else while (at < listed.length && (listed[at] ?? 0) < id) at++;
    if (listed[at] === id) ids[kept++] = id;
  }
  return kept;
}

/**
 * Sets the visible documents that have at least `needed` words and all required terms as bits in `twice` and returns
 * their exact number. `needed` is at most two.
 */
export function selectSome(
  asked: readonly Asked[],
  needed: 0 | 1 | 2,
  visible: Uint32Array,
  filter: Filter | undefined,
  bits: BitScratch,
): number {
  const { once, twice: matches, must } = bits;
  const words = Math.min(visible.length, MAX_WORDS);
  const required = asked.filter(({ isRequired }) => isRequired);
  for (const { list, isWord } of asked) {
    if (!isWord || needed === 0) continue;
    if (list.isDense) countDense(list, bits);
    else countSparse(list, bits);
  }
  for (const [at, { list }] of required.entries())
    if (at === 0) addTo(must, list);
    else keepCommon(must, list, bits);
  const source = needed === 0 ? visible : needed === 1 ? once : matches;
  const limit = required.length > 0 ? must : visible;
  let total = 0;
  for (let i = 0; i < words; i++) {
    const word = (source[i] ?? 0) & (visible[i] ?? 0) & (limit[i] ?? 0);
    matches[i] = word;
    if (word !== 0) total += countOnes(word);
  }
  matches.fill(0, words);
  once.fill(0);
  must.fill(0);
  return filter === undefined ? total : keepPassing(filter, matches, words);
}

function countDense({ bits }: DenseList, { once, twice }: BitScratch): void {
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i] ?? 0;
    const before = once[i] ?? 0;
    twice[i] = (twice[i] ?? 0) | (before & word);
    once[i] = before | word;
  }
}

function countSparse({ ids }: SparseList, { once, twice }: BitScratch): void {
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] ?? 0;
    const mask = 1 << (id & 31);
    const before = once[id >>> 5] ?? 0;
    twice[id >>> 5] = (twice[id >>> 5] ?? 0) | (before & mask);
    once[id >>> 5] = before | mask;
  }
}

function keepCommon(set: Uint32Array, list: PostingList, { spare }: BitScratch): void {
  addTo(spare, list);
  for (let i = 0; i < MAX_WORDS; i++) set[i] = (set[i] ?? 0) & (spare[i] ?? 0);
  spare.fill(0);
}

function keepPassing(filter: Filter, bits: Uint32Array, words: number): number {
  let count = 0;
  for (let i = 0; i < words; i++) {
    let left = bits[i] ?? 0;
    let kept = 0;
    while (left !== 0) {
      const lowest = left & -left;
      left ^= lowest;
      if (!filter(i * 32 + 31 - Math.clz32(lowest))) continue;
      kept |= lowest;
      count++;
    }
    bits[i] = kept;
  }
  return count;
}

/** Writes the documents of a set that are in one of these lists into `ids`, ascending, and returns their number. */
export function listOnesIn(
  set: Uint32Array,
  lists: readonly PostingList[],
  ids: Uint16Array,
  { spare }: BitScratch,
): number {
  for (const list of lists) addTo(spare, list);
  for (let i = 0; i < MAX_WORDS; i++) spare[i] = (spare[i] ?? 0) & (set[i] ?? 0);
  const count = listBits(spare, MAX_WORDS, ids);
  spare.fill(0);
  return count;
}
