/** BM25 constants. k1 above the usual 1.2, as weights count a title four times. Source: docs/decisions/0009. */
const K1 = 1.6;
const B = 0.75;

/** Up to this many visible postings a term is weighted by its visible df. Source: S8. */
export const VISIBLE_DF_LIMIT = 4_096;

/**
 * The score of a document is the sum over its terms of `idf·w·(k1+1) / (w + k1·(1−b+b·dl/avgdl))`, written here as
 * `scale·w / (w + base + slope·dl)`. N and avgdl are those of the viewer's visible items.
 */
export interface Norm {
  base: number;
  slope: number;
}

export function makeNorm(visible: { items: number; length: number }): Norm {
  const average = visible.items === 0 || visible.length === 0 ? 1 : visible.length / visible.items;
  return { base: K1 * (1 - B), slope: (K1 * B) / average };
}

/**
 * `idf·(k1+1)` with idf = ln(1 + (N−df+½)/(df+½)).
 *
 * @param visibleDf visible items with the term, counted at least up to one above `VISIBLE_DF_LIMIT`
 * @param workspaceDf asked only beyond the limit: items of the workspace that have the term and are readable by anybody
 *
 * Beyond the limit df is the workspace's, rounded up to a power of two, and at most N: more than the viewer's items
 * would turn the weight negative.
 */
export function termScale(items: number, visibleDf: number, workspaceDf: () => number): number {
  const df = visibleDf <= VISIBLE_DF_LIMIT ? visibleDf : Math.min(items, powerOfTwoFrom(workspaceDf()));
  return Math.log(1 + (items - df + 0.5) / (df + 0.5)) * (K1 + 1);
}

/** The smallest power of two that is at least `value`. */
export function powerOfTwoFrom(value: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, value)));
}
