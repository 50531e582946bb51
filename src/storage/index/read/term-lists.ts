import type { Deadline } from "./search-context.ts";
import type { DeltaSegment } from "#storage/index/delta-view.ts";
import { countIn, isAnyIn, type PostingList, uniteLists } from "#storage/index/posting-list.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";
import { numberOf, type Statements } from "#storage/index/sqlite.ts";

/** Posting lists of one term (or of a merged prefix), one per segment. */
export interface TermLists {
  /** The lists include dead and invisible documents. */
  lists: readonly (PostingList | undefined)[];
}

/** Limit of words that a prefix matches. Source: S24. */
export const MAX_EXPANSIONS = 256;

/** Reads posting lists for one search, each only once. */
export class TermReader {
  readonly #sql: Statements;
  readonly #no: number;
  readonly #segments: readonly SegmentView[];
  readonly #documents: readonly Uint32Array[];
  readonly #deadline: Deadline;
  readonly #known = new Map<string, TermLists>();

  constructor(
    at: { sql: Statements; no: number; segments: readonly SegmentView[]; documents: readonly Uint32Array[] },
    deadline: Deadline,
  ) {
    this.#sql = at.sql;
    this.#no = at.no;
    this.#segments = at.segments;
    this.#documents = at.documents;
    this.#deadline = deadline;
  }

  lists(term: string): TermLists {
    let known = this.#known.get(term);
    if (known !== undefined) return known;
    this.#deadline.check();
    const termId = numberOf(this.#sql("SELECT termId FROM index_terms WHERE no = ? AND term = ?"), this.#no, term);
    known = this.#listsOf(term, termId === 0 ? undefined : termId);
    this.#known.set(term, known);
    return known;
  }

  /** Returns the number of visible items that have the term. */
  visibleCount({ lists }: TermLists): number {
    let count = 0;
    for (let s = 0; s < lists.length; s++) {
      const list = lists[s];
      const bits = this.#documents[s];
      if (list !== undefined && bits !== undefined) count += countIn(list, bits);
    }
    return count;
  }

  /** Whether any visible item has the term. */
  isInSight({ lists }: TermLists): boolean {
    return lists.some((list, s) => {
      const bits = this.#documents[s];
      return list !== undefined && bits !== undefined && isAnyIn(list, bits);
    });
  }

  /**
   * Merges the lists of all words that begin with `prefix` and occur in a visible item, in the order of the vocabulary.
   * `isCapped`: there were more than `MAX_EXPANSIONS`. Words that only hidden items have are neither counted nor
   * returned.
   */
  prefix(prefix: string, deltas: readonly DeltaSegment[]): TermLists & { isCapped: boolean } {
    const found: TermLists[] = [];
    let isCapped = false;
    for (const term of this.#termsFrom(prefix, deltas)) {
      const lists = this.lists(term);
      if (!this.isInSight(lists)) continue;
      if (found.length === MAX_EXPANSIONS) {
        isCapped = true;
        break;
      }
      found.push(lists);
    }
    const united = this.#segments.map((_, s) => uniteLists(found.flatMap(({ lists }) => lists[s] ?? [])));
    return { lists: united, isCapped };
  }

  #listsOf(term: string, termId: number | undefined): TermLists {
    return { lists: this.#segments.map((segment) => segment.postings(term, termId)) };
  }

  /**
   * Returns words and exact forms with this prefix, from the vocabulary on disk and the delta, ascending, each once.
   */
  #termsFrom(prefix: string, deltas: readonly DeltaSegment[]): string[] {
    const terms = new Set<string>();
    for (const start of [prefix, `=${prefix}`]) {
      const rows = this.#sql(
        "SELECT term FROM index_terms WHERE no = ? AND term >= ? AND term < ? ORDER BY term",
      ).iterate(
        this.#no,
        start,
        // No output of the tokenizer sorts above this character.
        `${start}\u{10ffff}`,
      );
      for (const { term } of rows) terms.add(String(term));
      for (const delta of deltas) for (const term of delta.termsFrom(start)) terms.add(term);
    }
    return [...terms].sort();
  }
}
