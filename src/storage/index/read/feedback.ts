/**
 * Words that the first hits share, for queries that no hit answers fully. They only change the order: matches, totals,
 * facets and filters stay the same. Only items that the viewer can see are read. Source: docs/decisions/0046.
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

/** The input of feedback. */
export interface FeedbackSource {
  workspaceId: string;
  segments: readonly SegmentView[];
  reader: TermReader;
  readText: ReadText;
  ranking: Ranking;
  /** The viewer's visible items. */
  items: number;
}

/** The hit whose score shows how well a query is answered. */
export const JUDGED_RANK = 10;
/** Share of the highest possible score above which that hit answers the query as written. */
const ENOUGH_SHARE = 0.35;
/** Hits whose words are used: the title and the beginning of the text of each, in UTF-16 code units. */
const HITS = 4;
const BEGINNING = 2_000;
const MIN_HITS = 2;
/** Words that are counted, and those of them that are added. A word that more than this share of the items have is ignored. */
const MAX_COUNTED = 40;
const MAX_ADDED = 10;
const MAX_DF_SHARE = 0.1;

/** Whether feedback can help at all. A short query is short on purpose, and phrases stay whole. */
export function mayHaveFeedback(plan: Plan, { feedback, allWords }: Ranking): boolean {
  return feedback !== FACTORS.feedback.off && plan.words + plan.phrases > allWords && hasNoTextWork(plan);
}

/** @param best at least the first `JUDGED_RANK` hits, if there are that many */
export function isAnsweredInPart(plan: Plan, best: readonly Match[]): boolean {
  const highest = plan.terms.reduce((sum, { scale }) => sum + scale, 0);
  return (best[JUDGED_RANK - 1]?.score ?? 0) <= ENOUGH_SHARE * highest;
}

/** @param best the first hits without feedback */
export function makeFeedback(source: FeedbackSource, plan: Plan, best: readonly Match[]): Feedback | undefined {
  const { items, ranking, reader } = source;
  const own = new Set(plan.terms.map(({ term }) => term));
  const counted = sharedWords(source, best.slice(0, HITS)).filter(({ term }) => !own.has(term));
  const significant = counted.slice(0, MAX_COUNTED).flatMap(({ term, share }) => {
    const lists = reader.lists(term);
    const df = reader.visibleCount(lists);
    const scale = termScale(items, df, ranking);
    // While an index is rebuilt, it may not have the word yet.
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
  /** The sum of the scores of the hits that have it. */
  share: number;
}

/** Returns the words that several hits have, those of the most and best hits first. */
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
      // It may be cut off.
      if (end === BEGINNING) return;
      for (const { term } of forms.flat) if (term.length > 1 && !STOP_WORDS.has(term)) found.add(term);
    });
  }
  return found;
}
