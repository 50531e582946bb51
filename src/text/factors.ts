/** The factors of the ranking. The index and searches use this one table. */

/** A factor that ranks an item higher. `off` is the weight at which it has no effect. */
export interface Factor {
  weight: number;
  off: number;
  /** The effect of the factor, in one sentence for people. */
  does: string;
}

/** The factors that make up a score come first, in the order in which `explain` adds them. Source: docs/decisions/0035. */
export const FACTORS = {
  // k1 is above the usual 1.2, because weights count a word in the title four times.
  frequency: {
    weight: 2.5,
    off: 0,
    does: "A word that an item uses often counts more, up to k1 + 1 times (BM25's k1).",
  },
  title: { weight: 4, off: 1, does: "How many times a word in the title or the file name counts." },
  place: { weight: 2, off: 1, does: "How many times a word in the path, the labels or a similar field counts." },
  length: { weight: 0.75, off: 0, does: "Words count less in items longer than the average you can see (BM25's b)." },
  rarity: { weight: 1, off: 0, does: "A word counts more the fewer of the items you can see have it (idf)." },
  // For longer questions, an item with all words is often long and isn't the answer: decision 0035.
  allWords: { weight: 2, off: 0, does: "Of a question with two words, items with both come before those with one." },
  // Requiring half of the words was tried: on Cranfield nDCG@10 is .30 with half, .39 with three and .40 with two: decision 0009.
  someWords: { weight: 10, off: 0, does: "When fewer items have all words, those with two or one follow." },
  // Decision 0046 explains which words are used, and for which questions.
  feedback: {
    weight: 0.4,
    off: 0,
    does: "Of longer questions that few items answer well, words that the first hits share count so much.",
  },
  stopWords: { weight: 1, off: 0, does: "Words that say nothing alone (the, of) are dropped from the question." },
} as const satisfies Record<string, Factor>;

export type FactorName = keyof typeof FACTORS;

/** The weight of each factor. */
export type Ranking = Readonly<Record<FactorName, number>>;

/** The factors that make up a score. The other factors decide which items match, and which of them come first. */
export const SCORE_FACTORS = ["frequency", "title", "place", "length", "rarity"] as const satisfies FactorName[];
export type ScoreFactor = (typeof SCORE_FACTORS)[number];

/** Returns the weights of all factors, with those of `without` switched off, to measure the value of each factor. */
export function makeRanking(without: readonly FactorName[] = []): Ranking {
  const weights = Object.entries(FACTORS).map(([name, { weight, off }]) => [
    name,
    without.some((each) => each === name) ? off : weight,
  ]);
  // The cast is safe because the object has every name of the table.
  return Object.fromEntries(weights) as Ranking;
}
