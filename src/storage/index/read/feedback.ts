/**
 * Adds words that the first hits share to queries that no hit answers fully. These words only change the order:
 * matches, totals, facets and filters stay the same. Only items that the viewer can see are read. Source:
 * docs/decisions/0046.
 */
import { STOP_WORDS } from "#text/stop-words.ts";
import { FACTORS, type Ranking } from "#text/factors.ts";
import { sharedTokenizer } from "#text/tokenize.ts";
import { kbIdAt } from "#storage/index/kb-ids.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";
import type { Match } from "./hits.ts";
import type { ReadText } from "./phrases.ts";
import { type Feedback, hasNoTextWork, type Plan } from "./plan.ts";
import { termScale } from "./search-context.ts";
import type { TermReader } from "./term-lists.ts";

/** The input from which feedback is made. */
export interface FeedbackSource {
  workspaceId: string;
  segments: readonly SegmentView[];
  reader: TermReader;
  readText: ReadText;
  ranking: Ranking;
  /** The number of items that the viewer can see. */
  items: number;
}

/** The rank of the hit whose score shows how well a query is answered. */
export const JUDGED_RANK = 10;
/**
 * If the hit at `JUDGED_RANK` has more than this share of the highest possible score, the query is answered as written
 * and gets no feedback.
 */
const ENOUGH_SHARE = 0.35;
/**
 * The number of hits whose words are used, and how much is read of each: its title and the beginning of its text, in
 * UTF-16 code units.
 */
const HITS = 4;
const BEGINNING = 2_000;
const MIN_HITS = 2;
/**
 * The number of words that are counted, and of those that are added. A word that occurs in more than this share of the
 * items is ignored.
 */
const MAX_COUNTED = 40;
const MAX_ADDED = 10;
const MAX_DF_SHARE = 0.1;

/**
 * Whether feedback can help at all. It isn't used for short queries, which are short on purpose, nor for phrases, which
 * stay whole.
 */
export function mayHaveFeedback(plan: Plan, { feedback, allWords }: Ranking): boolean {
  return feedback !== FACTORS.feedback.off && plan.words + plan.phrases > allWords && hasNoTextWork(plan);
}

/**
 * Whether no hit answers the query fully.
 *
 * @param best at least the first `JUDGED_RANK` hits, if there are that many
 */
export function isAnsweredInPart(plan: Plan, best: readonly Match[]): boolean {
  const highest = plan.terms.reduce((sum, { scale }) => sum + scale, 0);
  return (best[JUDGED_RANK - 1]?.score ?? 0) <= ENOUGH_SHARE * highest;
}

/**
 * Makes the feedback of a query.
 *
 * @param best the first hits without feedback
 */
export function makeFeedback(source: FeedbackSource, plan: Plan, best: readonly Match[]): Feedback | undefined {
  const { items, ranking, reader } = source;
  const own = new Set(plan.terms.map(({ term }) => term));
  const counted = sharedWords(source, best.slice(0, HITS)).filter(({ term }) => !own.has(term));
  const significant = counted.slice(0, MAX_COUNTED).flatMap(({ term, share }) => {
    const lists = reader.lists(term);
    const df = reader.visibleCount(lists);
    const scale = termScale(items, df, ranking);
    // While an index is being rebuilt, the word may be missing from it.
    return df === 0 || df > items * MAX_DF_SHARE ? [] : [{ ...lists, term, scale, worth: share * scale }];
  });
  significant.sort((a, b) => b.worth - a.worth || (a.term < b.term ? -1 : 1));
  const [first, top] = [best[0], significant[0]];
  if (first === undefined || top === undefined) return undefined;
  const terms = significant
    .slice(0, MAX_ADDED)
    .map(({ lists, term, scale, worth }) => ({ lists, term, scale: scale * (worth / top.worth) * ranking.feedback }));
  return { terms, first, most: terms.reduce((sum, { scale }) => sum + scale, 0) };
}

interface SharedWord {
  term: string;
  hits: number;
  /** The sum of the scores of the hits that have the word. */
  share: number;
}

/** Returns the words that several hits have. Words of the most and best hits come first. */
function sharedWords({ workspaceId, segments, readText }: FeedbackSource, best: readonly Match[]): SharedWord[] {
  const words = new Map<string, SharedWord>();
  for (const { segment, id, score } of best) {
    const columns = segments[segment]?.columns;
    const fields = columns && readText(workspaceId, kbIdAt(columns, id), BEGINNING);
    for (const term of wordsOf(fields ?? [])) {
      const word = words.get(term) ?? { term, hits: 0, share: 0 };
      word.hits++;
      word.share += score;
      words.set(term, word);
    }
  }
  const shared = [...words.values()].filter(({ hits }) => hits >= MIN_HITS);
  return shared.sort((a, b) => b.share - a.share || (a.term < b.term ? -1 : 1));
}

/** Returns the informative words of title and text. */
function wordsOf(fields: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const field of [fields[0], fields.at(-1)]) {
    sharedTokenizer().chunks(field?.slice(0, BEGINNING) ?? "", ({ end, forms }) => {
      // The last word may be cut off.
      if (end === BEGINNING) return;
      for (const { term } of forms.flat) if (term.length > 1 && !STOP_WORDS.has(term)) found.add(term);
    });
  }
  return found;
}
