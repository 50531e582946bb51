import type { Deadline } from "./deadline.ts";
import type { DeltaSegment } from "./delta-view.ts";
import { type Postings, unitePostings } from "./postings.ts";
import { powerOfTwoFrom } from "./score.ts";
import type { SegmentView } from "./segment-view.ts";
import type { Statements } from "./sqlite.ts";

/** Posting lists of one term (or of a united prefix), one per segment. */
export interface TermLists {
  lists: readonly (Postings | undefined)[];
  /** Postings in all, dead and invisible ones included. */
  total: number;
}

/** Most words that a prefix stands for. Source: S24. */
export const MAX_EXPANSIONS = 256;

/** Postings counted between two looks at the limit. */
const COUNT_STEP = 1_024;

/** Reads posting lists for one search, each once. */
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
    const row: unknown = this.#sql("SELECT termId FROM index_terms WHERE no = ? AND term = ?").get(this.#no, term);
    // The column's declared type.
    known = this.#listsOf(term, (row as { termId: number } | undefined)?.termId);
    this.#known.set(term, known);
    return known;
  }

  /** Visible items that have the term; counting stops above `limit`, and then gives one more than it. */
  visibleCount({ lists }: TermLists, limit = Infinity): number {
    let count = 0;
    for (let s = 0; s < lists.length; s++) {
      const ids = lists[s]?.ids;
      const bits = this.#documents[s];
      if (ids === undefined || bits === undefined) continue;
      for (let from = 0; from < ids.length; from += COUNT_STEP) {
        count += countVisible(ids, from, Math.min(ids.length, from + COUNT_STEP), bits);
        if (count > limit) return limit + 1;
      }
    }
    return count;
  }

  /** Items of the workspace that have the term and are readable by anybody, or a number that rounds up alike. */
  workspaceCount({ lists, total }: TermLists): number {
    let most = 0;
    for (let s = 0; s < lists.length; s++) {
      most += Math.min(lists[s]?.ids.length ?? 0, this.#segments[s]?.unreadable ?? 0);
    }
    if (powerOfTwoFrom(total - most) === powerOfTwoFrom(total)) return total;
    let count = 0;
    for (let s = 0; s < lists.length; s++) {
      const ids = lists[s]?.ids ?? [];
      const acl = this.#segments[s]?.columns.acl;
      for (let i = 0; i < ids.length; i++) if (acl !== undefined && acl[ids[i] ?? 0] !== 0) count++;
    }
    return count;
  }

  /**
   * One list of all words that begin with `prefix` and occur in something visible, in the order of the vocabulary.
   * `isCapped`: there were more than `MAX_EXPANSIONS`. Hidden words neither count nor show.
   */
  prefix(prefix: string, deltas: readonly DeltaSegment[]): TermLists & { isCapped: boolean } {
    const found: TermLists[] = [];
    let isCapped = false;
    for (const term of this.#termsFrom(prefix, deltas)) {
      const lists = this.lists(term);
      if (this.visibleCount(lists, 0) === 0) continue;
      if (found.length === MAX_EXPANSIONS) {
        isCapped = true;
        break;
      }
      found.push(lists);
    }
    const united = this.#segments.map((_, s) => unitePostings(found.flatMap(({ lists }) => lists[s] ?? [])));
    return { lists: united, total: united.reduce((sum, { ids }) => sum + ids.length, 0), isCapped };
  }

  #listsOf(term: string, termId: number | undefined): TermLists {
    let total = 0;
    const lists = this.#segments.map((segment) => {
      const list = segment.postings(term, termId);
      total += list?.ids.length ?? 0;
      return list;
    });
    return { lists, total };
  }

  /** Words and exact forms with this beginning, from the vocabulary on disk and the delta, ascending, each once. */
  #termsFrom(prefix: string, deltas: readonly DeltaSegment[]): string[] {
    const terms = new Set<string>();
    for (const start of [prefix, `=${prefix}`]) {
      const rows = this.#sql(
        "SELECT term FROM index_terms WHERE no = ? AND term >= ? AND term < ? ORDER BY term",
      ).iterate(
        this.#no,
        start,
        // Nothing that a tokenizer makes sorts above this character.
        `${start}\u{10ffff}`,
      );
      for (const { term } of rows) terms.add(String(term));
      for (const delta of deltas) for (const term of delta.termsFrom(start)) terms.add(term);
    }
    return [...terms].sort();
  }
}

function countVisible(ids: Uint16Array, from: number, to: number, bits: Uint32Array): number {
  let count = 0;
  for (let i = from; i < to; i++) {
    const id = ids[i] ?? 0;
    count += ((bits[id >>> 5] ?? 0) >>> (id & 31)) & 1;
  }
  return count;
}
