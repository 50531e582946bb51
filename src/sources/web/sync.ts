import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip, leftOut, refused } from "#sources/failures.ts";
import type { Batching, OpenRequest, Session, SessionSpec, WalkEnd, WalkEvent } from "#sources/session.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { WebConfig } from "./config.ts";
import { factsOf } from "./map.ts";
import { CrawlQueue, type QueueEntry } from "./queue.ts";
import { readRobots, type Robots } from "./robots.ts";
import { requireWell } from "./site-failures.ts";
import { findSeeds, startOf, storedEntries } from "./seeds.ts";
import { isDocument, mayBeRead, pageUrl, scopePath } from "./urls.ts";
import { parseVersion } from "./version.ts";
import { isIn, visit, type Visited, type VisitTools } from "./visit.ts";

export interface WebOptions {
  batching: Partial<Batching>;
  /** The most pages of a connector. */
  maxPages: number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const DEFAULT_OPTIONS: WebOptions = {
  batching: { upserts: 50 },
  maxPages: Infinity,
  sleep: async (ms, signal) => void (await wait(ms, undefined, { signal })),
};

/** The position of a walk. Another run starts at the beginning, since each run must name everything itself. */
const Place = z.object({
  /** The number of processed pages in the queue, and the number of chunks in which the queue is stored. */
  at: z.number().int(),
  chunks: z.number().int(),
  /** The number of items. */
  done: z.number().int(),
  by: z.enum(["sitemap", "links"]),
  /**
   * Whether stored pages are visited one by one, because some pages that link to them could not be read. `added` = they
   * are in the queue.
   */
  stored: z.enum(["not", "due", "added"]),
  failuresInARow: z.number().int(),
});
type Place = z.infer<typeof Place>;

/** The number of levels beyond the maximum depth in which replacement pages are still followed. */
const MAX_LEADS = 3;
/** The most pages beyond the page limit that a run names. */
const MAX_TOLD = 20;

/**
 * Sessions of a website. `full` reads every page, to find out where each one leads. `incremental` checks the known
 * pages for changes, and reads the pages that changed.
 *
 * @throws ApiError `connector_scope_invalid`; errors of the site, its rules or its sitemap
 */
export function webSessions(options: WebOptions): SessionSpec<WebConfig, null, Place> {
  return {
    cursor: z.null(),
    checkpoint: Place,
    open: async (ctx, run) => makeCrawl(ctx, run, options, await readRobots(ctx)),
  };
}

function makeCrawl(
  ctx: SyncContext<WebConfig>,
  { mode, scope: rules }: OpenRequest,
  options: WebOptions,
  robots: Robots,
): Session<null, Place> {
  const { config } = ctx;
  const facts = factsOf(config, ctx.connector.id);
  const { site } = facts;
  const scope = compileScope(rules);
  const maxPages = Math.min(config.maxPages, options.maxPages);
  const queue = new CrawlQueue(site, maxPages * 5 + 1_000);
  const outcomes = new Map<string, string | null>();
  const start = startOf(site);
  const isFull = mode === "full";
  let place: Place = { at: 0, chunks: 0, done: 0, by: "links", stored: "not", failuresInARow: 0 };
  let requests = 0;
  /** True = this attempt looked for sitemaps and found none. */
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
      const former = outcomes.get(href);
      if (former !== undefined) return former;
      const at = queue.placeOf(href);
      if (at === undefined || at >= place.at) return undefined;
      // The page was read before the run was interrupted.
      return parseVersion(await ctx.stored.version(href), facts.key)?.hash ?? null;
    },
  };

  /**
   * Whether a page of the site is worth a request: because the scope includes it, or because it leads to pages that the
   * scope includes.
   */
  function isWanted(url: URL): boolean {
    const path = scopePath(url);
    if (url.href === start.href) return true;
    const folder = url.pathname.slice(1).replace(/\/$/, "");
    return !scope.excludes(path, false) && (scope.includes(path) || scope.mayContainIncluded(folder));
  }

  function follow(links: readonly URL[], depth: number): void {
    for (const url of links) {
      const type = mimeHintOf(url.pathname.slice(url.pathname.lastIndexOf("/") + 1)) ?? "";
      const isDue = place.by === "links" ? depth <= config.maxDepth : isDocument(type);
      if (isDue && mayBeRead(url, config.documents) && isWanted(url)) queue.add({ url, depth }, { isNamed: false });
    }
  }

  /**
   * Adds a page's canonical page, which is visited regardless of how the page was found. A chain of such pages ends.
   */
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

  /** Fills the queue. */
  async function* begin(): AsyncGenerator<Outcome, void> {
    const seeds = await findSeeds(ctx, robots, maxPages * 5);
    for (const entry of seeds.entries) if (isWanted(entry.url)) queue.add(entry, { isNamed: true });
    for (const { url, message } of seeds.failed) yield failedSkip(url, message);
    isWithoutSitemap = seeds.by === "links" && seeds.failed.length === 0;
    // A missing sitemap must not remove the pages that were listed only there.
    const isLess = seeds.by === "links" && (await ctx.state.get("by")) === "sitemap";
    const isDue = !isFull || isLess || seeds.failed.length > 0;
    place = { ...place, by: seeds.by, stored: isDue ? "due" : "not" };
  }

  async function* walk(resume: Place | undefined): AsyncGenerator<WalkEvent<Place>, WalkEnd<null>> {
    if (resume && (await queue.load(ctx.state, resume.chunks))) place = resume;
    else yield* begin();
    while (place.done < maxPages) {
      if (place.at >= queue.length && place.stored === "due") {
        await addStored();
        place.stored = "added";
      }
      const entry = queue.at(place.at);
      if (entry === undefined) break;
      if (!outcomes.has(entry.url.href)) yield* visitEntry(entry);
      place.at += 1;
      queue.save(ctx.state);
      yield { t: "page", entries: [], checkpoint: { ...place, chunks: queue.chunkCount } };
    }
    for (let at = place.at; at < Math.min(queue.length, place.at + MAX_TOLD); at++) yield* beyond(queue.at(at)?.url);
    queue.drop(ctx.state);
    // The method is kept until a full run has visited the pages that were listed only in the sitemap. A sitemap that
    // can't be read still counts.
    if (isFull && (place.by === "sitemap" || isWithoutSitemap)) ctx.state.put("by", place.by);
    return { complete: isFull, cursor: null, permissions: "current" };
  }

  /**
   * Visits a page. If the page declares itself a copy of another page, that page is visited first. If the other page
   * doesn't exist, the page itself is the item.
   */
  async function* visitEntry(entry: QueueEntry): AsyncGenerator<WalkEvent<never>, void> {
    const todo = [entry];
    for (let due = todo.shift(); due; due = todo.shift()) {
      ctx.signal.throwIfAborted();
      const visited = await visit(tools, due, !isFull);
      requireWell(visited, place, due.url.href === start.href && place.by === "links");
      const original = visited.type === "nothing" ? originalOf(visited, due) : undefined;
      if (original) todo.unshift(original, due);
      note(visited, due);
      yield { t: "page", entries: original ? [] : await outcomesOf(visited, due.url), listings: 1 };
    }
  }

  function note(visited: Visited, { url, depth }: QueueEntry): void {
    const { type, at, links = [], leadsTo } = visited;
    outcomes.set(url.href, null);
    // If a page leads to another page, its result isn't the result of the other page.
    if ("hash" in visited) outcomes.set(at.href, visited.hash);
    else if (!outcomes.has(at.href)) outcomes.set(at.href, null);
    follow(links, depth + 1);
    lead(leadsTo, depth + 1);
    // Pages that are linked only from this page aren't found now.
    if ((type === "failed" || type === "refused") && place.stored === "not") place.stored = "due";
    if (type === "item" || type === "same") place.done += 1;
  }

  function* beyond(url: URL | undefined): Generator<Outcome, void> {
    if (url === undefined) return;
    const message = `The connector's limit of ${maxPages} pages is reached.`;
    yield leftOut(url.href, "excluded_by_policy", message);
  }

  /**
   * Returns the events for an address. `asked` differs from it after a redirect. A page that was requested individually
   * is always reported.
   */
  async function outcomesOf(visited: Visited, asked: URL): Promise<Outcome[]> {
    const { type, at: found } = visited;
    const isStored = async ({ href }: URL) => mode === "items" || (await ctx.stored.version(href)) !== undefined;
    // A full run removes pages by not naming them.
    const deleteOf = async (url: URL): Promise<Outcome[]> =>
      !isFull && (await isStored(url)) ? [{ t: "delete", externalId: url.href }] : [];
    if (type === "failed") return [failedSkip(asked.href, visited.message)];
    if (type === "refused") return (await isStored(asked)) ? [refused(asked.href, "source_forbidden")] : [];
    const outcomesOfPage: Outcome[] = [];
    if (type === "item") outcomesOfPage.push({ t: "upsert", item: visited.item });
    else if (type === "same") outcomesOfPage.push({ t: "seen", externalIds: [found.href] });
    else {
      if (type === "left_out") outcomesOfPage.push(skipOf(visited));
      // A page that is too large now may be broken only temporarily. The run decides how long its stored item stays.
      const stays = type === "left_out" && visited.reason === "too_large";
      if (!stays && found.href === asked.href) outcomesOfPage.push(...(await deleteOf(found)));
    }
    const isFormer = type === "item" && visited.item.formerId === asked.href;
    return found.href === asked.href || isFormer ? outcomesOfPage : [...outcomesOfPage, ...(await deleteOf(asked))];
  }

  /** Reads pages by their addresses. */
  async function* read(externalIds: readonly string[]): AsyncGenerator<Outcome, void> {
    for (const externalId of externalIds) {
      ctx.signal.throwIfAborted();
      const url = pageUrl(externalId, start, site);
      const { depth = 0 } = parseVersion(await ctx.stored.version(externalId), facts.key) ?? {};
      if (url?.href === externalId) yield* await outcomesOf(await visit(tools, { url, depth }, false), url);
      else yield { t: "delete", externalId };
    }
  }

  return { walk: ({ resume }) => walk(resume), read };
}

function skipOf({ at, reason, message }: Extract<Visited, { type: "left_out" }>): Outcome {
  return leftOut(at.href, reason, message);
}
