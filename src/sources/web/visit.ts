import { timeOf } from "#sources/times.ts";
import { canParseUrl } from "#api/parse-url.ts";
import type { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Skip } from "#sources/outcomes.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import type { CompiledScope } from "#sources/file-scope/scope.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { ask, isOfOnePage, type LedAway, leave, type PageAnswer, readBody } from "./client.ts";
import type { WebConfig } from "./config.ts";
import { type SiteFacts, toDocument, toPage } from "./map.ts";
import { decodePage, type PageFacts, readPage } from "./page.ts";
import type { QueueEntry } from "./queue.ts";
import type { Robots } from "./robots.ts";
import { makeRobotsRules } from "./robots-rules.ts";
import { isDocument, isHtml, mayBeRead, pageUrl, scopePath, twinsOf } from "./urls.ts";
import { FILE, formatVersion, parseVersion, type PageVersion } from "./version.ts";

export type Visited = {
  at: URL;
  links?: readonly URL[];
  /** The address of the page that replaces this page. */
  leadsTo?: URL;
} & (
  | { type: "item"; item: SourceItem; hash: string }
  | { type: "same"; hash: string }
  /**
   * The page isn't an item: it leads to an item, or has the same content as an item. `copyOf` is the page that it
   * declares itself a copy of.
   */
  | { type: "nothing"; copyOf?: URL }
  /** The page leads away from the site, or to an address that kb may not request. */
  | { type: "away"; message: string }
  | { type: "gone" }
  | { type: "left_out"; reason: Skip["reason"]; message: string }
  | { type: "refused"; error: ApiError }
  /** The page failed, and its previous version stays. */
  | { type: "failed"; message: string; error?: ApiError }
);

export interface VisitTools {
  ctx: SyncContext<WebConfig>;
  facts: SiteFacts;
  robots: Robots;
  scope: CompiledScope;
  /** Waits for the turn of the next request. */
  pace(): Promise<void>;
  /**
   * Returns the result of an address in this run: the hash of its item, or null if it has no item; undefined if it was
   * not visited.
   */
  outcomeOf(href: string): Promise<string | null | undefined>;
}

/**
 * Visits one page. With `ifChanged`, checks whether the page changed, and reads it only in that case. A problem of the
 * page alone is a result.
 *
 * @throws ApiError for problems of the site
 */
export async function visit(tools: VisitTools, entry: QueueEntry, ifChanged: boolean): Promise<Visited> {
  const { ctx, facts, robots } = tools;
  const { url, lastmod } = entry;
  const stored = await storedOf(tools, url);
  if (!robots.allows(url)) return leftOut(url, "excluded_by_policy", "The site's robots.txt doesn't allow it.");
  if (ifChanged && stored && lastmod !== undefined && stored.lastmod === lastmod) {
    return { type: "same", at: url, hash: stored.hash };
  }
  await tools.pace();
  try {
    // If a page isn't sent again, its links are unknown. Documents have no links.
    const validators = stored && (ifChanged || stored.hash === FILE) ? stored : {};
    const mayGo = (to: URL) => robots.allows(to) && mayBeRead(to, ctx.config.documents);
    const answer = await ask(ctx, url, { validators, mayGo, maxBytes: facts.maxFileBytes });
    if ("why" in answer) return ledAway(url, answer, stored !== undefined);
    if (answer.status === 304) {
      await leave(answer);
      if (!stored)
        return { type: "failed", at: url, message: "The server answered 304 to a request that wasn't conditional." };
      return { type: "same", at: url, hash: stored.hash };
    }
    if (NO_CONTENT.includes(answer.status)) {
      await leave(answer);
      return leftOut(answer.at, "empty", `The server has nothing at this address (HTTP ${answer.status}).`);
    }
    return await judge(tools, entry, answer);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!isOfOnePage(error)) throw error;
    switch (error.code) {
      case "source_forbidden":
        return { type: "refused", at: url, error };
      case "source_not_found":
      case "source_gone":
        return { type: "gone", at: url };
      case "payload_too_large":
        return leftOut(url, "too_large", "It is larger than the connector's limit.");
      default:
        return { type: "failed", at: url, message: error.message, error };
    }
  }
}

/** Statuses of a response without a body, which differs from an empty page. Source: RFC 9110 §15.3.5. */
export const NO_CONTENT: readonly number[] = [204, 205];

async function storedOf({ ctx, facts }: VisitTools, { href }: URL): Promise<PageVersion | undefined> {
  return parseVersion(await ctx.stored.version(href), facts.key);
}

type LeftOut = Extract<Visited, { type: "left_out" }>["reason"];

function leftOut(at: URL, reason: LeftOut, message: string): Visited {
  return { type: "left_out", at, reason, message };
}

/**
 * Returns the result of a redirect that leads away. A temporary redirect may lead to a sign-in form, so the stored item
 * stays.
 */
function ledAway(at: URL, { to, why, isForGood }: LedAway, isStored: boolean): Visited {
  const message = why === "endless" ? "It redirects too many times." : `It redirects to ${to}, which kb doesn't read.`;
  return isStored && !isForGood ? { type: "failed", at, message } : { type: "away", at, message };
}

async function judge(tools: VisitTools, entry: QueueEntry, answer: PageAnswer): Promise<Visited> {
  const { url } = entry;
  const { at } = answer;
  const isMoved = at.href !== url.href;
  const isKnown = (await storedOf(tools, url)) !== undefined;
  const former = isMoved ? await tools.outcomeOf(at.href) : undefined;
  // An item may replace the stored content, but a sign-in form must not, so such a page is read each time.
  if (former !== undefined && (former !== null || !isKnown)) {
    await leave(answer);
    return { type: "nothing", at };
  }
  const stored = await storedOf(tools, at);
  const formerId = stored ? undefined : await lastKnown(tools, answer.former);
  const named = { ...entry, url: at, stored, formerId };
  const type = typeOf(answer);
  if (isHtml(type)) {
    const maxBytes = tools.facts.maxPageBytes;
    if (Number(answer.headers.get("content-length") ?? 0) > maxBytes) {
      await leave(answer);
      return leftOut(url, "too_large", "The page is too large.");
    }
    const bytes = await readBody(answer, maxBytes);
    const html = decodePage(bytes, answer.headers.get("content-type"));
    const page = await readPage(html, tools.ctx.config.userAgent, answer.headers.get("x-robots-tag"));
    return judgePage(tools, { ...named, isKnown }, answer, { ...page, html });
  }
  await leave(answer);
  return judgeDocument(tools, named, answer, type);
}

/** Returns the previous address under which a page was stored. */
async function lastKnown({ ctx }: VisitTools, former: readonly URL[]): Promise<string | undefined> {
  for (const { href } of former) if ((await ctx.stored.version(href)) !== undefined) return href;
  return undefined;
}

type Named = QueueEntry & { stored: PageVersion | undefined; formerId: string | undefined };

async function judgePage(
  tools: VisitTools,
  { url: at, depth, lastmod, stored, formerId, isKnown }: Named & { isKnown: boolean },
  { headers }: PageAnswer,
  page: PageFacts & { html: string },
): Promise<Visited> {
  const { ctx, facts, robots, scope } = tools;
  const base = page.base !== undefined && canParseUrl(page.base, at.href) ? new URL(page.base, at) : at;
  const toUrl = (href: string | undefined) => (href === undefined ? undefined : pageUrl(href, base, facts.site));
  const refresh = toUrl(page.refresh);
  // If pages lead to each other in a cycle, the last one is the item.
  if (refresh && refresh.href !== at.href && (await tools.outcomeOf(refresh.href)) !== null)
    return { type: "nothing", at, leadsTo: refresh };
  if (page.isSignIn) {
    const message = "It answers with a form to sign in.";
    return isKnown ? { type: "failed", at, message } : leftOut(at, "excluded_by_policy", message);
  }
  const { noindex, nofollow, until = Infinity } = page.rules;
  const links = nofollow ? [] : page.links.flatMap((href) => toUrl(href) ?? []);
  if (noindex || until < ctx.now())
    return { ...leftOut(at, "excluded_by_policy", "The page asks for noindex."), links };
  if (!isIn(scope, at)) return { ...leftOut(at, "excluded_by_scope", "The connector's scope leaves it out."), links };
  const canonical = toUrl(page.canonical);
  if (canonical && canonical.href !== at.href) {
    // Some programs declare the home page as the canonical page of every page.
    const isHome = canonical.pathname === facts.site.prefix && !twinsOf(canonical).includes(at.href);
    const isTaken = !isHome && isIn(scope, canonical) && robots.allows(canonical);
    if (isTaken && (await tools.outcomeOf(canonical.href)) !== null)
      return { type: "nothing", at, links, leadsTo: canonical, copyOf: canonical };
  }
  for (const twin of twinsOf(at)) {
    if ((await tools.outcomeOf(twin)) === page.hash) return { type: "nothing", at, links };
  }
  if (stored?.hash === page.hash && stored.lastmod === lastmod) return { type: "same", at, links, hash: page.hash };
  const etag = etagOf(headers);
  const lastModified = timeOf(headers.get("last-modified"));
  const version = formatVersion({
    key: facts.key,
    hash: page.hash,
    depth,
    ...defined({ etag, lastModified, lastmod }),
  });
  const updatedAt = page.modifiedAt ?? lastmod ?? lastModified;
  const item = toPage({ url: at, html: page.html, title: page.title, version, updatedAt, formerId }, facts);
  return { type: "item", at, links, item, hash: page.hash };
}

function judgeDocument(
  { ctx, facts, scope }: VisitTools,
  { url: at, depth, lastmod, stored, formerId }: Named,
  { headers }: PageAnswer,
  mimeType: string,
): Visited {
  if (!ctx.config.documents || !isDocument(mimeType)) return { type: "nothing", at };
  const rules = makeRobotsRules(ctx.config.userAgent);
  rules.addHeader(headers.get("x-robots-tag"));
  const { noindex, until = Infinity } = rules.result();
  if (noindex || until < ctx.now()) return leftOut(at, "excluded_by_policy", "The document asks for noindex.");
  if (!isIn(scope, at)) return leftOut(at, "excluded_by_scope", "The connector's scope leaves it out.");
  if (isSecretName(at)) return leftOut(at, "excluded_by_policy", "The name suggests keys or passwords.");
  const size = /^\d{1,15}$/.exec(headers.get("content-length") ?? "")?.[0];
  const isPacked = headers.has("content-encoding");
  if (!isPacked && Number(size ?? 0) > facts.maxFileBytes) {
    return leftOut(at, "too_large", "It is larger than the connector's limit.");
  }
  const declared = versionOfDocument(headers, facts.key, depth);
  const isSame =
    declared && stored?.hash === FILE && stored.etag === declared.etag && stored.lastModified === declared.lastModified;
  if (isSame) return { type: "same", at, hash: FILE };
  const version = declared && formatVersion({ ...declared, ...defined({ lastmod }) });
  const updatedAt = lastmod ?? timeOf(headers.get("last-modified"));
  const found = { url: at, version, updatedAt, formerId, mimeType, size: isPacked || !size ? undefined : Number(size) };
  return { type: "item", at, item: toDocument(found, facts), hash: FILE };
}

/**
 * Returns the version of a document; undefined if the server reports no version, in which case the document is read in
 * every run.
 */
export function versionOfDocument(headers: Headers, key: string, depth: number): PageVersion | undefined {
  const etag = etagOf(headers);
  const lastModified = timeOf(headers.get("last-modified"));
  if (etag === undefined && lastModified === undefined) return undefined;
  return { key, hash: FILE, depth, ...defined({ etag, lastModified }) };
}

/** Returns a valid ETag that can be sent back. Source: RFC 9110 §8.8.3. */
function etagOf(headers: Headers): string | undefined {
  return /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/.exec(headers.get("etag") ?? "")?.[0];
}

/** Returns the server's type if it is meaningful. */
export function typeOf({ headers, at }: Pick<PageAnswer, "headers" | "at">): string {
  const declared = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isSpecific = /^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== UNKNOWN;
  const name = at.pathname.slice(at.pathname.lastIndexOf("/") + 1);
  const hint = mimeHintOf(name);
  // Servers use `text/plain` for types that they don't know.
  if (declared === "text/plain" && hint !== undefined && isDocument(hint)) return hint;
  if (isSpecific) return declared;
  return hint ?? (declared === UNKNOWN ? declared : "text/html");
}

const UNKNOWN = "application/octet-stream";

export function isSecretName({ pathname }: URL): boolean {
  return isSecretFile(pathname.slice(pathname.lastIndexOf("/") + 1));
}

export function isIn(scope: CompiledScope, url: URL): boolean {
  const path = scopePath(url);
  return !scope.excludes(path, false) && scope.includes(path);
}
