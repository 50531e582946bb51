/** Explains scores on request: what each word of a query and each factor contributed to a score. */
import { placeWords } from "#api/item-fields.ts";
import { analyzeDocument, nameInKey } from "#text/analyzer.ts";
import { FACTORS, makeRanking, type Ranking, SCORE_FACTORS } from "#text/factors.ts";
import { weightIn } from "#storage/index/posting-list.ts";
import type { ShownItem } from "#storage/item-record.ts";
import type {
  ExplainedScores,
  ExplainedTerm,
  Explanation,
  HitPosition,
  HitScores,
  SearchHit,
  SearchStatistics,
  TermScore,
} from "#storage/search-index.ts";
import type { Match } from "./hits.ts";
import type { Plan } from "./plan.ts";
import { makeNorm, type SearchContext, termScale } from "./search-context.ts";

/**
 * Returns the matched words of each match with their contributions, computed by the same steps and in the same order as
 * its score.
 */
export function scoresOfHits(context: SearchContext, plan: Plan, matches: readonly Match[]): HitScores[] {
  return matches.map((match) => scoresOf(context, plan, match));
}

/** Returns the relevance score of one match. */
export function scoreOf(context: SearchContext, plan: Plan, match: Match): number {
  return sumOf(scoresOf(context, plan, match).terms);
}

function sumOf(terms: readonly TermScore[]): number {
  return terms.reduce((sum, { score }) => sum + score, 0);
}

function scoresOf(context: SearchContext, plan: Plan, { segment, id, hasAll }: Match): HitScores {
  const { base, slope } = context.norm;
  const length = context.segments[segment]?.columns.lengths[id] ?? 0;
  const terms = plan.terms.flatMap(({ lists, written, term, df, scale }): TermScore[] => {
    const list = lists[segment];
    const weight = list === undefined ? 0 : weightIn(list, id);
    if (weight === 0) return [];
    return [{ written, term, df, weight, score: (scale * weight) / (weight + base + slope * length) }];
  });
  return { hasAll, length, terms };
}

/** Explains hits as they are shown. An item without a position ranks first because of its URL and was not scored. */
export function makeExplainer(
  hits: readonly SearchHit[],
  { statistics, hits: scores }: ExplainedScores,
): (item: ShownItem, position: HitPosition | undefined) => Explanation {
  const known = new Map(hits.map((hit, i) => [hit.kbId, { hit, scores: scores[i] }]));
  return (item, position) => {
    const found = known.get(item.kbId);
    if (position === undefined || found?.scores === undefined) {
      return { group: "address", score: null, length: null, terms: [], factors: [] };
    }
    const { length } = found.scores;
    const { score } = found.hit;
    const fields = fieldsOf(item);
    const terms = found.scores.terms.map((term) => ({ ...term, frequency: frequencyOf(term, fields) }));
    return {
      group: found.scores.hasAll ? "all" : "some",
      score,
      length,
      terms,
      factors: [
        ...factorsOf(terms, length, statistics),
        ...(statistics.feedback.length === 0 ? [] : [{ factor: "feedback" as const, score: score - sumOf(terms) }]),
      ],
    };
  };
}

/** Occurrences of each term in a field, by term. */
type Frequencies = ReadonlyMap<string, number>;

/** Returns the two fields of the item, as it was indexed, that have more weight than the text. */
function fieldsOf(item: ShownItem): { title: Frequencies; place: Frequencies } {
  const nothing = { title: "", path: [], labels: [], text: "" };
  return {
    title: frequenciesOf({ ...nothing, title: item.title, name: nameInKey(item) }),
    place: frequenciesOf({ ...nothing, path: item.path, labels: placeWords(item) }),
  };
}

function frequenciesOf(fields: Parameters<typeof analyzeDocument>[0]): Frequencies {
  const { terms, weights } = analyzeDocument(fields, undefined, { title: 1, place: 1 });
  return new Map(terms.split("\n").map((term, i) => [term, weights[i] ?? 0]));
}

/** Splits a weight into its fields. The text gets the remainder after title and place. */
function frequencyOf(
  { term, weight }: TermScore,
  fields: { title: Frequencies; place: Frequencies },
): ExplainedTerm["frequency"] {
  const title = Math.min(countOf(term, fields.title), Math.floor(weight / FACTORS.title.weight));
  const rest = weight - title * FACTORS.title.weight;
  const place = Math.min(countOf(term, fields.place), Math.floor(rest / FACTORS.place.weight));
  return { title, place, text: rest - place * FACTORS.place.weight };
}

/** Counts the occurrences of a term. A prefix matches all words that begin with it, and their exact forms. */
function countOf(term: string, frequencies: Frequencies): number {
  if (!term.endsWith("*")) return frequencies.get(term) ?? 0;
  const start = term.slice(0, -1);
  let count = 0;
  for (const [each, frequency] of frequencies) {
    if (each.startsWith(start) || each.startsWith(`=${start}`)) count += frequency;
  }
  return count;
}

/**
 * Returns what each factor adds. Without factors, each word has the score 1. The factors are then enabled one after the
 * other, and each is credited with the increase.
 */
function factorsOf(
  terms: readonly ExplainedTerm[],
  length: number,
  statistics: SearchStatistics,
): Explanation["factors"] {
  let before = terms.length;
  const factors: Explanation["factors"] = [{ factor: "words", score: before }];
  for (let on = 1; on <= SCORE_FACTORS.length; on++) {
    const ranking = makeRanking(SCORE_FACTORS.slice(on));
    const sum = terms.reduce((all, term) => all + scoreWith(ranking, term, length, statistics), 0);
    const factor = SCORE_FACTORS[on - 1];
    if (factor !== undefined) factors.push({ factor, score: sum - before });
    before = sum;
  }
  return factors;
}

function scoreWith(
  ranking: Ranking,
  { df, frequency: { title, place, text } }: ExplainedTerm,
  length: number,
  { items, averageLength }: SearchStatistics,
): number {
  const weight = title * ranking.title + place * ranking.place + text;
  const { base, slope } = makeNorm(averageLength, ranking);
  return (termScale(items, df, ranking) * weight) / (weight + base + slope * length);
}
