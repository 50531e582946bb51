import type { ScoredTerm } from "./plan.ts";
import type { Scratch } from "./scratch.ts";
import type { SearchContext } from "./search-context.ts";
import type { Postings } from "#storage/index/postings.ts";

/** A longer list is searched, not walked, when it has this many entries for each candidate. */
const SEARCH_RATIO = 16;

/**
 * The visible documents of a segment that have every term, ascending in `scratch.ids`, with their scores. Gives their
 * number. Scores are added up in the order of the terms.
 */
export function intersect(context: SearchContext, terms: readonly ScoredTerm[], s: number, scratch: Scratch): number {
  const lengths = context.segments[s]?.columns.lengths;
  const bits = context.documents[s];
  const [first, ...others] = terms;
  const rarest = first?.lists[s];
  if (lengths === undefined || bits === undefined || first === undefined || rarest === undefined) return 0;
  if (others.some((term) => term.lists[s] === undefined)) return 0;
  let count = startWith(rarest, bits, scratch);
  // The first scores are only made for what the second list has left over.
  let isScored = false;
  for (const { lists, scale } of others) {
    const list = lists[s];
    if (count === 0 || list === undefined) return 0;
    count = narrow(list, scratch, count, isScored);
    if (!isScored) scoreFirst(context, lengths, first.scale, scratch, count);
    isScored = true;
    addScores(context, lengths, list, scale, scratch, count);
  }
  if (!isScored) scoreFirst(context, lengths, first.scale, scratch, count);
  return count;
}

/** The first place from `from` on whose id is at least this: doubling steps, then halving. */
export function firstAtLeast(ids: Uint16Array, id: number, from: number): number {
  if (from >= ids.length || (ids[from] ?? 0) >= id) return from;
  let step = 1;
  let low = from;
  while (low + step < ids.length && (ids[low + step] ?? 0) < id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(ids.length, low + step);
  low++;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function startWith({ ids, weights }: Postings, bits: Uint32Array, scratch: Scratch): number {
  const { ids: found, weights: kept } = scratch;
  let count = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0;
    found[count] = id;
    kept[count] = weights[i] ?? 0;
    // Without a branch on the outcome: half of the guesses would be wrong.
    count += ((bits[id >>> 5] ?? 0) >>> (id & 31)) & 1;
  }
  return count;
}

/** Keeps the candidates that the list has; `spots` gets where each stands in it. */
function narrow(list: Postings, scratch: Scratch, count: number, isScored: boolean): number {
  const { ids: found, scores, weights, spots } = scratch;
  const { ids } = list;
  const isSearched = ids.length > count * SEARCH_RATIO;
  let kept = 0;
  let at = 0;
  for (let k = 0; k < count; k++) {
    const id = found[k] ?? 0;
    if (isSearched) at = firstAtLeast(ids, id, at);
    else while (at < ids.length && (ids[at] ?? 0) < id) at++;
    if (at === ids.length) break;
    if (ids[at] !== id) continue;
    found[kept] = id;
    spots[kept] = at;
    if (isScored) scores[kept] = scores[k] ?? 0;
    else weights[kept] = weights[k] ?? 0;
    kept++;
  }
  return kept;
}

function scoreFirst(
  context: SearchContext,
  lengths: Uint32Array,
  scale: number,
  scratch: Scratch,
  count: number,
): void {
  const { base, slope } = context.norm;
  const { ids, scores, weights } = scratch;
  for (let k = 0; k < count; k++) {
    const weight = weights[k] ?? 0;
    scores[k] = (scale * weight) / (weight + base + slope * (lengths[ids[k] ?? 0] ?? 0));
  }
}

function addScores(
  context: SearchContext,
  lengths: Uint32Array,
  list: Postings,
  scale: number,
  scratch: Scratch,
  count: number,
): void {
  const { base, slope } = context.norm;
  const { ids, scores, spots } = scratch;
  for (let k = 0; k < count; k++) {
    const weight = list.weights[spots[k] ?? 0] ?? 0;
    scores[k] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[ids[k] ?? 0] ?? 0));
  }
}
