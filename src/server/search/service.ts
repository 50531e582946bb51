import { cleanLine, cut } from "#api/clean.ts";
import { isApiError } from "#api/errors.ts";
import { TOOL_LIMITS } from "#api/tools.ts";
import type { Policy, Viewer } from "#storage/access/policy.ts";
import type { CursorCodec, CursorScope } from "#server/http/cursor.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { EntityFinder } from "#server/entities/types.ts";
import type { SearchArguments, SearchEntry, SearchGroup, SearchOutcome, SearchService } from "./types.ts";
import type { Clock } from "#core/clock.ts";
import type { FieldFilter, SearchHit, SearchIndex, SearchRequest, SearchResponse } from "#storage/search-index.ts";
import { fromCursorPosition, isSameValue, toCursorPosition, type SearchPosition } from "./cursor.ts";
import { MAX_FIELD_FILTERS, SAMPLED_ITEMS, unknownFieldNote } from "./field-filters.ts";
import { resolveFilters, type FilterContext, type ResolvedFilters } from "./filters.ts";
import { answerNotes } from "./notes.ts";
import { passagesOf } from "./passages.ts";
import { readSentence } from "./sentence.ts";
import { findQueryFilters, withArgument, withField, type QueryFilter } from "./query-filters.ts";

export interface SearchServiceOptions {
  index: SearchIndex;
  policy: Policy;
  finder: EntityFinder;
  cursors: CursorCodec;
  clock: Clock;
  /** What a kbId, URL or issue key names among what the actor may see. */
  lookUp(actor: Actor, asked: string): Promise<{ kbIds: string[] }>;
  /** Sentences about connectors the actor can see that are not complete: still indexing, stale, to be reconnected. */
  connectorNotes?(actor: Actor): Promise<string[]>;
  /** Counts hits that the index gave and the records refused; above 0 is a fault of the index. */
  onRefused?(count: number): void;
}

/** One search on its way. */
interface Search extends ResolvedFilters {
  actor: Actor;
  viewer: Viewer;
  /** The query without its filters. */
  query: string;
  args: SearchArguments;
  request: SearchRequest;
  scope: CursorScope;
}

/** Hits asked for beyond the limit: they take the places of any that the records refuse. */
const SPARE_HITS = 3;

/** Pairs of a query that are tried: a pasted log has hundreds. */
const MAX_QUERY_FILTERS = 8;

/** Makes the search: filters by words, hits judged again, text of the judged version, and what to know about it. */
export function makeSearchService(options: SearchServiceOptions): SearchService {
  return {
    async search(actor, given) {
      const startedAt = options.clock.now();
      const search = await prepare(options, actor, given);
      const from = search.args.cursor === undefined ? undefined : await continueFrom(options, search);
      const pinned = await pinnedHits(options, search);
      const { response, hits } = await ask(options, search, from, pinned.kbIds);
      const first = from === undefined ? pinned.kbIds : [];
      const order = [...first, ...hits.map(({ kbId }) => kbId)];
      const { entries, refused } = await readEntries(options, search, order);
      const positions = new Map(hits.map((hit) => [hit.kbId, hit.position]));
      const notes = await answerNotes({ ...options, search, response, isContinued: from !== undefined });
      const shown = entries.slice(0, search.args.limit);
      const hasMore = response.hasMore || entries.length > shown.length;
      const state = { match: response.match, order: response.order };
      return {
        entries: search.args.groupBy === undefined ? shown : [],
        ...(search.args.groupBy !== undefined && { groups: await groupsOf(options, search, response) }),
        total: Math.max(0, response.total + pinned.extra - refused),
        isTotalExact: response.isTotalExact,
        match: response.match,
        order: response.order,
        notes,
        cursorAfter: (count) => {
          const last = shown[count - 1];
          if (last === undefined) return undefined;
          const position = positions.get(last.item.kbId) ?? beforeAll(response.order);
          if (search.args.groupBy !== undefined || (count >= shown.length && !hasMore)) return undefined;
          return options.cursors.encode(search.scope, toCursorPosition({ position, ...state }));
        },
        asOf: options.clock.now(),
        tookMs: options.clock.now() - startedAt,
      } satisfies SearchOutcome;
    },
  };
}

async function prepare(options: SearchServiceOptions, actor: Actor, given: SearchArguments): Promise<Search> {
  const viewer = await options.policy.viewerOf(actor);
  const base: SearchRequest = {
    workspaceId: actor.workspaceId,
    viewer,
    query: "",
    filters: {},
    order: "recency",
    limit: 0,
    timeZone: actor.timeZone,
  };
  const context: FilterContext = {
    actor,
    finder: options.finder,
    now: options.clock.now(),
    probe: (request) => options.index.search({ ...base, ...request }),
    lookUp: (asked) => options.lookUp(actor, asked),
  };
  const asked = { ...given, query: cut(given.query, TOOL_LIMITS.queryChars) };
  const { args, resolved } = (await understandSentence(asked, context)) ?? (await understand(asked, context));
  resolved.notes.push(...(await unknownFieldNotes(options, context, base, given)));
  const { cursor: _cursor, limit: _limit, detail: _detail, ...bound } = given;
  const request: SearchRequest = {
    ...base,
    query: args.query,
    filters: resolved.filters,
    order: orderOf(args),
    limit: args.groupBy === undefined ? args.limit : 0,
    ...(args.groupBy !== undefined && { facets: [args.groupBy] }),
  };
  const scope: CursorScope = {
    workspaceId: actor.workspaceId,
    userId: actor.userId,
    route: "search",
    args: bound,
  };
  return { ...resolved, actor, viewer, query: args.query, args, request, scope };
}

interface Understood {
  args: SearchArguments;
  resolved: ResolvedFilters;
}

/**
 * A query that is a sentence of filters and nothing else is answered by them; undefined when it is none, or when nothing
 * visible fits them: then its words are searched for as any others.
 */
async function understandSentence(given: SearchArguments, context: FilterContext): Promise<Understood | undefined> {
  const said = readSentence(given.query);
  if (said === undefined) return undefined;
  // What is given outright wins over what the sentence says.
  const args: SearchArguments = { ...said, ...given, query: "" };
  try {
    const resolved = await resolveFilters(args, context);
    if ((await context.probe({ filters: resolved.filters })).total === 0) return undefined;
    const listed = Object.entries(said).map(([name, value]) => `${ARGUMENT_NAMES[name] ?? name}=${String(value)}`);
    const note = `the query was read as ${listed.join(" ")}. To search for its words instead, put one of them in quotes.`;
    return { args, resolved: { ...resolved, notes: [...resolved.notes, note] } };
  } catch (error) {
    if (isApiError(error, "invalid_argument") || isApiError(error, "no_such_person")) return undefined;
    throw error;
  }
}

const ARGUMENT_NAMES: Readonly<Record<string, string>> = { kinds: "kind" };

/** Takes the filters out of the query, as far as they mean anything to this reader. */
async function understand(given: SearchArguments, context: FilterContext): Promise<Understood> {
  let known: Understood = { args: given, resolved: await resolveFilters(given, context) };
  const notes: string[] = [];
  for (const filter of findQueryFilters(given.query).slice(0, MAX_QUERY_FILTERS)) {
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
    // A value that means nothing here is a word like any other.
    if (isApiError(error, "invalid_argument") || isApiError(error, "no_such_person")) return undefined;
    throw error;
  }
}

/** A pair is a field's when something visible has it: hidden items make no filter of a word. */
async function asField({ args, resolved }: Understood, filter: QueryFilter, { probe }: FilterContext) {
  if ((args.fields ?? []).length >= MAX_FIELD_FILTERS) return undefined;
  if ((await probe({ filters: { fields: [filter.field] } })).total === 0) return undefined;
  const tried = withField(args, filter);
  const filters = { ...resolved.filters, ...(tried.fields !== undefined && { fields: tried.fields }) };
  return { known: { args: tried, resolved: { ...resolved, filters } }, what: "a field" };
}

/** What there is instead of fields that were asked for outright and are nowhere in sight. */
async function unknownFieldNotes(
  { index, policy }: SearchServiceOptions,
  { actor, probe }: FilterContext,
  base: SearchRequest,
  { fields = [], cursor }: SearchArguments,
): Promise<string[]> {
  if (cursor !== undefined) return [];
  const unknown: FieldFilter[] = [];
  for (const pair of fields) if ((await probe({ filters: { fields: [pair] } })).total === 0) unknown.push(pair);
  if (unknown.length === 0) return [];
  const { hits } = await index.search({ ...base, order: "recency", limit: SAMPLED_ITEMS });
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

/**
 * The position after which a page goes on. The cursor has room for most of a score's bits only, so the exact one is
 * asked for again; an item that changed since goes on from where it was.
 */
async function continueFrom(
  { index, cursors }: SearchServiceOptions,
  search: Search,
): Promise<SearchPosition | undefined> {
  const { cursor } = search.args;
  if (cursor === undefined) return undefined;
  const from = fromCursorPosition(cursors.decode(search.scope, cursor));
  if (from.order !== "relevance") return from;
  const { hits } = await index.search({
    ...search.request,
    filters: { ...search.request.filters, kbIds: [from.position.kbId] },
    order: from.order,
    limit: 1,
    facets: [],
    after: { position: { group: 1, value: Infinity, kbId: "" }, match: from.match },
  });
  const exact = hits[0]?.position;
  return exact !== undefined && isSameValue(exact.value, from.position.value) ? { ...from, position: exact } : from;
}

/** The items that the whole query is the address or key of, as far as the filters let them through. Source: B23. */
async function pinnedHits({ index, lookUp }: SearchServiceOptions, search: Search) {
  const none = { kbIds: [] as string[], extra: 0 };
  const query = search.query.trim();
  if (!/^(?:https?:\/\/\S+|kbi_\w+|#\d{1,9}|[\w./-]+#\d{1,9}|[A-Za-z][A-Za-z0-9]+-\d{1,9})$/.test(query)) return none;
  if (search.args.groupBy !== undefined) return none;
  const { kbIds } = await lookUp(search.actor, query);
  const wanted = kbIds.slice(0, search.args.limit);
  if (wanted.length === 0) return none;
  const among = { ...search.request, limit: wanted.length, filters: { ...search.filters, kbIds: wanted } };
  const passing = await index.search({ ...among, query: "", order: "recency" });
  const counted = await index.search(among);
  const open = new Set(passing.hits.map((hit) => hit.kbId));
  return { kbIds: wanted.filter((kbId) => open.has(kbId)), extra: open.size - counted.total };
}

/** The position before every hit: a page that ended among the pinned items goes on with the first one. */
function beforeAll(order: SearchResponse["order"]): SearchHit["position"] {
  const value = order === "relevance" ? 1e300 : order === "recency" ? 2 ** 47 - 1 : 1 - 2 ** 47;
  return { group: 1, value, kbId: `kbi_${"2".repeat(16)}` };
}

/** Asks the index, leaving out what stands above already. */
async function ask(
  { index }: SearchServiceOptions,
  search: Search,
  from: SearchPosition | undefined,
  pinned: readonly string[],
): Promise<{ response: SearchResponse; hits: SearchHit[] }> {
  const isGrouped = search.args.groupBy !== undefined;
  const limit = isGrouped ? 0 : Math.min(200, search.args.limit + pinned.length + SPARE_HITS);
  const response = await index.search({
    ...search.request,
    limit,
    ...(from !== undefined && { order: from.order, after: { position: from.position, match: from.match } }),
  });
  const skipped = new Set(from === undefined ? pinned : [...pinned, from.position.kbId]);
  return { response, hits: response.hits.filter(({ kbId }) => !skipped.has(kbId)) };
}

/** An item changes its text between verdict and passage about never; then it is judged once more. */
const TRIES = 2;

/**
 * Judges the hits again on one state of the records. Their passages are made beside the main thread, of exactly the
 * texts that were judged; a text that changed in that moment is judged anew, so verdict and text never part. Source: S7.
 */
async function readEntries(options: SearchServiceOptions, search: Search, kbIds: readonly string[]) {
  const { limit, detail } = search.args;
  const wanted = kbIds.slice(0, limit + SPARE_HITS);
  for (let tried = 1; ; tried++) {
    const { items, viewer } = await options.policy.readVisible(
      search.actor,
      wanted,
      async ({ store, viewer, visible }) => {
        const records = await store.items.records(wanted.filter((kbId) => visible.has(kbId)));
        return { items: records, viewer };
      },
    );
    // What lies beyond the limit only says that there is more.
    const shown = items.slice(0, limit);
    const passages = await passagesOf(options.index, shown, {
      workspaceId: search.actor.workspaceId,
      viewer,
      query: search.query,
      isDetailed: detail === "detailed",
    });
    if (passages.isOutdated && tried < TRIES) continue;
    const refused = wanted.length - items.length;
    if (refused > 0) options.onRefused?.(refused);
    const entries = items.map((item): SearchEntry => ({ item, passages: passages.of.get(item.kbId) ?? [] }));
    return { entries, refused };
  }
}

/** People whose counts are split by role: each costs a search without hits. */
const SPLIT_PEOPLE = 20;

async function groupsOf(
  { finder, index }: SearchServiceOptions,
  { args, actor, request }: Search,
  response: SearchResponse,
) {
  const { groupBy } = args;
  const values = (groupBy === undefined ? undefined : response.facets[groupBy]) ?? [];
  if (groupBy !== "person") return values;
  const top = values.slice(0, 100);
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
    const isSplit = groups.length < SPLIT_PEOPLE && response.match === "all" && request.filters.assignees === undefined;
    const assigned = isSplit
      ? (await index.search({ ...of, filters: { ...request.filters, assignees: [value] } })).totalAll
      : undefined;
    groups.push({ value: name, entityId: value, count, ...(assigned !== undefined && { assigned }) });
  }
  return groups;
}
