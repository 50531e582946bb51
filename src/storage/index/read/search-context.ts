import type { SegmentView } from "#storage/index/segment-view.ts";
import type { Ranking } from "#text/factors.ts";
import { ApiError } from "#api/errors.ts";

/** Does document `id` of a segment pass every filter? */
export type Filter = (id: number) => boolean;

/** What an evaluation works on: the segments with their filters, seen by one viewer. */
export interface SearchContext {
  segments: readonly SegmentView[];
  filters: readonly (Filter | undefined)[];
  /** What the viewer may see: a bit per document of each segment. */
  documents: readonly Uint32Array[];
  norm: Norm;
  deadline: Deadline;
}

/** Throws `search_timeout` when its time is over. Source: S24. */
export interface Deadline {
  check(): void;
  /** True once half of the time is used: what can be left out is left out. */
  isHalfOver(): boolean;
}

export function makeDeadline(now: () => number, ms: number): Deadline {
  const end = now() + ms;
  return {
    isHalfOver: () => now() > end - ms / 2,
    check() {
      if (now() <= end) return;
      throw new ApiError("search_timeout", {
        message: `The search took longer than ${ms} ms and was stopped. Use fewer or rarer words, or a filter.`,
        retryAfterMs: 1_000,
      });
    },
  };
}

/**
 * The score of a document is the sum over its terms of `idf·w·(k1+1) / (w + k1·(1−b+b·dl/avgdl))`, written here as
 * `scale·w / (w + base + slope·dl)`. N and avgdl are those of the viewer's visible items.
 */
export interface Norm {
  base: number;
  slope: number;
}

/** @param averageLength of the viewer's visible items, above 0 */
export function makeNorm(
  averageLength: number,
  { frequency: k1, length: b }: Pick<Ranking, "frequency" | "length">,
): Norm {
  return { base: k1 * (1 - b), slope: (k1 * b) / averageLength };
}

/** The average length of visible items; 1 when there is nothing to be averaged. */
export function averageOf(visible: { items: number; length: number }): number {
  return visible.items === 0 || visible.length === 0 ? 1 : visible.length / visible.items;
}

/**
 * `idf·(k1+1)` with idf = ln(1 + (N−df+½)/(df+½)).
 *
 * @param items the viewer's visible items
 * @param df those of them that have the term: a number in which hidden items count would tell how many there are
 */
export function termScale(
  items: number,
  df: number,
  { frequency: k1, rarity }: Pick<Ranking, "frequency" | "rarity">,
): number {
  return Math.log(1 + (items - df + 0.5) / (df + 0.5)) ** rarity * (k1 + 1);
}
