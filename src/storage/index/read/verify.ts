import type { SearchRequest } from "#storage/search-index.ts";
import { kbIdAt } from "#storage/index/kb-ids.ts";
import type { PostingList } from "#storage/index/posting-list.ts";
import type { Accept } from "./evaluate.ts";
import type { SearchContext, Filter } from "./search-context.ts";
import { memberCheck } from "./filters.ts";
import type { HitCollector, Match } from "./hits.ts";
import { fieldsHavePhrase, type ReadText } from "./phrases.ts";
import type { Plan } from "./plan.ts";

/** Limit of candidates whose text is read in one search. Source: S24. */
export const MAX_VERIFIED = 5_000;

/**
 * Evaluates, then reads the text of candidates in the order of display and accepts those in which the phrases occur.
 * Stops when too many candidates were read, or half of the search's time has passed, and then returns false: the rest
 * is left out.
 */
export function verifyOnText(work: {
  request: SearchRequest;
  context: SearchContext;
  plan: Plan;
  readText: ReadText;
  collector: HitCollector;
  evaluate: (sink: Accept) => void;
  accept: (match: Match) => void;
}): boolean {
  const { request, context, plan } = work;
  const matches: Match[] = [];
  work.evaluate(({ segment, ids, scores, hasAll, count }) => {
    for (let i = 0; i < count; i++) {
      matches.push({ segment, id: ids[i] ?? 0, hasAll: hasAll[i] === 1, score: scores[i] ?? 0 });
    }
  });
  work.collector.sort(matches);
  const suspects = plan.excludedPhrases.map(({ words, lists }) => ({
    words,
    isSuspect: context.segments.map((_, s) => commonCheck(lists.map((list) => list.lists[s]))),
  }));
  let read = 0;
  for (const match of matches) {
    const { segment, id } = match;
    const doubts = suspects.filter(({ isSuspect }) => isSuspect[segment]?.(id) === true);
    if (plan.textPhrases.length > 0 || doubts.length > 0) {
      // If the words occur in many long texts, the result is the best matches found so far with an inexact total,
      // instead of an error.
      if (read++ === MAX_VERIFIED || context.deadline.isHalfOver()) return false;
      const columns = context.segments[segment]?.columns;
      const fields = columns && work.readText(request.workspaceId, kbIdAt(columns, id));
      if (fields === undefined) continue;
      if (!plan.textPhrases.every((words) => fieldsHavePhrase(fields, words))) continue;
      if (doubts.some(({ words }) => fieldsHavePhrase(fields, words))) continue;
    }
    work.accept(match);
  }
  return true;
}

/** Checks whether a document is in all of these lists. */
function commonCheck(lists: readonly (PostingList | undefined)[]): Filter {
  const checks = lists.map((list) => memberCheck([list]));
  return (id) => checks.every((check) => check(id));
}
