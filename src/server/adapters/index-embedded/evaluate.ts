import type { Deadline } from "./deadline.ts";
import type { Filter } from "./filters.ts";
import type { Plan, ScoredTerm } from "./plan.ts";
import type { Postings } from "./postings.ts";
import type { Norm } from "./score.ts";
import type { SegmentView } from "./segment-view.ts";

/** What an evaluation works on: the segments with their filters, seen by one viewer. */
export interface Scene {
  segments: readonly SegmentView[];
  filters: readonly (Filter | undefined)[];
  accesses: Uint32Array;
  norm: Norm;
  deadline: Deadline;
}

export type Accept = (segment: number, id: number, hasAll: boolean, score: number) => void;

const SIZE = 65_536;

/** A longer list is searched, not walked, when it has this many entries for each candidate. */
const SEARCH_RATIO = 12;

/**
 * Scratch arrays of an evaluation, made once per reader: 1.2 MB. Everything in them is left as it was found: zeros in
 * `seen` and `required`.
 */
export interface Scratch {
  ids: Uint16Array;
  scores: Float64Array;
  seen: Uint8Array;
  required: Uint8Array;
}

export function makeScratch(): Scratch {
  return {
    ids: new Uint16Array(SIZE),
    scores: new Float64Array(SIZE),
    seen: new Uint8Array(SIZE),
    required: new Uint8Array(SIZE),
  };
}

/** After an evaluation that was given up. */
export function clearScratch(scratch: Scratch): void {
  scratch.seen.fill(0);
  scratch.required.fill(0);
}

/** Every visible document that passes the filters; score 0. */
export function evaluateEverything(scene: Scene, accept: Accept): void {
  const { accesses } = scene;
  for (let s = 0; s < scene.segments.length; s++) {
    scene.deadline.check();
    const columns = scene.segments[s]?.columns;
    const filter = scene.filters[s];
    if (columns === undefined) continue;
    const { acl, docs } = columns;
    for (let id = 0; id < docs; id++) {
      const a = acl[id] ?? 0;
      if (((accesses[a >>> 5] ?? 0) & (1 << (a & 31))) === 0) continue;
      if (filter === undefined || filter(id)) accept(s, id, true, 0);
    }
  }
}

/** Documents that have every term. Per segment: the visible ones of the rarest list, then list by list. */
export function evaluateAll(scene: Scene, plan: Plan, scratch: Scratch, accept: Accept): void {
  if (plan.isHopeless) return;
  for (let s = 0; s < scene.segments.length; s++) {
    scene.deadline.check();
    const count = intersect(scene, plan.terms, s, scratch);
    const filter = scene.filters[s];
    for (let i = 0; i < count; i++) {
      const id = scratch.ids[i] ?? 0;
      if (filter === undefined || filter(id)) accept(s, id, true, scratch.scores[i] ?? 0);
    }
  }
}

function intersect(scene: Scene, terms: readonly ScoredTerm[], s: number, scratch: Scratch): number {
  const segment = scene.segments[s];
  const [first, ...others] = terms;
  const rarest = first?.lists[s];
  if (segment === undefined || first === undefined || rarest === undefined) return 0;
  if (others.some((term) => term.lists[s] === undefined)) return 0;
  let count = startWith(scene, segment, rarest, first.scale, scratch);
  for (const { lists, scale } of others) {
    const list = lists[s];
    if (count === 0 || list === undefined) return 0;
    const narrow = list.ids.length > count * SEARCH_RATIO ? narrowBySearch : narrowByWalk;
    count = narrow(scene, segment, list, scale, scratch, count);
  }
  return count;
}

function startWith(scene: Scene, segment: SegmentView, list: Postings, scale: number, scratch: Scratch): number {
  const { accesses } = scene;
  const { base, slope } = scene.norm;
  const { acl, lengths } = segment.columns;
  const { ids, weights } = list;
  const { ids: found, scores } = scratch;
  let count = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0;
    const a = acl[id] ?? 0;
    if (((accesses[a >>> 5] ?? 0) & (1 << (a & 31))) === 0) continue;
    const weight = weights[i] ?? 0;
    found[count] = id;
    scores[count++] = (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
  }
  return count;
}

function narrowByWalk(
  scene: Scene,
  segment: SegmentView,
  list: Postings,
  scale: number,
  scratch: Scratch,
  count: number,
): number {
  const { base, slope } = scene.norm;
  const { lengths } = segment.columns;
  const { ids, weights } = list;
  const { ids: found, scores } = scratch;
  let kept = 0;
  let i = 0;
  for (let k = 0; k < count; k++) {
    const id = found[k] ?? 0;
    while (i < ids.length && (ids[i] ?? 0) < id) i++;
    if (i === ids.length) break;
    if (ids[i] !== id) continue;
    const weight = weights[i] ?? 0;
    found[kept] = id;
    scores[kept++] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
  }
  return kept;
}

function narrowBySearch(
  scene: Scene,
  segment: SegmentView,
  list: Postings,
  scale: number,
  scratch: Scratch,
  count: number,
): number {
  const { base, slope } = scene.norm;
  const { lengths } = segment.columns;
  const { ids, weights } = list;
  const { ids: found, scores } = scratch;
  let kept = 0;
  let from = 0;
  for (let k = 0; k < count; k++) {
    const id = found[k] ?? 0;
    from = firstAtLeast(ids, id, from);
    if (from === ids.length) break;
    if (ids[from] !== id) continue;
    const weight = weights[from] ?? 0;
    found[kept] = id;
    scores[kept++] = (scores[k] ?? 0) + (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
  }
  return kept;
}

function firstAtLeast(ids: Uint16Array, id: number, from: number): number {
  let low = from;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Documents that have all phrases and at least half of what was asked for (and two of it). Term at a time into
 * accumulators; a filter is asked once per document.
 */
export function evaluateAny(scene: Scene, plan: Plan, scratch: Scratch, accept: Accept): void {
  if (plan.isPhraseHopeless) return;
  const wanted = plan.words + plan.phrases;
  const neededWords = Math.max(2, Math.ceil(wanted / 2)) - plan.phrases;
  const neededTerms = plan.terms.filter((term) => term.isRequired).length;
  const { ids: touched, scores, seen, required } = scratch;
  for (let s = 0; s < scene.segments.length; s++) {
    const segment = scene.segments[s];
    const filter = scene.filters[s];
    if (segment === undefined) continue;
    let count = 0;
    for (const term of plan.terms) {
      scene.deadline.check();
      const list = term.lists[s];
      if (list !== undefined) count = accumulate(scene, segment, list, term, scratch, count);
    }
    for (let i = 0; i < count; i++) {
      const id = touched[i] ?? 0;
      // The first touch leaves 64, each word adds 1: a document touched by a phrase only is not taken for untouched.
      const words = (seen[id] ?? 0) & 63;
      const isEnough = words >= neededWords && required[id] === neededTerms;
      seen[id] = 0;
      required[id] = 0;
      if (isEnough && (filter === undefined || filter(id))) accept(s, id, words === plan.words, scores[id] ?? 0);
    }
  }
}

function accumulate(
  scene: Scene,
  segment: SegmentView,
  list: Postings,
  term: ScoredTerm,
  scratch: Scratch,
  before: number,
): number {
  const { accesses } = scene;
  const { base, slope } = scene.norm;
  const { acl, lengths } = segment.columns;
  const { ids, weights } = list;
  const { ids: touched, scores, seen, required } = scratch;
  const { scale, isRequired } = term;
  const word = term.isWord ? 1 : 0;
  let count = before;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0;
    const a = acl[id] ?? 0;
    if (((accesses[a >>> 5] ?? 0) & (1 << (a & 31))) === 0) continue;
    const weight = weights[i] ?? 0;
    const score = (scale * weight) / (weight + base + slope * (lengths[id] ?? 0));
    const known = seen[id] ?? 0;
    if (known === 0) {
      touched[count++] = id;
      scores[id] = score;
      seen[id] = 64 + word;
    } else {
      scores[id] = (scores[id] ?? 0) + score;
      seen[id] = known + word;
    }
    if (isRequired) required[id] = (required[id] ?? 0) + 1;
  }
  return count;
}
