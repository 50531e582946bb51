import type { SegmentView } from "#storage/index/segment-view.ts";
import type { Ranking } from "#text/factors.ts";
import { ApiError } from "#api/errors.ts";

/** Checks whether document `id` of a segment passes every filter. */
export type Filter = (id: number) => boolean;

/** The input of an evaluation: the segments with their filters, for one viewer. */
export interface SearchContext {
  segments: readonly SegmentView[];
  filters: readonly (Filter | undefined)[];
  /** The documents that the viewer can see: one bit per document of each segment. */
  documents: readonly Uint32Array[];
  norm: Norm;
  deadline: Deadline;
}

/** Throws `search_timeout` when the time is up. Source: S24. */
export type Deadline = ReturnType<typeof makeDeadline>;

export function makeDeadline(now: () => number, ms: number) {
  const end = now() + ms;
  return {
    /** True after half of the time. Optional work is then skipped. */
    isHalfOver: (): boolean => now() > end - ms / 2,
    check(): void {
      if (now() <= end) return;
      throw new ApiError("search_timeout", {
        message: `The search took longer than ${ms} ms and was stopped. Use fewer or rarer words, or a filter.`,
        retryAfterMs: 1_000,
      });
    },
  };
}

/**
 * Constants of the score. A document's score is the sum over its terms of `idf·w·(k1+1) / (w + k1·(1−b+b·dl/avgdl))`,
 * written here as `scale·w / (w + base + slope·dl)`. N and avgdl are those of the items that the viewer can see.
 */
export interface Norm {
  base: number;
  slope: number;
}

/**
 * Makes the constants.
 *
 * @param averageLength of the items that the viewer can see, above 0
 */
export function makeNorm(
  averageLength: number,
  { frequency: k1, length: b }: Pick<Ranking, "frequency" | "length">,
): Norm {
  return { base: k1 * (1 - b), slope: (k1 * b) / averageLength };
}

/** Returns the average length of visible items; 1 when there are none. */
export function averageOf(visible: { items: number; length: number }): number {
  return visible.items === 0 || visible.length === 0 ? 1 : visible.length / visible.items;
}

/**
 * Returns `idf·(k1+1)` with idf = ln(1 + (N−df+½)/(df+½)).
 *
 * @param items how many items the viewer can see
 * @param df how many of them have the term; counting hidden items would reveal how many there are
 */
export function termScale(
  items: number,
  df: number,
  { frequency: k1, rarity }: Pick<Ranking, "frequency" | "rarity">,
): number {
  return Math.log(1 + (items - df + 0.5) / (df + 0.5)) ** rarity * (k1 + 1);
}
