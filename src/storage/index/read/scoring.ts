import { countOnes } from "#storage/index/bits.ts";
import { type DenseList, lengthOf, type PostingList, type SparseList } from "#storage/index/posting-list.ts";
import type { Norm } from "./search-context.ts";

/** The candidates to whose scores and word counts a list is added. */
export interface Scoring {
  norm: Norm;
  /** The lengths of the segment's documents. */
  lengths: Uint32Array;
  /** Ascending; the first `count` entries are valid. Scores and word counts are at the same positions. */
  ids: Uint16Array;
  scores: Float64Array;
  found: Uint8Array;
}

/** When one of two ascending lists has this many times the entries of the other, it is searched instead of walked. */
export const SEARCH_RATIO = 16;

/** Adds a list's score to each candidate that the list contains. */
export function addScores(list: PostingList, scale: number, scoring: Scoring, count: number): void {
  if (list.isDense) addDense(list, scale, scoring, count);
  else if (lengthOf(list) * SEARCH_RATIO < count) addFew(list, scale, scoring, count);
  else addSparse(list, scale, scoring, count);
}

function addDense({ bits, ranks, weights }: DenseList, scale: number, scoring: Scoring, count: number): void {
  const { norm, lengths, ids, scores, found } = scoring;
  const { base, slope } = norm;
  for (let k = 0; k < count; k++) {
    const id = ids[k] ?? 0;
    const at = id >>> 5;
    // The list contains no later candidate. See `bitAt`.
    if (at >= bits.length) return;
    const word = bits[at] ?? 0;
    const mask = 1 << (id & 31);
    if ((word & mask) === 0) continue;
    const weight = weights[(ranks[at] ?? 0) + countOnes(word & (mask - 1))] ?? 0;
    scores[k] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
    found[k] = (found[k] ?? 0) + 1;
  }
}

function addSparse(list: SparseList, scale: number, scoring: Scoring, count: number): void {
  const { norm, lengths, ids: candidates, scores, found } = scoring;
  const { base, slope } = norm;
  const { ids, weights } = list;
  const isSearched = ids.length > count * SEARCH_RATIO;
  let at = 0;
  for (let k = 0; k < count; k++) {
    const id = candidates[k] ?? 0;
    if (isSearched) at = firstAtLeast(ids, ids.length, id, at);
    else while (at < ids.length && (ids[at] ?? 0) < id) at++;
    if (at === ids.length) return;
    if (ids[at] !== id) continue;
    const weight = weights[at] ?? 0;
    scores[k] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
    found[k] = (found[k] ?? 0) + 1;
  }
}

/** Like `addScores`, for a list that is much shorter than the candidates. */
function addFew({ ids, weights }: SparseList, scale: number, scoring: Scoring, count: number): void {
  const { norm, lengths, ids: candidates, scores, found } = scoring;
  const { base, slope } = norm;
  let k = 0;
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] ?? 0;
    k = firstAtLeast(candidates, count, id, k);
    if (k === count) return;
    if (candidates[k] !== id) continue;
    const weight = weights[at] ?? 0;
    scores[k] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
    found[k] = (found[k] ?? 0) + 1;
  }
}

/**
 * Returns the first position, from `from` on and below `count`, whose id is at least this: doubling steps, then
 * bisection.
 */
export function firstAtLeast(ids: Uint16Array, count: number, id: number, from: number): number {
  if (from >= count || (ids[from] ?? 0) >= id) return from;
  let step = 1;
  let low = from;
  while (low + step < count && (ids[low + step] ?? 0) < id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(count, low + step);
  low++;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
