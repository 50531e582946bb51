import { defined } from "#core/defined.ts";
import type { Fault } from "#core/faults.ts";
import { cleanLine, cut } from "#api/clean.ts";
import { isApiError, forbidden } from "#api/errors.ts";
import { TOOL_LIMITS } from "#api/tools.ts";
import type { Policy, Viewer } from "#storage/policy/policy.ts";
import type { CursorCodec, CursorScope } from "#server/http/cursor.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { EntityFinder } from "#server/entities/types.ts";
import type { Grouping, SearchArguments, SearchGroup, SearchOutcome, SearchService } from "./types.ts";
import type { Clock } from "#core/clock.ts";
import type {
  Matching,
  FieldFilter,
  HitPosition,
  SearchIndex,
  SearchOrder,
  SearchRequest,
  SearchResponse,
  ShowResponse,
} from "#storage/search-index.ts";
import type { SnippetOptions } from "#text/snippet.ts";
import { fromCursorPosition, toCursorPosition, type SearchPosition } from "./cursor.ts";
import { MAX_FIELD_FILTERS, SAMPLED_ITEMS, unknownFieldNote } from "./field-filters.ts";
import { resolveFilters, type FilterContext, type ResolvedFilters } from "./filters.ts";
import { answerNotes } from "./notes.ts";
import { readSentence, findQueryFilters, withArgument, withField, type QueryFilter } from "./query-filters.ts";

export interface SearchServiceOptions {
  index: SearchIndex;
  policy: Policy;
  finder: EntityFinder;
  cursors: CursorCodec;
  clock: Clock;
  /** Finds the items that a kbId, URL or issue key names, among those that the actor may see. */
  lookUp(actor: Actor, asked: string): Promise<{ kbIds: string[] }>;
  /**
   * Returns sentences about connectors that the actor can see and that aren't complete: still indexing, stale, or to be
   * reconnected.
   */
  connectorNotes?(actor: Actor): Promise<string[]>;
  /** Counts hits that the index returned and the records refused. Any number above 0 is a fault of the index. */
  onRefused?(count: number): void;
  /** Called for a hit that could not be shown completely. */
  onFault?(fault: Fault): void;
}

/** A search request without its viewer. */
type Question = Omit<SearchRequest, "viewer">;

/** A search in progress. */
interface Search extends ResolvedFilters {
  actor: Actor;
  /** The query without its filters. */
  query: string;
  args: SearchArguments;
  request: Question;
  /** Runs another index query over what the actor may see. */
  probe: FilterContext["probe"];
  scope: CursorScope;
}

/** The maximum number of `name:value` pairs of a query that are tried. A pasted log has hundreds. */
const MAX_QUERY_FILTERS = 8;

/**
 * Makes the search. It resolves filters from words, reads everything shown in one query of the index, and adds notes.
 */
export function makeSearchService(options: SearchServiceOptions): SearchService {
  return {
    async search(actor, input) {
      const startedAt = options.clock.now();
      if (input.explain === true) requireMayExplain(actor);
      const search = await prepare(options, actor, input);
      const from = continueFrom(options, search);
      const pinned = await pinnedHits(options, search);
      const { shown, refused, faults, ...response } = await show(options, search, from, pinned.kbIds);
      if (refused > 0) options.onRefused?.(refused);
      const noteFault = (fault: Fault) => options.onFault?.(fault);
      faults.forEach(noteFault);
      const notes = await answerNotes({ ...options, search, response, isContinued: from !== undefined });
      const entries = shown.slice(0, search.args.limit);
      const hasMore = response.hasMore || shown.length > entries.length;
      const state = { match: response.match, hasFeedback: response.hasFeedback, order: response.order };
      return {
        entries: search.args.groupBy === undefined ? entries : [],
        facets: await facetsOf(options, search, response),
        total: Math.max(0, response.total + pinned.extra - refused),
        isTotalExact: response.isTotalExact,
        match: response.match === "all" ? "all" : "any",
        order: response.order,
        notes,
        cursorAfter: (count) => {
          const last = entries[count - 1];
          if (last === undefined) return undefined;
          const position = last.position ?? beforeAll(response.order);
          if (search.args.groupBy !== undefined || (count >= entries.length && !hasMore)) return undefined;
          return options.cursors.encode(search.scope, toCursorPosition({ position, ...state }));
        },
        noteFault,
        asOf: options.clock.now(),
        tookMs: options.clock.now() - startedAt,
        ...(response.statistics && { statistics: response.statistics }),
      } satisfies SearchOutcome;
    },
  };
}

/** Requires an admin: counts of words and items are for people who maintain the search, not for every reader. */
function requireMayExplain(actor: Actor): void {
  if (actsAsAdmin(actor)) return;
  throw forbidden(
    "Only admins of the workspace can have scores explained, and a token needs the scope kb:admin for it.",
  );
}

async function prepare(options: SearchServiceOptions, actor: Actor, input: SearchArguments): Promise<Search> {
  const base: Question = {
    workspaceId: actor.workspaceId,
    query: "",
    filters: {},
    order: "recency",
    limit: 0,
    timeZone: actor.timeZone,
  };
  // Most searches need only the results that they show, so the viewer is loaded only when it is needed.
  let viewer: Promise<Viewer> | undefined;
  const probe: FilterContext["probe"] = async (request) =>
    options.index.search({ ...base, ...request, viewer: await (viewer ??= options.policy.viewerOf(actor)) });
  const context: FilterContext = {
    actor,
    finder: options.finder,
    now: options.clock.now(),
    probe,
    lookUp: (asked) => options.lookUp(actor, asked),
  };
  const asked = { ...input, query: cut(input.query, TOOL_LIMITS.queryChars) };
  const { args, resolved } = (await understandSentence(asked, context)) ?? (await understand(asked, context));
  resolved.notes.push(...(await unknownFieldNotes(options, context, input)));
  const { cursor: _cursor, limit: _limit, detail: _detail, facets: _facets, explain: _explain, ...bound } = input;
  const request: Question = {
    ...base,
    query: args.query,
    filters: resolved.filters,
    order: orderOf(args),
    limit: args.groupBy === undefined ? args.limit : 0,
    facets: facetsIn(args),
  };
  const scope: CursorScope = {
    workspaceId: actor.workspaceId,
    userId: actor.userId,
    route: "search",
    args: bound,
  };
  return { ...resolved, actor, query: args.query, args, request, probe, scope };
}

interface Understood {
  args: SearchArguments;
  resolved: ResolvedFilters;
}

/**
 * Answers a query that consists only of a sentence of filters, using those filters. Returns undefined if it isn't such
 * a sentence, or if nothing visible fits the filters. The query's words are then searched like any others.
 */
async function understandSentence(input: SearchArguments, context: FilterContext): Promise<Understood | undefined> {
  const sentence = readSentence(input.query);
  if (sentence === undefined) return undefined;
  // An explicit argument wins over a filter in the sentence.
  const args: SearchArguments = { ...sentence, ...input, query: "" };
  try {
    const resolved = await resolveFilters(args, context);
    if ((await context.probe({ filters: resolved.filters })).total === 0) return undefined;
    const listed = Object.entries(sentence).map(([name, value]) => `${ARGUMENT_NAMES[name] ?? name}=${String(value)}`);
    const note = `the query was read as ${listed.join(" ")}. To search for its words instead, put one of them in quotes.`;
    return { args, resolved: { ...resolved, notes: [...resolved.notes, note] } };
  } catch (error) {
    if (isApiError(error, "invalid_argument") || isApiError(error, "no_such_person")) return undefined;
    throw error;
  }
}

const ARGUMENT_NAMES: Readonly<Record<string, string>> = { kinds: "kind" };

/** Moves filters out of the query if they mean anything to this reader. */
async function understand(input: SearchArguments, context: FilterContext): Promise<Understood> {
  let known: Understood = { args: input, resolved: await resolveFilters(input, context) };
  const notes: string[] = [];
  for (const filter of findQueryFilters(input.query).slice(0, MAX_QUERY_FILTERS)) {
    const found = (await asArgument(known, filter, context)) ?? (await asField(known, filter, context));
    if (found === undefined) continue;
    known = found.known;
    notes.push(`"${cleanLine(filter.written, 80)}" in the query was read as ${found.what}.`);
  }
  return { ...known, resolved: { ...known.resolved, notes: [...known.resolved.notes, ...notes] } };
}

async function asArgument({ args }: Understood, filter: QueryFilter, context: FilterContext) {
  const tried = withArgument(args, filter);
  if (tried === undefined) return undefined;
  try {
    return { known: { args: tried, resolved: await resolveFilters(tried, context) }, what: "a filter" };
  } catch (error) {
    // A value that means nothing here is treated as a word.
    if (isApiError(error, "invalid_argument") || isApiError(error, "no_such_person")) return undefined;
    throw error;
  }
}

/** A pair is a field filter if a visible item has the field. Hidden items thus can't turn a word into a filter. */
async function asField({ args, resolved }: Understood, filter: QueryFilter, { probe }: FilterContext) {
  if ((args.fields ?? []).length >= MAX_FIELD_FILTERS) return undefined;
  if ((await probe({ filters: { fields: [filter.field] } })).total === 0) return undefined;
  const tried = withField(args, filter);
  const filters = { ...resolved.filters, ...defined({ fields: tried.fields }) };
  return { known: { args: tried, resolved: { ...resolved, filters } }, what: "a field" };
}

/** Suggests other fields if no visible item has an explicitly given one. */
async function unknownFieldNotes(
  { policy }: SearchServiceOptions,
  { actor, probe }: FilterContext,
  { fields = [], cursor }: SearchArguments,
): Promise<string[]> {
  if (cursor !== undefined) return [];
  const unknown: FieldFilter[] = [];
  for (const pair of fields) if ((await probe({ filters: { fields: [pair] } })).total === 0) unknown.push(pair);
  if (unknown.length === 0) return [];
  const { hits } = await probe({ filters: {}, limit: SAMPLED_ITEMS });
  const kbIds = hits.map((hit) => hit.kbId);
  const items = await policy.readVisible(actor, kbIds, ({ store, visible }) =>
    store.items.records(kbIds.filter((kbId) => visible.has(kbId))),
  );
  return unknown.map((pair) => unknownFieldNote(pair, items));
}

function orderOf({ query, sortBy, dateField, after, before }: SearchArguments) {
  if (sortBy !== undefined && (sortBy !== "relevance" || query.trim() !== "")) return sortBy;
  if (query.trim() !== "") return "relevance";
  return dateField === "due" && (after !== undefined || before !== undefined) ? "due" : "recency";
}

/** Returns the position after which the page starts. The cursor has room for only most of a score's bits. */
function continueFrom({ cursors }: SearchServiceOptions, search: Search): SearchPosition | undefined {
  const { cursor } = search.args;
  return cursor === undefined ? undefined : fromCursorPosition(cursors.decode(search.scope, cursor));
}

/** Returns the items whose address or key is the whole query, if the filters allow them. Source: B23. */
async function pinnedHits({ lookUp }: SearchServiceOptions, search: Search) {
  const none = { kbIds: [] as string[], extra: 0 };
  const query = search.query.trim();
  if (!/^(?:https?:\/\/\S+|kbi_\w+|#\d{1,9}|[\w./-]+#\d{1,9}|[A-Za-z][A-Za-z0-9]+-\d{1,9})$/.test(query)) return none;
  if (search.args.groupBy !== undefined) return none;
  const { kbIds } = await lookUp(search.actor, query);
  const wanted = kbIds.slice(0, search.args.limit);
  if (wanted.length === 0) return none;
  const among = { ...search.request, limit: wanted.length, filters: { ...search.filters, kbIds: wanted } };
  const passing = await search.probe({ ...among, query: "", order: "recency" });
  const counted = await search.probe(among);
  const open = new Set(passing.hits.map((hit) => hit.kbId));
  return { kbIds: wanted.filter((kbId) => open.has(kbId)), extra: open.size - counted.total };
}

/**
 * Returns the position before every hit. If a page ended among the pinned items, the next page starts with the first
 * hit.
 */
function beforeAll(order: SearchOrder): HitPosition {
  const value = order === "relevance" ? 1e300 : order === "recency" ? 2 ** 47 - 1 : 1 - 2 ** 47;
  return { group: 1, value, kbId: `kbi_${"2".repeat(16)}` };
}

const CONCISE: SnippetOptions = { maxChars: 240, count: 1 };
const DETAILED: SnippetOptions = { maxChars: 600, count: 3 };

/**
 * Reads everything to show in one query: the hits, with access checked again, and their records and passages from the
 * same state that was checked.
 */
function show(
  { index, policy }: SearchServiceOptions,
  { actor, args, request }: Search,
  from: SearchPosition | undefined,
  pinned: readonly string[],
): Promise<ShowResponse> {
  const question = {
    ...request,
    ...(from !== undefined && {
      order: from.order,
      after: {
        position: from.position,
        match: from.match,
        hasFeedback: from.hasFeedback,
        isRounded: from.order === "relevance",
      },
    }),
    pinned,
    passages: args.detail === "detailed" ? DETAILED : CONCISE,
    ...(args.explain === true && { isExplained: true }),
  };
  return policy.askAs(actor, (viewer) => index.show({ ...question, viewer }));
}

/** The number of people whose counts are split by role. Each costs one search without hits. */
const SPLIT_PEOPLE = 20;

function facetsIn({ groupBy, facets = [] }: SearchArguments): readonly Grouping[] {
  return groupBy === undefined ? facets : [groupBy];
}

async function facetsOf(
  options: SearchServiceOptions,
  search: Search,
  { facets, match }: Pick<SearchResponse, "facets" | "match">,
): Promise<SearchOutcome["facets"]> {
  const { person, ...counted } = facets;
  if (person === undefined) return counted;
  return { ...counted, person: await peopleOf(options, search, { person, match }) };
}

/** Returns people by their visible names. People without a name are left out. */
async function peopleOf(
  { finder }: SearchServiceOptions,
  { args, actor, request, probe }: Search,
  response: { person: readonly SearchGroup[]; match: Matching },
): Promise<SearchGroup[]> {
  const top = response.person.slice(0, 100);
  const named = new Map(
    (
      await finder.named(
        actor,
        top.map(({ value }) => value),
      )
    ).map((one) => [one.entityId, one.name]),
  );
  const groups: SearchGroup[] = [];
  for (const { value, count } of top) {
    const name = named.get(value);
    if (name === undefined) continue;
    const of = { ...request, query: response.match === "all" ? request.query : "", limit: 0, facets: [] };
    const isSplit =
      args.groupBy === "person" &&
      groups.length < SPLIT_PEOPLE &&
      response.match === "all" &&
      request.filters.assignees === undefined;
    const assigned = isSplit
      ? (await probe({ ...of, filters: { ...request.filters, assignees: [value] } })).totalAll
      : undefined;
    groups.push({ value: name, entityId: value, count, ...defined({ assigned }) });
  }
  return groups;
}
