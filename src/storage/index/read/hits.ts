import { MAX_INSTANT } from "#core/instant.ts";
import type { HitPosition, SearchHit, SearchOrder } from "#storage/search-index.ts";
import { compareKbIds, kbIdAt } from "#storage/index/kb-ids.ts";
import type { Matches } from "./evaluate.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";

/** A matching document: segment index and local id, whether it matches everything in the query, and its score. */
export interface Match {
  segment: number;
  id: number;
  hasAll: boolean;
  score: number;
}

/** Sort values of documents without a date: the ends of the range of instants. */
const LONG_AGO = -MAX_INSTANT;
const NEVER = MAX_INSTANT;

interface Entry extends Match {
  value: number;
}

/** Counts matches and keeps the best `limit` matches after a position, in order. */
export class HitCollector {
  total = 0;
  totalAll = 0;
  readonly #segments: readonly SegmentView[];
  readonly #order: SearchOrder;
  readonly #isAllFirst: boolean;
  readonly #limit: number;
  readonly #after: HitPosition | undefined;
  readonly #best: Entry[] = [];
  #remaining = 0;
  /** 1 when greater values come first, else -1. */
  readonly #sign: 1 | -1;
  /**
   * The value times sign of the last of the best matches, once there are enough: a match with a lower value ranks
   * behind it. Applies only to matches with all words when `#isBarForAll` is true.
   */
  #bar = -Infinity;
  #isBarForAll = false;

  constructor(
    segments: readonly SegmentView[],
    options: {
      order: SearchOrder;
      /** True when matches of everything in the query rank before partial matches. */
      isAllFirst: boolean;
      limit: number;
      after?: HitPosition | undefined;
    },
  ) {
    this.#segments = segments;
    this.#order = options.order;
    this.#isAllFirst = options.isAllFirst;
    this.#limit = options.limit;
    this.#after = options.after;
    this.#sign = options.order === "due" ? -1 : 1;
  }

  get hasMore(): boolean {
    return this.#remaining > this.#limit;
  }

  /** Adds the matches of a segment from an evaluation. */
  acceptAll({ segment, total, totalAll, ids, scores, hasAll, count }: Matches): void {
    this.total += total;
    this.totalAll += totalAll;
    // Dropped matches rank behind the last of the best ones, so they are also behind the position after which the page
    // continues.
    this.#remaining += total - count;
    const dates = this.#order === "relevance" ? undefined : this.#datesOf(segment);
    for (let i = 0; i < count; i++) {
      const id = ids[i] ?? 0;
      const score = scores[i] ?? 0;
      const value = dates === undefined ? score : this.#dateOr(dates[id]);
      const all = hasAll[i] === 1;
      if (value * this.#sign < this.#bar && (!all || this.#isBarForAll)) this.#remaining++;
      else this.#offer(segment, id, all, score, value);
    }
  }

  accept(segment: number, id: number, hasAll: boolean, score: number): void {
    this.total++;
    if (hasAll) this.totalAll++;
    this.#offer(segment, id, hasAll, score, this.#valueOf({ segment, id, score }));
  }

  #offer(segment: number, id: number, hasAll: boolean, score: number, value: number): void {
    if (this.#after !== undefined && !this.#isAfter(this.#after, segment, id, hasAll, value)) return;
    this.#remaining++;
    const last = this.#best[this.#limit - 1];
    if (last === undefined ? this.#limit > 0 : this.#compare(segment, id, hasAll, value, last) < 0) {
      this.#insert({ segment, id, hasAll, score, value });
    }
  }

  /** The matches of `hits`, in the same order. */
  get best(): readonly Match[] {
    return this.#best;
  }

  /** Returns the score that a match with all words, or with only some of them, needs to be among the best. */
  leastScore(hasAll: boolean): number {
    const last = this.#best[this.#limit - 1];
    if (this.#order !== "relevance" || last === undefined) return -Infinity;
    const group = this.#groupOf(last.hasAll);
    const own = this.#groupOf(hasAll);
    return own === group ? last.score : own > group ? -Infinity : Infinity;
  }

  /** Computes the scores of the best matches after they were ordered by date. */
  scoreBest(scoreOf: (match: Match) => number): void {
    for (const entry of this.#best) entry.score = scoreOf(entry);
  }

  hits(): SearchHit[] {
    return this.#best.map(({ segment, id, hasAll, score, value }) => {
      const view = this.#segments[segment];
      const kbId = view === undefined ? "" : kbIdAt(view.columns, id);
      return { kbId, score, position: { group: this.#groupOf(hasAll), value, kbId } };
    });
  }

  /** Sorts matches best first, for texts that must be checked in the order of display. */
  sort(matches: Match[]): void {
    const entries = matches.map((match) => ({ ...match, value: this.#valueOf(match) }));
    entries.sort((a, b) => this.#compare(a.segment, a.id, a.hasAll, a.value, b));
    for (const [at, entry] of entries.entries()) matches[at] = entry;
  }

  #groupOf(hasAll: boolean): 0 | 1 {
    return hasAll && this.#isAllFirst ? 1 : 0;
  }

  #valueOf({ segment, id, score }: Omit<Match, "hasAll">): number {
    return this.#order === "relevance" ? score : this.#dateOr(this.#datesOf(segment)?.[id]);
  }

  #datesOf(segment: number): Float64Array | undefined {
    const columns = this.#segments[segment]?.columns;
    return this.#order === "due" ? columns?.dueAt : columns?.updatedAt;
  }

  #dateOr(date = Number.NaN): number {
    if (!Number.isNaN(date)) return date;
    return this.#order === "due" ? NEVER : LONG_AGO;
  }

  #insert(entry: Entry): void {
    const best = this.#best;
    if (best.length === this.#limit) best.pop();
    let low = 0;
    let high = best.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = best[middle];
      if (other !== undefined && this.#compare(entry.segment, entry.id, entry.hasAll, entry.value, other) > 0) {
        low = middle + 1;
      } else high = middle;
    }
    best.splice(low, 0, entry);
    const last = best[this.#limit - 1];
    if (last === undefined) return;
    this.#bar = last.value * this.#sign;
    this.#isBarForAll = last.hasAll || !this.#isAllFirst;
  }

  /**
   * Returns a negative number when the first match ranks before the second. Compares groups, then values, then kbIds.
   */
  #compare(segment: number, id: number, hasAll: boolean, value: number, other: Entry): number {
    if (hasAll !== other.hasAll && this.#isAllFirst) return hasAll ? -1 : 1;
    if (value !== other.value) return this.#direction(value, other.value);
    const mine = this.#segments[segment]?.columns;
    const theirs = this.#segments[other.segment]?.columns;
    return mine === undefined || theirs === undefined ? 0 : compareKbIds(mine, id, theirs, other.id);
  }

  #isAfter(after: HitPosition, segment: number, id: number, hasAll: boolean, value: number): boolean {
    const group = this.#groupOf(hasAll);
    if (group !== after.group) return group < after.group;
    if (value !== after.value) return this.#direction(value, after.value) > 0;
    const view = this.#segments[segment];
    return view !== undefined && kbIdAt(view.columns, id) > after.kbId;
  }

  #direction(a: number, b: number): number {
    return a > b ? -this.#sign : this.#sign;
  }
}
