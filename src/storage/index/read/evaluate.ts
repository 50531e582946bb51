import { listBits, MAX_WORDS } from "#storage/index/bits.ts";
import type { PostingList } from "#storage/index/posting-list.ts";
import { NOTHING } from "./filters.ts";
import type { Feedback, Plan, ScoredTerm } from "./plan.ts";
import { addScores, type Scoring } from "./scoring.ts";
import type { Scratch } from "./scratch.ts";
import type { Filter, SearchContext } from "./search-context.ts";
import { listOnesIn, selectAll, selectSome } from "./selection.ts";

/** The matches of a segment. Those that can't be among the best are in `matches` but have no score. */
export interface Matches {
  segment: number;
  total: number;
  /** The number of matches that have all words. */
  totalAll: number;
  /** Returns all matches as the first `total` entries, valid until the next segment is evaluated. */
  matches(): Uint16Array;
  /**
   * Matches that can be among the best: the first `count` entries of `ids`, with their values at the same positions of
   * the other arrays.
   */
  ids: Uint16Array;
  scores: Float64Array;
  /** 1 = the match has all words. */
  hasAll: Uint8Array;
  count: number;
}

export type Accept = (matches: Matches) => void;

/** Determines which matches need a score. */
export interface Wanted {
  /** False when results are ordered by date, which needs no scores. All scores are then 0. */
  isScored: boolean;
  /** Returns the score that a match with all words, or with only some of them, needs to be among the best so far. */
  leastScore(hasAll: boolean): number;
}

/** If there are fewer candidates than this, all of them are scored in full, because pruning would take as long. */
const FEW = 64;
/** Tolerance for sums in another order, which can differ in their last digit. */
const A_HAIR_MORE = 1 + 1e-9;

/** Matches every visible document that passes the filters, with score 0. */
export function evaluateEverything(context: SearchContext, scratch: Scratch, accept: Accept): void {
  const { ids, scores, hasAll } = scratch;
  scores.fill(0);
  hasAll.fill(1);
  for (let s = 0; s < context.segments.length; s++) {
    context.deadline.check();
    const bits = context.documents[s];
    const filter = context.filters[s];
    if (bits === undefined || filter === NOTHING) continue;
    const found = listBits(bits, bits.length, ids);
    const count = filter === undefined ? found : keepPassing(filter, ids, found);
    accept({ segment: s, matches: () => ids, total: count, totalAll: count, ids, scores, hasAll, count });
  }
}

/** Matches documents that have every term. Counts them before scoring. */
export function evaluateAll(
  context: SearchContext,
  plan: Plan,
  scratch: Scratch,
  accept: Accept,
  wanted: Wanted,
): void {
  if (plan.isHopeless) return;
  const { ids, scores, hasAll, matches } = scratch;
  for (let s = 0; s < context.segments.length; s++) {
    context.deadline.check();
    const visible = context.documents[s];
    const terms = termsIn(plan, s);
    const filter = context.filters[s];
    if (visible === undefined || terms.length < plan.terms.length || terms.length === 0) continue;
    const found = selectAll(
      terms.map(({ list }) => list),
      visible,
      matches,
      scratch.bits,
    );
    const total = filter === undefined ? found : keepPassing(filter, matches, found);
    ids.set(matches.subarray(0, total));
    const scoring = beginScores(context, s, scratch, total);
    const count = wanted.isScored ? addAll(terms, scoring, total, { least: wanted.leastScore(true) }) : total;
    hasAll.fill(1, 0, count);
    accept({ segment: s, matches: () => matches, total, totalAll: total, ids, scores, hasAll, count });
  }
}

function keepPassing(filter: Filter, ids: Uint16Array, found: number): number {
  let count = 0;
  for (let k = 0; k < found; k++) {
    const id = ids[k] ?? 0;
    if (filter(id)) ids[count++] = id;
  }
  return count;
}

/**
 * Matches documents that have all phrases and at least `enough` of the words. Selects and counts them exactly before
 * scoring, then scores only those that can reach `leastScore` or have all words.
 */
export function evaluateAny(
  context: SearchContext,
  plan: Plan,
  scratch: Scratch,
  accept: Accept,
  enough: 1 | 2,
  wanted: Wanted,
): void {
  if (plan.isPhraseHopeless) return;
  const missing = enough - plan.phrases;
  const needed = missing === 2 ? 2 : missing === 1 ? 1 : 0;
  const required = countRequired(plan.terms);
  const { ids, scores, hasAll, bits } = scratch;
  const { twice: selected } = bits;
  for (let s = 0; s < context.segments.length; s++) {
    context.deadline.check();
    const visible = context.documents[s];
    const terms = termsIn(plan, s);
    if (visible === undefined || countRequired(terms.map(({ term }) => term)) < required) continue;
    const asked = terms.map(({ list, term: { isWord, isRequired } }) => ({ list, isWord, isRequired }));
    const total = selectSome(asked, needed, visible, context.filters[s], bits);
    const matches = () => {
      listBits(selected, MAX_WORDS, scratch.matches);
      return scratch.matches;
    };
    const count = total === 0 ? 0 : score(context, s, plan, terms, scratch, wanted.leastScore(false));
    let totalAll = 0;
    for (let k = 0; k < count; k++) totalAll += hasAll[k] ?? 0;
    accept({ segment: s, matches, total, totalAll, ids, scores, hasAll, count });
    selected.fill(0);
  }
}

interface TermList {
  list: PostingList;
  term: ScoredTerm;
}

function termsIn(plan: Plan, s: number): TermList[] {
  return plan.terms.flatMap((term) => {
    const list = term.lists[s];
    return list === undefined ? [] : [{ list, term }];
  });
}

function countRequired(terms: readonly ScoredTerm[]): number {
  return terms.filter(({ isRequired }) => isRequired).length;
}

/**
 * Scores the selected documents of a segment that can reach `least` or have all words, and returns their number. Every
 * document's sum is computed in the same order everywhere: term by term, the rarest first.
 */
function score(
  context: SearchContext,
  s: number,
  plan: Plan,
  terms: readonly TermList[],
  scratch: Scratch,
  least: number,
): number {
  const { ids, hasAll, found, bits } = scratch;
  const { feedback } = plan;
  const rests = restsOf(terms, feedback?.most);
  const essential = countEssential(rests, least);
  let count =
    essential === terms.length
      ? listBits(bits.twice, MAX_WORDS, ids)
      : listOnesIn(
          bits.twice,
          terms.slice(0, essential).map(({ list }) => list),
          ids,
          bits,
        );
  const scoring = beginScores(context, s, scratch, count);
  // False if a word doesn't occur in the segment: then none of its documents has all words.
  const mayHaveAll = terms.length === plan.terms.length && !plan.isHopeless;
  count = addAll(terms, scoring, count, { least, rests, isAllKept: mayHaveAll });
  if (feedback) count = keepHopeful(scoring, count, least, feedback.most, mayHaveAll ? terms.length : Infinity);
  for (let k = 0; k < count; k++) hasAll[k] = mayHaveAll && found[k] === terms.length ? 1 : 0;
  if (feedback) addFeedback(feedback, s, scoring, count);
  return count;
}

/**
 * Adds the scores of feedback, after those of the query's own terms. The first hit gets the maximum, the others get the
 * score of their words.
 */
function addFeedback({ terms, most, first }: Feedback, s: number, scoring: Scoring, count: number): void {
  const { ids, scores } = scoring;
  const at = first.segment === s ? ids.subarray(0, count).indexOf(first.id) : -1;
  const own = scores[at] ?? 0;
  for (const { lists, scale } of terms) {
    const list = lists[s];
    if (list !== undefined) addScores(list, scale, scoring, count);
  }
  if (at >= 0) scores[at] = own + most;
}

/**
 * Adds each term's score to the candidates and drops those that can no longer reach `least`. With `isAllKept`,
 * candidates that have had every term so far stay. Returns how many are left.
 */
function addAll(
  terms: readonly TermList[],
  scoring: Scoring,
  candidates: number,
  options: { least: number; rests?: readonly number[]; isAllKept?: boolean },
): number {
  const { least, rests = restsOf(terms), isAllKept = false } = options;
  let count = candidates;
  for (const [t, { list, term }] of terms.entries()) {
    addScores(list, term.scale, scoring, count);
    const isPruned = least > 0 && count > FEW && t + 1 < terms.length;
    if (isPruned) count = keepHopeful(scoring, count, least, rests[t + 1] ?? 0, isAllKept ? t + 1 : Infinity);
  }
  return count;
}

/**
 * Returns how many of the rarest terms are essential: a document needs at least one of them to reach a score, because
 * the other terms together can't reach it. A term adds at most its scale. The result is at least 1, so that documents
 * with all words are included.
 */
function countEssential(rests: readonly number[], least: number): number {
  let essential = rests.length;
  while (essential > 1 && (rests[essential - 1] ?? 0) * A_HAIR_MORE < least) essential--;
  return essential;
}

/**
 * Returns, for each position, the most that the terms from that position to the end can add to a score, plus `after`.
 */
function restsOf(terms: readonly TermList[], after = 0): number[] {
  const rests: number[] = [];
  let rest = after;
  for (let t = terms.length - 1; t >= 0; t--) rests[t] = rest += terms[t]?.term.scale ?? 0;
  return rests;
}

/** Drops candidates that can no longer reach a score, without those that have had every term so far. */
function keepHopeful(scoring: Scoring, count: number, least: number, rest: number, all: number): number {
  const { ids, scores, found } = scoring;
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const sum = scores[k] ?? 0;
    const terms = found[k] ?? 0;
    if ((sum + rest) * A_HAIR_MORE < least && terms !== all) continue;
    ids[kept] = ids[k] ?? 0;
    scores[kept] = sum;
    found[kept++] = terms;
  }
  return kept;
}

function beginScores({ norm, segments }: SearchContext, s: number, scratch: Scratch, count: number): Scoring {
  const { ids, scores, found } = scratch;
  scores.fill(0, 0, count);
  found.fill(0, 0, count);
  return { norm, lengths: segments[s]?.columns.lengths ?? new Uint32Array(0), ids, scores, found };
}
