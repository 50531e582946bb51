import { setTimeout as wait } from "node:timers/promises";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { failedSkip } from "#sources/failures.ts";
import { type Batching, makeBatches } from "#sources/batching.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import type { WebConfig } from "./config.ts";
import { parseCursor, type WebCursor } from "./cursor.ts";
import { factsOf } from "./map.ts";
import { CrawlQueue, type QueueEntry } from "./queue.ts";
import { readRobots, type Robots } from "./robots.ts";
import { requireWell } from "./site-failures.ts";
import { findSeeds, startOf, storedEntries } from "./seeds.ts";
import { isDocument, mayBeRead, pageUrl, scopePath } from "./urls.ts";
import { parseVersion } from "./version.ts";
import { isIn, type Outcome, visit, type VisitTools } from "./visit.ts";

export interface WebOptions {
  batching: Partial<Batching>;
  /** No connector has more pages. */
  maxPages: number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const DEFAULT_OPTIONS: WebOptions = {
  batching: { upserts: 50 },
  maxPages: Infinity,
  sleep: async (ms, signal) => void (await wait(ms, undefined, { signal })),
};

type Event = SyncEvent<WebCursor>;
type Context = SyncContext<WebConfig>;

/** Pages that stand for another, beyond the depth that is followed. */
const MAX_LEADS = 3;
/** Pages beyond the limit that a run names. */
const MAX_TOLD = 20;

/**
 * One run. `full` reads every page, so that it sees where each one leads; `incremental` asks the pages that it knows whether
 * they changed, and reads those that did.
 *
 * @throws ApiError `connector_scope_invalid`; what is wrong with the site, its rules or its sitemap
 */
export async function* syncSite(
  ctx: Context,
  run: SyncRequest<WebCursor>,
  options: WebOptions,
): AsyncGenerator<Event, void> {
  const robots = await readRobots(ctx);
  const crawl = makeCrawl(ctx, run, options, robots);
  if (run.mode === "items") yield* crawl.items(run.externalIds ?? []);
  else yield* crawl.all();
}

function makeCrawl(ctx: Context, run: SyncRequest<WebCursor>, options: WebOptions, robots: Robots) {
  const { config } = ctx;
  const facts = factsOf(config, ctx.connector.id);
  const { site } = facts;
  const scope = compileScope(run.scope);
  const maxPages = Math.min(config.maxPages, options.maxPages);
  const queue = new CrawlQueue(site, maxPages * 5 + 1_000);
  const outcomes = new Map<string, string | null>();
  const start = startOf(site);
  const isFull = run.mode === "full";
  const makeOwn = (done: number) => makeBatches({ ...DEFAULT_OPTIONS.batching, ...options.batching }, ctx.now, done);
  let batches = makeOwn(0);
  let at = 0;
  let requests = 0;
  /** This attempt has read all that robots.txt says of sitemaps, and there is none. */
  let isWithoutSitemap = false;

  const tools: VisitTools = {
    ctx,
    facts,
    robots,
    scope,
    async pace() {
      if (requests++ > 0 && robots.delayMs > 0) await options.sleep(robots.delayMs, ctx.signal);
    },
    async outcomeOf(href) {
      const told = outcomes.get(href);
      if (told !== undefined) return told;
      const place = queue.placeOf(href);
      if (place === undefined || place >= at) return undefined;
      // Before the run was interrupted.
      return parseVersion(await ctx.stored.version(href), facts.key)?.hash ?? null;
    },
  };

  /** Whether a page of the site is worth a request: itself, or as the way to what the scope includes. */
  function isWanted(url: URL): boolean {
    const path = scopePath(url);
    if (url.href === start.href) return true;
    const folder = url.pathname.slice(1).replace(/\/$/, "");
    return !scope.excludes(path, false) && (scope.includes(path) || scope.mayContainIncluded(folder));
  }

  function follow(links: readonly URL[], depth: number, by: WebCursor["by"]): void {
    for (const url of links) {
      const type = mimeHintOf(url.pathname.slice(url.pathname.lastIndexOf("/") + 1)) ?? "";
      const isDue = by === "links" ? depth <= config.maxDepth : isDocument(type);
      if (isDue && mayBeRead(url, config.documents) && isWanted(url)) queue.add({ url, depth }, { isNamed: false });
    }
  }

  /** What stands for a page is looked at however it was found; a chain of such pages ends. */
  function lead(url: URL | undefined, depth: number): void {
    if (url && depth <= config.maxDepth + MAX_LEADS && isWanted(url)) queue.add({ url, depth }, { isNamed: false });
  }

  function originalOf({ copyOf }: { copyOf?: URL }, { depth }: QueueEntry): QueueEntry | undefined {
    if (!copyOf || outcomes.has(copyOf.href) || depth >= config.maxDepth + MAX_LEADS) return undefined;
    return { url: copyOf, depth: depth + 1 };
  }

  async function addStored(): Promise<void> {
    for await (const entry of storedEntries(ctx, site, facts.key))
      if (isIn(scope, entry.url)) queue.add(entry, { isNamed: true });
  }

  /** Fills the queue, or what an interrupted run left of it. */
  async function* begin(): AsyncGenerator<Event, WebCursor> {
    const runId = run.runId ?? null;
    const former = parseCursor(run.cursor);
    if (runId !== null && former?.runId === runId && (await queue.load(ctx.state, former.chunks))) return former;
    const seeds = await findSeeds(ctx, robots, maxPages * 5);
    for (const entry of seeds.entries) if (isWanted(entry.url)) queue.add(entry, { isNamed: true });
    for (const { url, message } of seeds.failed) yield failedSkip(url, message);
    isWithoutSitemap = seeds.by === "links" && seeds.failed.length === 0;
    // A sitemap that is gone must not remove what only it named.
    const isLess = seeds.by === "links" && (await ctx.state.get("by")) === "sitemap";
    const isDue = !isFull || isLess || seeds.failed.length > 0;
    return { runId, at: 0, chunks: 0, done: 0, by: seeds.by, stored: isDue ? "due" : "not", failuresInARow: 0 };
  }

  async function* all(): AsyncGenerator<Event, void> {
    const cursor = yield* begin();
    at = cursor.at;
    batches = makeOwn(cursor.done);
    while (cursor.done < maxPages) {
      if (at >= queue.length && cursor.stored === "due") {
        await addStored();
        cursor.stored = "added";
      }
      const entry = queue.at(at);
      if (entry === undefined) break;
      ctx.signal.throwIfAborted();
      const todo = outcomes.has(entry.url.href) ? [] : [entry];
      for (let due = todo.shift(); due; due = todo.shift()) {
        const outcome = await visit(tools, due, !isFull);
        if (ctx.signal.aborted) return;
        requireWell(outcome, cursor, due.url.href === start.href && cursor.by === "links");
        // The page that it says it is a copy of may not be there: then it stands for itself.
        const original = outcome.type === "nothing" ? originalOf(outcome, due) : undefined;
        if (original) todo.unshift(original, due);
        outcomes.set(due.url.href, null);
        // What leads to a page says nothing of that page.
        if ("hash" in outcome) outcomes.set(outcome.at.href, outcome.hash);
        else if (!outcomes.has(outcome.at.href)) outcomes.set(outcome.at.href, null);
        follow(outcome.links ?? [], due.depth + 1, cursor.by);
        lead(outcome.leadsTo, due.depth + 1);
        // What only this page leads to is not found now.
        const hidesLinks = outcome.type === "failed" || outcome.type === "refused";
        if (hidesLinks && cursor.stored === "not") cursor.stored = "due";
        batches.look();
        if (outcome.type === "same") yield* batches.seen(outcome.at.href);
        if (!original) yield* eventsOf(outcome, due.url);
        cursor.done = batches.done;
      }
      at += 1;
      if (!batches.isDue()) continue;
      queue.save(ctx.state);
      yield* batches.checkpoint({ ...cursor, at, chunks: queue.chunkCount });
    }
    if (ctx.signal.aborted) return;
    for (let i = at; i < Math.min(queue.length, at + MAX_TOLD); i++) yield* beyond(queue.at(i)?.url);
    queue.drop(ctx.state);
    // Until a full run has looked at what only the sitemap named; one that can't be read now is still the site's.
    if (isFull && (cursor.by === "sitemap" || isWithoutSitemap)) ctx.state.put("by", cursor.by);
    yield* batches.checkpoint({ ...cursor, runId: null, at: 0, chunks: 0 }, { total: cursor.done });
    yield { t: "end", listing: isFull ? "complete" : "partial", permissions: "current" };
  }

  function* beyond(url: URL | undefined): Generator<Event, void> {
    if (url === undefined) return;
    const message = `The connector's limit of ${maxPages} pages is reached.`;
    yield { t: "skip", externalId: url.href, reason: "excluded_by_policy", message, retryable: false };
  }

  /** What an outcome says; `asked` is another address when it led on. */
  async function* eventsOf(outcome: Outcome, asked: URL): AsyncGenerator<Event, void> {
    const { type, at: found } = outcome;
    const isStored = async ({ href }: URL) => (await ctx.stored.version(href)) !== undefined;
    // A full run removes by not naming.
    const isGone = async (url: URL) => !isFull && (await isStored(url));
    if (type === "failed" || type === "refused") {
      if (type === "refused" && !(await isStored(asked))) return;
      if (type === "failed") yield failedSkip(asked.href, outcome.message);
      else yield { t: "refused", what: { externalId: asked.href }, code: "source_forbidden" };
      return;
    }
    if (type === "left_out") {
      const { reason, message } = outcome;
      yield { t: "skip", externalId: found.href, reason, message, retryable: false };
    }
    // What is too large now may be broken for a moment: the run knows how long it stays.
    const stays = type === "same" || (type === "left_out" && outcome.reason === "too_large");
    if (type === "item") yield batches.upsert(outcome.item);
    else if (!stays && found.href === asked.href && (await isGone(found)))
      yield { t: "delete", externalId: found.href };
    const isFormer = type === "item" && outcome.item.formerId === asked.href;
    if (found.href !== asked.href && !isFormer && (await isGone(asked))) yield { t: "delete", externalId: asked.href };
  }

  async function* items(ids: readonly string[]): AsyncGenerator<Event, void> {
    for (const externalId of ids) {
      if (ctx.signal.aborted) return;
      const url = pageUrl(externalId, start, site);
      if (url?.href !== externalId) {
        yield { t: "delete", externalId };
        continue;
      }
      const version = parseVersion(await ctx.stored.version(externalId), facts.key);
      const outcome = await visit(tools, { url, depth: version?.depth ?? 0 }, false);
      // Asked for, it is told whatever became of it.
      if (outcome.type === "same") yield { t: "seen", externalIds: [outcome.at.href] };
      yield* eventsOf(outcome, url);
    }
    yield { t: "end", listing: "partial", permissions: "current" };
  }

  return { all, items };
}
