import { LRUCache } from "lru-cache";
import { FACTORS, makeRanking, type Ranking } from "#text/factors.ts";
import { type ParsedQuery, parseQuery } from "#text/query.ts";
import type { Matching, SearchFilters, SearchOrder, SearchRequest, SearchResponse } from "#storage/search-index.ts";
import { averageOf, makeDeadline, makeNorm, type SearchContext, type Filter } from "./search-context.ts";
import { type Accept, evaluateAll, evaluateAny, evaluateEverything, type Wanted } from "./evaluate.ts";
import { scoreOf, scoresOfHits } from "./explain.ts";
import { FacetCounter } from "./facets.ts";
import { type FeedbackSource, isAnsweredInPart, JUDGED_RANK, makeFeedback, mayHaveFeedback } from "./feedback.ts";
import { allOf, makeFilters, memberCheck } from "./filters.ts";
import { HitCollector, type Match } from "./hits.ts";
import type { ReadText } from "./phrases.ts";
import { hasNoTextWork, makePlan, type Plan } from "./plan.ts";
import { makeMonths, type Months } from "./months.ts";
import { clearScratch, makeScratch } from "./scratch.ts";
import { type Database, inReadTransaction, makeStatements, numberOf, type Statements } from "#storage/index/sqlite.ts";
import { readState } from "#storage/index/state.ts";
import { type EmbeddedIndexStats, readStats } from "#storage/index/stats.ts";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { TermReader } from "./term-lists.ts";
import { verifyOnText } from "./verify.ts";
import { Visibility } from "#storage/index/visibility/visibility.ts";
import { WorkspaceView } from "./workspace-view.ts";

/** The read side of the index, on its own read-only connection. It is synchronous, for worker threads and tests. */
export interface IndexReader {
  /**
   * Runs one search in one read transaction.
   * @throws ApiError `search_timeout` when the deadline passes
   */
  search(request: SearchRequest): SearchResponse;
  /**
   * Like `search`, in the caller's open read transaction, for a parsed query. With `only`, returns only that item, with
   * the score that it has in the full search.
   */
  searchIn(request: SearchRequest, query: ParsedQuery, only?: string): SearchResponse;
  stats(workspaceId: string): EmbeddedIndexStats;
  /**
   * Reads for some milliseconds, to make later searches faster. A search only scans changes that are new to it; this
   * method reads them. Call it when no search is waiting.
   * @param documents number of changed documents to read; default 50
   * @returns false when nothing was left to do
   */
  readSome(documents?: number): boolean;
  /**
   * Brings the in-memory state of recently searched workspaces up to the database, so that the next search has less to
   * do. Call it when no search is waiting.
   * @returns `settled` when nothing has changed since the last call, `nothing` when no workspace was searched recently
   */
  follow(): "followed" | "settled" | "nothing";
}

export interface IndexReaderOptions {
  readText: ReadText;
  /** Returns milliseconds of a monotonic clock. */
  now?: () => number;
  /** Limit in bytes of the visible sets of a workspace. */
  cacheBytes?: number;
  /** The cache of posting lists. Default: a cache that only this reader uses. */
  postings?: PostingCache;
  /** Weights of the ranking factors. Default: those of the table of factors. */
  ranking?: Ranking;
}

/** The number of the query's words and phrases that a match needs. Source: docs/decisions/0009. */
const ENOUGH = { any: 2, one: 1 } as const;
const DEADLINE_MS = 2_000;
/** Limit of workspaces in memory; the least recently searched one is evicted first. */
const MAX_WORKSPACES = 64;
/** Changed documents whose words are read at once; each takes 60 µs. */
const READ_AT_ONCE = 50;
/** Limit of time zones whose months are cached, at 800 kB each. */
const MAX_ZONES = 4;

/** A workspace number that no workspace has. */
const NO_WORKSPACE = 0;

/** Milliseconds after its last search during which a workspace is kept up to date. */
const FOLLOWED_MS = 600_000;

interface Opened {
  view: WorkspaceView;
  visibility: Visibility;
  /** The time of the workspace's last search. */
  askedAt: number;
}

/** A running search. Everything that it reads is limited to what the viewer can see. */
interface Search {
  request: SearchRequest;
  /** A score that enough hits are known to reach. */
  floor?: number;
  sql: Statements;
  view: WorkspaceView;
  context: SearchContext;
  ranking: Ranking;
  plan: Plan;
  readText: ReadText;
  monthsOf: (timeZone: string) => Months;
}

interface Answer {
  /** The plan by which the hits were scored. */
  plan: Plan;
  collector: HitCollector;
  /** Absent when no facets were requested. */
  facets: FacetCounter | undefined;
  match: Matching;
  order: SearchOrder;
  isExact: boolean;
}

/** Makes the read side. It keeps columns and visible sets in memory and updates them at each search. */
export function makeIndexReader(db: Database, options: IndexReaderOptions): IndexReader {
  const {
    now = () => performance.now(),
    readText,
    cacheBytes,
    postings = new PostingCache(),
    ranking = makeRanking(),
  } = options;
  const sql = makeStatements(db);
  const scratch = makeScratch();
  const months = new LRUCache<string, Months>({ max: MAX_ZONES, memoMethod: makeMonths });
  const workspaces = new LRUCache<string, Opened>({ max: MAX_WORKSPACES });
  /** Changes with each commit of another connection. */
  let followedVersion: number | undefined;

  const makeOpened = (workspaceId: string, no: number): Opened => ({
    view: new WorkspaceView(sql, no, postings),
    visibility: new Visibility(sql, workspaceId, no, cacheBytes),
    askedAt: now(),
  });

  const open = (workspaceId: string): Opened | undefined => {
    const state = readState(sql, workspaceId);
    if (state === undefined) {
      workspaces.delete(workspaceId);
      return undefined;
    }
    let opened = workspaces.get(workspaceId);
    if (opened?.view.no !== state.no) {
      opened = makeOpened(workspaceId, state.no);
      workspaces.set(workspaceId, opened);
    }
    opened.view.refresh(state);
    return opened;
  };

  const answer = (request: SearchRequest, query: ParsedQuery, only?: string): Omit<SearchResponse, "tookMs"> => {
    // A workspace without an index behaves like one without visible items.
    const opened = open(request.workspaceId) ?? makeOpened(request.workspaceId, NO_WORKSPACE);
    const { view } = opened;
    opened.askedAt = now();
    const visible = opened.visibility.visibleSet(request.viewer, view.segments);
    const { documents } = visible;
    // Which words match a prefix is known only after all words were read.
    if (hasPrefix(query)) while (view.readSome(READ_AT_ONCE));
    // The time for catching up with changes isn't part of the deadline: after a timeout, the next search would have to
    // repeat the work.
    const deadline = makeDeadline(now, request.deadlineMs ?? DEADLINE_MS);
    const reader = new TermReader({ sql, no: view.no, segments: view.segments, documents }, deadline);
    const averageLength = averageOf(visible);
    const { items } = visible;
    const asked = makePlan(query, reader, { deltas: view.deltas, items, ranking });
    const filtersOf = (filters: SearchFilters) => withExclusions(makeFilters(view, reader, filters), asked);
    const context: SearchContext = {
      segments: view.segments,
      filters: filtersOf(only === undefined ? request.filters : { ...request.filters, kbIds: [only] }),
      documents,
      norm: makeNorm(averageLength, ranking),
      deadline,
    };
    const monthsOf = (timeZone: string) => months.memo(timeZone);
    const search: Search = { request, sql, view, context, ranking, plan: asked, readText, monthsOf };
    const decided = decide(search, (order, match) => run(search, scratch, order, match));
    const found = refine(search, decided, {
      runAgain: (change) => run({ ...search, ...change }, scratch, decided.order, decided.match),
      firstHits: only === undefined ? context : { ...context, filters: filtersOf(request.filters) },
      source: { workspaceId: request.workspaceId, segments: view.segments, reader, readText, ranking, items },
    });
    const { plan } = found;
    return {
      hits: found.collector.hits(),
      ...(request.isExplained === true && {
        explained: {
          statistics: { items, averageLength, feedback: plan.feedback?.terms.map(({ term }) => term) ?? [] },
          hits: scoresOfHits(context, plan, found.collector.best),
        },
      }),
      hasFeedback: plan.feedback !== undefined,
      total: found.collector.total,
      totalAll: found.collector.totalAll,
      isTotalExact: found.isExact && !plan.isPrefixCapped,
      match: found.match,
      order: found.order,
      facets: found.facets?.result() ?? {},
      unknownWords: [...plan.unknownWords],
      hasMore: found.collector.hasMore,
    };
  };

  const searchIn = (request: SearchRequest, query: ParsedQuery, only?: string): SearchResponse => {
    const start = now();
    try {
      const response = answer(request, query, only);
      return { ...response, tookMs: now() - start };
    } catch (error) {
      clearScratch(scratch);
      throw error;
    }
  };

  return {
    search: (request) =>
      inReadTransaction(db, () => searchIn(request, parseQuery(request.query, undefined, ranking.stopWords))),
    searchIn,
    stats: (workspaceId) => inReadTransaction(db, () => readStats(sql, workspaceId)),
    readSome: (documents = READ_AT_ONCE) => [...workspaces.values()].some(({ view }) => view.readSome(documents)),
    follow() {
      const after = now() - FOLLOWED_MS;
      const recent = [...workspaces].filter(([, { askedAt }]) => askedAt > after);
      const version = numberOf(sql("PRAGMA data_version"));
      if (recent.length === 0) return "nothing";
      if (version === followedVersion) return "settled";
      inReadTransaction(db, () => recent.forEach(([workspaceId]) => open(workspaceId)));
      followedVersion = version;
      return "followed";
    },
  };
}

function hasPrefix({ units, excluded }: ParsedQuery): boolean {
  return units.some(({ type }) => type === "prefix") || excluded.some(({ type }) => type === "prefix");
}

/**
 * Decides whether a match needs all words, two, or one: on page 1 by visible matches alone, on later pages by the
 * cursor. Sorting by recency or due date includes only items that have all words. If there are none, results are sorted
 * by relevance instead and marked so.
 * Source: B9, B10.
 */
function decide(search: Search, answer: (order: SearchOrder, match: Matching) => Answer): Answer {
  const { request, plan } = search;
  const wanted = plan.words + plan.phrases;
  const isDate = request.order !== "relevance";
  if (wanted === 0) return answer(isDate ? request.order : "recency", "all");
  const from = request.after?.match ?? "all";
  if (from !== "all") return answer("relevance", from);
  const all = answer(request.order, "all");
  const few = search.ranking.someWords;
  const isEnough = few === FACTORS.someWords.off || all.collector.totalAll >= (isDate ? 1 : few);
  // If some texts weren't read, more items may have all words, and there is no time to look for others. Phrases are
  // never split.
  if (request.after !== undefined || isEnough || !all.isExact || wanted === 1 || plan.words === 0) return all;
  const relaxed = wanted > ENOUGH.any ? answer("relevance", "any") : undefined;
  const isTooFew = relaxed === undefined || (relaxed.isExact && relaxed.collector.total < few);
  const found = isTooFew ? answer("relevance", "one") : relaxed;
  // Nothing more was found: the matches of all words are the only ones.
  return found.isExact && found.collector.total === all.collector.totalAll ? all : found;
}

/** How an answer is reranked. */
interface Again {
  runAgain: (change: Partial<Pick<Search, "request" | "context" | "plan" | "floor">>) => Answer;
  /** The context in which the first hits are searched. */
  firstHits: SearchContext;
  source: FeedbackSource;
}

/**
 * Reranks with the words of the first hits when needed: on page 1, depending on its hits and the remaining time; on
 * later pages, as the cursor states.
 */
function refine({ request, context, plan, ranking }: Search, found: Answer, again: Again): Answer {
  const { after, limit } = request;
  const { runAgain, firstHits, source } = again;
  const isAsked = after === undefined ? !context.deadline.isHalfOver() : after.hasFeedback === true;
  if (!isAsked || found.match === "all" || limit === 0 || !mayHaveFeedback(plan, ranking)) return found;
  const isKnown = after === undefined && limit >= JUDGED_RANK && firstHits === context;
  const { after: _, ...first } = { ...request, limit: JUDGED_RANK, facets: [] };
  const { best } = isKnown ? found.collector : runAgain({ request: first, context: firstHits }).collector;
  if (after === undefined && !isAnsweredInPart(plan, best)) return found;
  const feedback = makeFeedback(source, plan, best);
  if (feedback === undefined) return found;
  // The matches and their number stay the same, and no score gets lower.
  const floor = after === undefined ? found.collector.leastScore(false) : -Infinity;
  const fed = runAgain({ request: { ...request, facets: [] }, plan: { ...plan, feedback }, floor });
  return { ...fed, facets: found.facets };
}

function run(search: Search, scratch: ReturnType<typeof makeScratch>, order: SearchOrder, match: Matching): Answer {
  const { request, context, plan, ranking, floor = -Infinity } = search;
  const { segments } = context;
  const collector = new HitCollector(segments, {
    order,
    // When all matches have all words, they form one group.
    isAllFirst: match === "all" || plan.words + plan.phrases <= ranking.allWords,
    limit: request.limit,
    after: request.after?.position,
  });
  const fields = request.facets ?? [];
  const facets =
    fields.length === 0 ? undefined : new FacetCounter(segments, fields, search.monthsOf(request.timeZone ?? "UTC"));
  const accept: Accept = (matches) => {
    collector.acceptAll(matches);
    if (matches.total > 0) facets?.accept(matches.segment, matches.matches(), matches.total);
  };
  const verified: number[][] = [];
  const acceptOne = ({ segment, id, hasAll, score }: Match) => {
    collector.accept(segment, id, hasAll, score);
    if (facets) (verified[segment] ??= []).push(id);
  };
  const isScored = order === "relevance";
  const evaluate = (sink: Accept, leastScore: Wanted["leastScore"] = () => -Infinity) => {
    const wanted = { isScored, leastScore };
    if (plan.words + plan.phrases === 0) evaluateEverything(context, scratch, sink);
    else if (match === "all") evaluateAll(context, plan, scratch, sink, wanted);
    else evaluateAny(context, plan, scratch, sink, ENOUGH[match], wanted);
  };
  let isExact = true;
  if (hasNoTextWork(plan)) evaluate(accept, (hasAll) => Math.max(floor, collector.leastScore(hasAll)));
  else {
    isExact = verifyOnText({ ...search, collector, evaluate, accept: acceptOne });
    verified.forEach((ids, segment) => facets?.accept(segment, Uint16Array.from(ids), ids.length));
  }
  if (!isScored) collector.scoreBest((each) => scoreOf(context, plan, each));
  return { plan, collector, facets, match, order, isExact };
}

function withExclusions(filters: readonly (Filter | undefined)[], plan: Plan): (Filter | undefined)[] {
  if (plan.excluded.length === 0) return [...filters];
  return filters.map((filter, s) => {
    const isExcluded = memberCheck(plan.excluded.map(({ lists }) => lists[s]));
    return allOf([...(filter === undefined ? [] : [filter]), (id) => !isExcluded(id)]);
  });
}
