/** Measures of ranked answers, as trec_eval defines them, and whether two runs differ by more than chance. */

export const MEASURES = ["ndcg", "mrr", "recall", "success"] as const;
export type Measure = (typeof MEASURES)[number];
/** The score of each measure, from 0 to 1. */
export type Scores = Record<Measure, number>;

/** Returns the name of a measure, such as `nDCG@10`. Success looks at the first hit, the others at the first `k`. */
export function measureName(measure: Measure, k: number): string {
  const names = { ndcg: `nDCG@${k}`, mrr: `MRR@${k}`, recall: `recall@${k}`, success: "success@1" };
  return names[measure];
}

/**
 * Calculates the scores of one ranked answer.
 *
 * @param ranked  item ids, best first, each once; those after the first `k` are ignored
 * @param grades  gain of each judged item, 0 for not relevant; at least one is above 0
 */
export function scoresOf(ranked: readonly string[], grades: ReadonlyMap<string, number>, k: number): Scores {
  const gains = ranked.slice(0, k).map((id) => grades.get(id) ?? 0);
  const relevant = [...grades.values()].filter((grade) => grade > 0);
  const best = relevant.toSorted((a, b) => b - a).slice(0, k);
  const first = gains.findIndex((gain) => gain > 0);
  return {
    ndcg: discounted(gains) / discounted(best),
    mrr: first < 0 ? 0 : 1 / (first + 1),
    recall: gains.filter((gain) => gain > 0).length / relevant.length,
    success: first === 0 ? 1 : 0,
  };
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, rank) => sum + gain / Math.log2(rank + 2), 0);
}

/** Returns the mean of each measure; requires at least one query. */
export function meanOf(all: readonly Scores[]): Scores {
  const mean = (measure: Measure): number => all.reduce((sum, scores) => sum + scores[measure], 0) / all.length;
  return { ndcg: mean("ndcg"), mrr: mean("mrr"), recall: mean("recall"), success: mean("success") };
}

const ROUNDS = 10_000;

/**
 * Returns the probability of a mean difference this large by chance alone. It is calculated by a two-sided paired randomization test, which assumes
 * nothing about the distribution of scores. Each round flips the sign of each difference at random; the generator's seed is fixed, so the result is
 * always the same.
 */
export function chanceOf(differences: readonly number[]): number {
  const unequal = differences.filter((difference) => difference !== 0);
  const seen = Math.abs(unequal.reduce((sum, difference) => sum + difference, 0));
  let state = 0x9e3779b9;
  let bits = 0;
  let atLeast = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let sum = 0;
    for (let at = 0; at < unequal.length; at++) {
      if (at % 32 === 0) {
        // xorshift32
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        bits = state;
      }
      sum += (bits & 1) === 0 ? (unequal[at] ?? 0) : -(unequal[at] ?? 0);
      bits >>>= 1;
    }
    // Sums of the same numbers in another order differ in their last bits, hence the tolerance.
    if (Math.abs(sum) >= seen - 1e-9) atLeast += 1;
  }
  return (atLeast + 1) / (ROUNDS + 1);
}
