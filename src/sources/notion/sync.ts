import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SyncContext } from "#sources/context.ts";
import { makeFailures, refused } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import { reportItems } from "#sources/seen.ts";
import type { OpenRequest, SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { type NotionClient, orFailure, orRefusal, orUnsupported } from "./client.ts";
import type { NotionConfig } from "./config.ts";
import { factsOf, parseItemId, ROOT } from "./map.ts";
import { cleanName } from "./names.ts";
import { namesOf } from "./people.ts";
import {
  deletePage,
  endParts,
  isAsStored,
  keepPage,
  notLooked,
  notRead,
  type Parts,
  readWhole,
  reportOdd,
  reportPage,
  type Tools,
} from "./page.ts";
import type { PageRecord } from "./records.ts";
import { makeTree } from "./tree.ts";

/** `at` is the time when the last run began, by Notion's clock. */
const Cursor = z.object({ type: z.literal("changes"), at: z.number() });
type Cursor = z.infer<typeof Cursor>;

/** The time when the run began, and the id up to which pages were reported. */
const Checkpoint = z.object({ at: z.number(), after: z.string() });
type Checkpoint = z.infer<typeof Checkpoint>;

type Event = WalkEvent<never>;

/** The longest delay with which the search may find an edit. */
const LOOKBACK_MS = 3_600_000;
/**
 * The interval at which stored pages are compared with existing ones, because no edit shows that a page was shared,
 * moved or deleted.
 */
const LOOK_EVERY_MS = 6 * 3_600_000;
const LOOKED_AT = "lookedAt";
/** The most missing pages that an increment requests. The next complete listing handles the rest. */
const MOST_LOOKED_FOR = 500;

export function notionSessions(
  clientOf: (ctx: SyncContext<NotionConfig>) => NotionClient,
): SessionSpec<NotionConfig, Cursor, Checkpoint> {
  return {
    cursor: Cursor,
    checkpoint: Checkpoint,
    async open(ctx, run) {
      const { tools, at } = await openTools(ctx, clientOf(ctx), run);
      return {
        walk: (request) => walk(tools, at, request),
        read: (ids) => readEach<Outcome>(tools, ids, (id) => readOne(tools, id)),
      };
    },
  };
}

async function openTools(
  ctx: SyncContext<NotionConfig>,
  client: NotionClient,
  { scope, feed }: OpenRequest<Cursor>,
): Promise<{ tools: Tools; at: number }> {
  const { bot, at } = await client.me();
  const workspace = cleanName(bot?.workspace_name ?? "", "Notion");
  const tools: Tools = {
    ctx,
    scope,
    client,
    tree: makeTree(client),
    facts: factsOf(ctx, { workspace, names: await namesOf(ctx, client) }),
    settledBefore: feed?.at ?? 0,
    isListing: false,
    listed: new Map(),
    reported: new Set(),
    found: [],
    failures: makeFailures(() => client.me()),
  };
  return { tools, at };
}

async function* walk(
  tools: Tools,
  now: number,
  { since, resume }: WalkRequest<Cursor, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>> {
  const place = resume ?? { at: now, after: "" };
  tools.isListing = since === undefined;
  let failed: ApiError | undefined;
  if (since) yield* readChanges(tools, since.at, place);
  else failed = yield* listAll(tools, place);
  yield* reportOdd(tools);
  const complete = tools.isListing && !failed;
  const why = failed && `Notion can't list everything now: ${failed.message}`;
  return { complete, ...defined({ why }), cursor: { type: "changes", at: place.at }, permissions: "current" };
}

/**
 * Reads everything that the search, databases and pages lead to, and then requests stored pages that were not found. If
 * one of the two searches fails, the other is still read. The error is returned, and the remaining items stay
 * unchanged.
 */
async function* listAll(
  tools: Tools,
  { at, after }: Checkpoint,
): AsyncGenerator<WalkEvent<Checkpoint>, ApiError | undefined> {
  const { ctx, failures, tree, listed } = tools;
  const noPages = yield* failures.alone(findPages(tools));
  const noRows = yield* failures.alone(findRows(tools));
  if (noPages && noRows) throw noPages;
  for (const page of listed.values()) tree.addPage(page);
  let last = after;
  for (const page of [...listed.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (page.id <= after) continue;
    yield* reportAll(tools, page);
    last = page.id;
    yield { t: "page", entries: [], checkpoint: { at, after: last }, total: listed.size };
  }
  const failed = noPages ?? noRows;
  if (failed) return failed;
  for (const id of await storedElsewhere(tools, listed)) {
    yield* findOne(tools, id);
    yield { t: "page", entries: [], checkpoint: { at, after: last } };
  }
  ctx.state.put(LOOKED_AT, at);
  return undefined;
}

/**
 * Finds pages by the search. A page that is edited during the listing moves to the end of this order, and is found
 * there.
 */
async function findPages({ client, listed }: Tools): Promise<void> {
  for await (const some of client.pages("ascending")) for (const page of some) listed.set(page.id, page);
}

/** Finds rows by listing each database, since the search may lag behind, or be truncated if there are many results. */
async function* findRows(tools: Tools): AsyncGenerator<Outcome, void> {
  const { client, tree, listed } = tools;
  for await (const some of client.dataSources()) {
    for (const record of some) {
      tree.addDataSource(record);
      if (record.in_trash !== true) yield* addRows(tools, record.id, listed);
    }
  }
}

/** Reports a page, and the contents of the page that the search did not return. */
async function* reportAll(tools: Tools, first: PageRecord): AsyncGenerator<Event, void> {
  const { client, reported, listed } = tools;
  yield* reportPage(tools, first);
  for (let next = tools.found.pop(); next; next = tools.found.pop()) {
    const { id, type } = next;
    if (listed.has(id) || reported.has(id)) continue;
    if (type === "child_page") {
      const page = await orFailure(() => client.page(id));
      // A stored page is requested once more, together with all pages that were not listed.
      if (page instanceof ApiError) yield* notRead(tools, id, page);
      else if (typeof page !== "string") yield* reportPage(tools, page);
      continue;
    }
    // Each database is requested once. A view of a database that isn't shared isn't a database.
    reported.add(id);
    const database = await orFailure(() => orUnsupported(() => client.database(id)));
    if (database instanceof ApiError) yield await notLooked(tools, id, database);
    else if (typeof database !== "string") yield* reportRows(tools, database.data_sources);
  }
}

async function* reportRows(tools: Tools, sources: readonly { id: string }[]): AsyncGenerator<Event, void> {
  for (const { id } of sources) {
    const rows = new Map<string, PageRecord>();
    yield* addRows(tools, id, rows);
    for (const row of rows.values()) if (!tools.listed.has(row.id)) yield* reportPage(tools, row);
  }
}

/**
 * Adds the rows of a data source that Notion returns. Stored rows that Notion doesn't return are requested
 * individually.
 */
async function* addRows(tools: Tools, id: string, pages: Map<string, PageRecord>): AsyncGenerator<Outcome, void> {
  const read = await orFailure(async () => {
    for await (const rows of tools.client.rows(id)) for (const row of rows) pages.set(row.id, row);
  });
  if (read instanceof ApiError) yield await notLooked(tools, id, read);
}

/** Returns the stored pages that were neither listed nor reported. */
async function storedElsewhere({ ctx, reported }: Tools, pages: { has(id: string): boolean }): Promise<string[]> {
  const ids: string[] = [];
  for await (const { externalId } of ctx.stored.list(ROOT)) {
    const id = parseItemId(externalId);
    if (id && !id.part && !pages.has(id.page) && !reported.has(id.page)) ids.push(id.page);
  }
  return ids;
}

/** Requests one of these pages, which the search left out, or which is in the trash, deleted or no longer shared. */
async function* findOne(tools: Tools, id: string): AsyncGenerator<Event, void> {
  const { client, reported, isListing } = tools;
  if (reported.has(id)) return;
  const page = await orFailure(() => client.page(id));
  if (page instanceof ApiError) yield* notRead(tools, id, page);
  else if (typeof page !== "string") yield* reportAll(tools, page);
  else if (page === "source_forbidden") {
    reported.add(id);
    yield* keepPage(id);
  } else if (!isListing) yield* deletePage(id);
}

/** Reads the latest edits first, back to those that the last run has seen. */
async function* readChanges(
  tools: Tools,
  before: number,
  place: Checkpoint,
): AsyncGenerator<WalkEvent<Checkpoint>, void> {
  const { ctx, client, tree } = tools;
  const checkedAt = z
    .number()
    .catch(0)
    .parse(await ctx.state.get(LOOKED_AT));
  const isChecking = place.at - checkedAt >= LOOK_EVERY_MS;
  const named = new Set<string>();
  const old: PageRecord[] = [];
  // The position stays the same, because another attempt begins at the latest edits as well.
  const stored: WalkEvent<Checkpoint> = { t: "page", entries: [], checkpoint: place };
  search: for await (const some of client.pages("descending")) {
    for (const page of some) tree.addPage(page);
    for (const page of some) {
      named.add(page.id);
      const isOld = Date.parse(page.last_edited_time) < before - LOOKBACK_MS;
      if (isOld && !isChecking) break search;
      if (isOld) old.push(page);
      else yield* reportAll(tools, page);
    }
    yield stored;
  }
  if (!isChecking) return;
  for (const page of old) {
    if (tools.reported.has(page.id) || (await isAsStored(tools, page))) continue;
    yield* reportAll(tools, page);
    yield stored;
  }
  for (const id of (await storedElsewhere(tools, named)).slice(0, MOST_LOOKED_FOR)) {
    yield* findOne(tools, id);
    yield stored;
  }
  ctx.state.put(LOOKED_AT, place.at);
}

/** Reads the present state of one of these items. */
async function readOne(tools: Tools, externalId: string): Promise<Outcome[]> {
  const id = parseItemId(externalId);
  const read = id && (await orRefusal(async () => readWhole(tools, await tools.client.page(id.page))));
  if (read === "source_forbidden") return [refused(externalId, read)];
  const { items, isWhole } = typeof read === "object" ? read : NOTHING;
  const item = items.find((each) => each.externalId === externalId);
  if (!item && !isWhole) throw halfRead(NOT_UNDERSTOOD);
  const parts = id && !id.part ? items.filter((each) => each !== item) : [];
  return [
    ...(await reportItems(tools.ctx.stored, parts)),
    ...(id && !id.part && isWhole ? endParts(id.page) : []),
    item ? { t: "upsert", item } : { t: "delete", externalId },
  ];
}

const NOTHING: Parts = { items: [], isWhole: true };
