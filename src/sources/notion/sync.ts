import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { makeFailures } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import { type NotionClient, orFailure, orRefusal, orUnsupported } from "./client.ts";
import type { NotionConfig } from "./config.ts";
import { factsOf, parseItemId, ROOT } from "./map.ts";
import { cleanName } from "./names.ts";
import {
  deletePage,
  failure,
  isAsStored,
  keepParts,
  notRead,
  type Parts,
  readWhole,
  tellOdd,
  tellPage,
  tellParts,
  type Tools,
} from "./page.ts";
import type { PageRecord } from "./records.ts";
import { makeTree } from "./tree.ts";

export const NotionCursor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    /** By Notion's clock: when the listing began, and when the last run before it did. */
    at: z.number(),
    settledBefore: z.number(),
    /** Pages up to this id were told. */
    after: z.string(),
    done: z.number(),
  }),
  z.object({ type: z.literal("changes"), at: z.number() }),
]);
export type NotionCursor = z.infer<typeof NotionCursor>;

type Context = SyncContext<NotionConfig>;
type Event = SyncEvent<NotionCursor>;

/** What is edited may be found by the search a while later. */
const LOOKBACK_MS = 3_600_000;
/** No edit shows that a page was shared, moved or went to the trash: this often, what is stored is compared with what is there. */
const LOOK_EVERY_MS = 6 * 3_600_000;
/** Of more pages that the search doesn't give, the next listing of everything tells. */
const MOST_LOOKED_FOR = 500;
/** Pages between two checkpoints. */
const BATCH = 20;

export async function* syncNotion(
  ctx: Context,
  client: NotionClient,
  run: SyncRequest<NotionCursor>,
): AsyncGenerator<Event, void> {
  const cursor = NotionCursor.safeParse(run.cursor).data;
  const { bot, at } = await client.me();
  const workspace = cleanName(bot?.workspace_name ?? "", "Notion");
  const tools: Tools = {
    ctx,
    run,
    client,
    tree: makeTree(client),
    facts: factsOf(ctx, { workspace, names: await client.users() }),
    settledBefore: cursor?.type === "changes" ? cursor.at : 0,
    told: new Set(),
    found: [],
    failures: makeFailures(() => client.me()),
  };
  if (run.mode === "items") yield* readItems(tools);
  else if (run.mode === "incremental" && cursor?.type === "changes") yield* readChanges(tools, cursor.at, at);
  else yield* listAll(tools, cursor, at);
}

/** Everything that search, databases and pages lead to; and what is stored and was found nowhere is asked for. */
async function* listAll(tools: Tools, cursor: NotionCursor | undefined, now: number): AsyncGenerator<Event, void> {
  const { ctx, run, client, tree } = tools;
  const runId = run.runId ?? null;
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const isResumed = cursor?.type === "listing" && runId !== null && cursor.runId === runId;
  const { after, at, done: before } = isResumed ? cursor : { after: "", at: now, done: 0 };
  if (isResumed) tools.settledBefore = cursor.settledBefore;
  const { settledBefore } = tools;
  const pages = new Map<string, PageRecord>();
  // What is edited meanwhile moves to the end of this order, and is seen there.
  for await (const some of client.pages("ascending")) for (const page of some) pages.set(page.id, page);
  for await (const some of client.dataSources()) {
    for (const record of some) {
      tree.addDataSource(record);
      // The search may lag behind, and be cut for many: a database says itself what is in it.
      if (record.in_trash !== true) yield* addRows(tools, record.id, pages);
    }
  }
  for (const page of pages.values()) tree.addPage(page);
  let done = before;
  const position = (id: string): NotionCursor => ({ type: "listing", runId, at, settledBefore, after: id, done });
  for (const id of [...pages.keys()].sort()) {
    const page = pages.get(id);
    if (!page || id <= after) continue;
    yield* tellAll(tools, page, pages);
    if (++done % BATCH > 0) continue;
    yield { t: "checkpoint", cursor: position(id) };
    yield { t: "progress", done, total: Math.max(done, pages.size) };
  }
  for (const id of await storedElsewhere(tools, pages)) {
    if (tools.told.has(id)) continue;
    const page = await orFailure(() => client.page(id));
    if (page === "source_forbidden") {
      tools.told.add(id);
      yield { t: "seen", externalIds: [id] };
      yield* keepParts(id);
    } else if (page instanceof ApiError) yield* notRead(tools, id, page);
    else if (typeof page !== "string") yield* tellAll(tools, page, pages);
  }
  yield* tellOdd(tools);
  ctx.signal.throwIfAborted();
  ctx.state.put(LOOKED_AT, at);
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  yield { t: "progress", done: tools.told.size };
  yield { t: "end", listing: "complete", permissions: "current" };
}

/** A page, and what is in it that the search did not give. */
async function* tellAll(
  tools: Tools,
  first: PageRecord,
  listed: ReadonlyMap<string, PageRecord>,
): AsyncGenerator<Event, void> {
  const { client } = tools;
  yield* tellPage(tools, first);
  for (let next = tools.found.pop(); next; next = tools.found.pop()) {
    const { id, type } = next;
    if (listed.has(id) || tools.told.has(id)) continue;
    if (type === "child_page") {
      const page = await orFailure(() => client.page(id));
      // One that is stored is asked for once more, with all that were not listed.
      if (page instanceof ApiError) yield* notRead(tools, id, page);
      else if (typeof page !== "string") yield* tellPage(tools, page);
      continue;
    }
    // A database is not asked for twice. A view of one that is not shared is none.
    tools.told.add(id);
    const database = await orFailure(() => orUnsupported(() => client.database(id)));
    if (database instanceof ApiError) {
      await tools.failures.requireOfOne(database);
      yield failure(id, database);
      continue;
    }
    if (typeof database === "string") continue;
    for (const { id: source } of database.data_sources) {
      const rows = new Map<string, PageRecord>();
      yield* addRows(tools, source, rows);
      for (const row of rows.values()) if (!listed.has(row.id) && !tools.told.has(row.id)) yield* tellPage(tools, row);
    }
  }
}

/** The rows of a data source, as far as Notion gives them. What is stored of the others is asked for by itself. */
async function* addRows(tools: Tools, id: string, pages: Map<string, PageRecord>): AsyncGenerator<Event, void> {
  const { client, ctx } = tools;
  const read = await orFailure(async () => {
    for await (const rows of client.rows(id)) {
      ctx.signal.throwIfAborted();
      for (const row of rows) pages.set(row.id, row);
    }
  });
  if (!(read instanceof ApiError)) return;
  await tools.failures.requireOfOne(read);
  yield failure(id, read);
}

/** Pages that are stored and were not listed. */
async function storedElsewhere({ ctx }: Tools, pages: { has(id: string): boolean }): Promise<string[]> {
  const ids: string[] = [];
  for await (const { externalId } of ctx.stored.list(ROOT)) {
    const id = parseItemId(externalId);
    if (id && !id.part && !pages.has(id.page)) ids.push(id.page);
  }
  return ids;
}

/** The latest edits first, until those that the last run has seen. */
async function* readChanges(tools: Tools, before: number, now: number): AsyncGenerator<Event, void> {
  const { ctx, client, tree } = tools;
  const lookedAt = z
    .number()
    .catch(0)
    .parse(await ctx.state.get(LOOKED_AT));
  const isLooking = now - lookedAt >= LOOK_EVERY_MS;
  const listed = new Set<string>();
  const old: PageRecord[] = [];
  let count = 0;
  search: for await (const some of client.pages("descending")) {
    for (const page of some) tree.addPage(page);
    for (const page of some) {
      listed.add(page.id);
      const isOld = Date.parse(page.last_edited_time) < before - LOOKBACK_MS;
      if (isOld && !isLooking) break search;
      if (isOld) old.push(page);
      if (isOld) continue;
      if (tools.told.has(page.id)) continue;
      yield* tellAll(tools, page, new Map());
      if (++count % BATCH === 0) yield { t: "checkpoint", cursor: { type: "changes", at: before } };
    }
  }
  if (isLooking) {
    for (const page of old) {
      if (tools.told.has(page.id) || (await isAsStored(tools, page))) continue;
      yield* tellAll(tools, page, new Map());
      if (++count % BATCH === 0) yield { t: "checkpoint", cursor: { type: "changes", at: before } };
    }
    yield* endGone(tools, listed);
    ctx.state.put(LOOKED_AT, now);
  }
  yield* tellOdd(tools);
  ctx.signal.throwIfAborted();
  yield { t: "checkpoint", cursor: { type: "changes", at: now } };
  yield { t: "end", listing: "partial", permissions: "current" };
}

const LOOKED_AT = "lookedAt";

/** Pages that are stored, and are in the trash, deleted or not shared any more: each is asked for. */
async function* endGone(tools: Tools, listed: { has(id: string): boolean }): AsyncGenerator<Event, void> {
  const { client, told } = tools;
  const missing = (await storedElsewhere(tools, listed)).filter((id) => !told.has(id));
  for (const id of missing.slice(0, MOST_LOOKED_FOR)) {
    const page = await orFailure(() => client.page(id));
    if (page instanceof ApiError) yield* notRead(tools, id, page);
    else if (typeof page === "object") yield* tellAll(tools, page, new Map());
    else if (page !== "source_forbidden") yield* deletePage(tools, id);
  }
}

/** Only these, as they are now. */
async function* readItems(tools: Tools): AsyncGenerator<Event, void> {
  yield* readEach<Event>(tools, tools.run.externalIds, (externalId) => readOne(tools, externalId));
  yield { t: "end", listing: "partial", permissions: "current" };
}

async function readOne(tools: Tools, externalId: string): Promise<Event[]> {
  const id = parseItemId(externalId);
  const read = id && (await orRefusal(async () => readWhole(tools, await tools.client.page(id.page))));
  if (read === "source_forbidden") return [{ t: "refused", what: { externalId }, code: read }];
  const found = typeof read === "object" ? read : NOTHING;
  const item = found.items.find((each) => each.externalId === externalId);
  if (!item && !found.isWhole) throw halfRead(NOT_UNDERSTOOD);
  const events: Event[] = [];
  if (!id?.part) for await (const event of tellParts(tools, externalId, item ? found : NOTHING)) events.push(event);
  return [...events, item ? { t: "upsert", item } : { t: "delete", externalId }];
}

const NOTHING: Parts = { items: [], isWhole: true };
