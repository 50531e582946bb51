import { NOTHING } from "./filters.ts";
import { firstAtLeast, intersect } from "./intersect.ts";
import type { Plan, ScoredTerm } from "./plan.ts";
import type { Postings } from "#storage/index/postings.ts";
import type { Scratch } from "./scratch.ts";
import type { SearchContext, Filter } from "./search-context.ts";
import { isVisible } from "#storage/index/visibility/visibility.ts";

/** The matches of a segment. Those that can't come to stand among the best are in `matches`, but have no score. */
export interface Matches {
  segment: number;
  /** All of them: the first `total` of `matches`. */
  matches: Uint16Array;
  total: number;
  /** Those with a score, among them all that have all words: the first `count` of `ids`, with the rest at the same places. */
  ids: Uint16Array;
  scores: Float64Array;
  /** 1 = has all words. */
  hasAll: Uint8Array;
  count: number;
}

export type Accept = (matches: Matches) => void;

const SIZE = 65_536;

/** A list is searched, not walked, when it has this many entries for each candidate. */
const SEARCH_RATIO = 32;

/** Every visible document that passes the filters; score 0. */
export function evaluateEverything(context: SearchContext, scratch: Scratch, accept: Accept): void {
  const { ids, scores, hasAll } = scratch;
  scores.fill(0);
  hasAll.fill(1);
  for (let s = 0; s < context.segments.length; s++) {
    context.deadline.check();
    const bits = context.documents[s];
    const filter = context.filters[s];
    const docs = context.segments[s]?.columns.docs ?? 0;
    if (bits === undefined || filter === NOTHING) continue;
    let count = 0;
    for (let id = 0; id < docs; id++) {
      if (isVisible(bits, id) && (filter === undefined || filter(id))) ids[count++] = id;
    }
    accept({ segment: s, matches: ids, total: count, ids, scores, hasAll, count });
  }
}

/** Documents that have every term. Per segment: the visible ones of the rarest list, then list by list. */
export function evaluateAll(context: SearchContext, plan: Plan, scratch: Scratch, accept: Accept): void {
  if (plan.isHopeless) return;
  const { ids, scores, hasAll } = scratch;
  hasAll.fill(1);
  for (let s = 0; s < context.segments.length; s++) {
    context.deadline.check();
    const found = intersect(context, plan.terms, s, scratch);
    const filter = context.filters[s];
    const count = filter === undefined ? found : keepPassing(filter, { ids, values: scores }, found);
    accept({ segment: s, matches: ids, total: count, ids, scores, hasAll, count });
  }
}

function keepPassing(
  filter: Filter,
  { ids, values }: { ids: Uint16Array; values: Float64Array | Uint8Array },
  found: number,
): number {
  let count = 0;
  for (let i = 0; i < found; i++) {
    const id = ids[i] ?? 0;
    if (!filter(id)) continue;
    ids[count] = id;
    values[count++] = values[i] ?? 0;
  }
  return count;
}

/**
 * Documents that have all phrases and at least `enough` of what was asked for. A first walk over the lists
 * counts words only, as most documents have too few of them; those with enough are then scored in a second, unless all
 * they could have scores less than `leastScore`. What is counted is exact either way.
 */
export function evaluateAny(
  context: SearchContext,
  plan: Plan,
  scratch: Scratch,
  accept: Accept,
  enough: number,
  leastScore: () => number = () => -Infinity,
): void {
  if (plan.isPhraseHopeless) return;
  const neededWords = enough - plan.phrases;
  const neededTerms = plan.terms.filter((term) => term.isRequired).length;
  const { ids: matches } = scratch;
  for (let s = 0; s < context.segments.length; s++) {
    context.deadline.check();
    const terms = plan.terms.flatMap((term) => {
      const list = term.lists[s];
      return list === undefined ? [] : [{ list, term }];
    });
    const touched =
      neededTerms > 0
        ? countRequired(terms, neededWords, neededTerms, scratch)
        : countWords(terms, neededWords, scratch);
    const total = keepVisible(context, s, plan.words, scratch, touched);
    const essential = countEssential(terms, leastScore());
    const isPruned = total > 0 && essential < terms.length;
    const chosen = isPruned ? choose(terms, essential, scratch, total) : total;
    const scored = isPruned ? { ...scratch, ids: scratch.chosen, hasAll: scratch.chosenAll } : scratch;
    const { ids, scores, hasAll } = scored;
    if (chosen > 0) scoreCandidates(context, s, terms, scored, chosen);
    accept({ segment: s, matches, total, ids, scores, hasAll, count: chosen });
  }
}

/**
 * How many of the rarest terms a document needs one of to reach a score: the rest together can't. No term gives more
 * than its scale. Always one at least, so that what has all words is among them.
 */
function countEssential(terms: readonly TermList[], leastScore: number): number {
  let rest = 0;
  let essential = terms.length;
  // A hair more than the sum, as sums in another order may differ in their last digit.
  while (essential > 1 && (rest + (terms[essential - 1]?.term.scale ?? 0)) * (1 + 1e-9) < leastScore) {
    rest += terms[--essential]?.term.scale ?? 0;
  }
  return essential;
}

/** Puts the matches that have one of the first terms into `chosen`; gives their number. */
function choose(terms: readonly TermList[], essential: number, scratch: Scratch, total: number): number {
  const { ids: matches, hasAll, seen, chosen, chosenAll } = scratch;
  for (let i = 0; i < total; i++) seen[matches[i] ?? 0] = 1 + (hasAll[i] ?? 0);
  let count = 0;
  for (let t = 0; t < essential; t++) {
    const ids = terms[t]?.list.ids ?? new Uint16Array(0);
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] ?? 0;
      const mark = seen[id] ?? 0;
      if (mark === 0) continue;
      seen[id] = 0;
      chosen[count] = id;
      chosenAll[count++] = mark - 1;
    }
  }
  seen.fill(0);
  return count;
}

type Scored = Pick<Scratch, "ids" | "scores" | "hasAll" | "places">;

interface TermList {
  list: Postings;
  term: ScoredTerm;
}

/** Puts documents with enough words into `ids`, visible or not; leaves the number of words in `seen`. */
function countWords(terms: readonly TermList[], needed: number, { ids: touched, seen }: Scratch): number {
  let count = 0;
  for (const { list } of terms) {
    const { ids } = list;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] ?? 0;
      const words = (seen[id] ?? 0) + 1;
      seen[id] = words;
      if (words === needed) touched[count++] = id;
    }
  }
  return count;
}

/** The same where some terms must all be there, and words may be none. */
function countRequired(terms: readonly TermList[], neededWords: number, neededTerms: number, scratch: Scratch): number {
  const { ids: touched, seen, required } = scratch;
  for (const { list, term } of terms) {
    for (const id of list.ids) {
      if (term.isWord) seen[id] = (seen[id] ?? 0) + 1;
      if (term.isRequired) required[id] = (required[id] ?? 0) + 1;
    }
  }
  let count = 0;
  for (let id = 0; id < SIZE; id++) {
    if (required[id] === neededTerms && (seen[id] ?? 0) >= neededWords) touched[count++] = id;
  }
  required.fill(0);
  return count;
}

/** Keeps what the viewer may see and the filter lets through; `seen` is zero afterwards. */
function keepVisible(context: SearchContext, s: number, allWords: number, scratch: Scratch, touched: number): number {
  const { ids, hasAll, seen } = scratch;
  const bits = context.documents[s] ?? new Uint32Array(0);
  const filter = context.filters[s];
  let count = 0;
  for (let i = 0; i < touched; i++) {
    const id = ids[i] ?? 0;
    ids[count] = id;
    hasAll[count] = seen[id] === allWords ? 1 : 0;
    // Without a branch on the outcome: half of the guesses would be wrong.
    count += ((bits[id >>> 5] ?? 0) >>> (id & 31)) & 1;
  }
  seen.fill(0);
  return filter === undefined ? count : keepPassing(filter, { ids, values: hasAll }, count);
}

/** Adds up scores term by term, rarest first: every document's sum is made in the same order everywhere. */
function scoreCandidates(
  context: SearchContext,
  s: number,
  terms: readonly TermList[],
  scratch: Scored,
  count: number,
): void {
  const lengths = context.segments[s]?.columns.lengths;
  if (lengths === undefined) return;
  const { ids, scores, places, hasAll } = scratch;
  const isSearched = terms.some(({ list }) => list.ids.length > count * SEARCH_RATIO);
  // Searching wants ascending ids; `hasAll` has to move along.
  if (isSearched) sortCandidates(ids, hasAll, count);
  for (let i = 0; i < count; i++) {
    scores[i] = 0;
    places[ids[i] ?? 0] = i + 1;
  }
  for (const { list, term } of terms) {
    if (list.ids.length > count * SEARCH_RATIO) scoreBySearch(context, lengths, list, term.scale, scratch, count);
    else scoreByWalk(context, lengths, list, term.scale, scratch);
  }
  for (let i = 0; i < count; i++) places[ids[i] ?? 0] = 0;
}

function sortCandidates(ids: Uint16Array, hasAll: Uint8Array, count: number): void {
  const packed = new Uint32Array(count);
  for (let i = 0; i < count; i++) packed[i] = (ids[i] ?? 0) * 2 + (hasAll[i] ?? 0);
  packed.sort();
  for (let i = 0; i < count; i++) {
    const entry = packed[i] ?? 0;
    ids[i] = entry >>> 1;
    hasAll[i] = entry & 1;
  }
}

function scoreByWalk(
  context: SearchContext,
  lengths: Uint32Array,
  list: Postings,
  scale: number,
  scratch: Scored,
): void {
  const { base, slope } = context.norm;
  const { scores, places } = scratch;
  const { ids, weights } = list;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0;
    const place = places[id] ?? 0;
    if (place === 0) continue;
    const weight = weights[i] ?? 0;
    scores[place - 1] = (scores[place - 1] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
  }
}

function scoreBySearch(
  context: SearchContext,
  lengths: Uint32Array,
  list: Postings,
  scale: number,
  scratch: Scored,
  count: number,
): void {
  const { base, slope } = context.norm;
  const { ids: candidates, scores } = scratch;
  const { ids, weights } = list;
  let at = 0;
  for (let k = 0; k < count; k++) {
    const id = candidates[k] ?? 0;
    at = firstAtLeast(ids, id, at);
    if (at === ids.length) return;
    if (ids[at] !== id) continue;
    const weight = weights[at] ?? 0;
    scores[k] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
  }
}
