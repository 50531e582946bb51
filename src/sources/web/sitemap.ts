import { defined } from "#core/defined.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { type ApiError, isApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import { siteOf, type WebConfig } from "./config.ts";
import type { Robots } from "./robots.ts";
import { type Budget, readSitemap } from "./sitemap-xml.ts";
import { pageUrl, sameOrigin } from "./urls.ts";

/** A page in a sitemap. */
export interface SitemapPage {
  url: URL;
  lastmod?: number;
}

/** The contents of a site's sitemaps. */
export interface Sitemaps {
  /** Undefined if the site has no sitemap. */
  pages: SitemapPage[] | undefined;
  /** Sitemaps that could not be read. Pages that are listed only in these sitemaps are unknown. */
  failed: readonly { url: string; message: string }[];
  /** Hosts of listed pages that don't belong to this site. */
  others: readonly string[];
  /** Hosts of this site's sitemaps that aren't read, because they are on another origin. */
  sitemapsElsewhere: readonly string[];
  /** True = there were more pages than requested. */
  isCut: boolean;
}

/** The most levels of nested sitemaps: an index, or an index of indexes. */
const MAX_NESTING = 2;
const MAX_FILES = 500;
/** The most decompressed bytes of all sitemaps of a site together. */
const MAX_BYTES = 200 * 1_024 * 1_024;
const MAX_MS = 600_000;
const MAX_OTHERS = 5;

type Context = Pick<SourceContext<WebConfig>, "config" | "http" | "signal">;

/**
 * Returns the pages of the site in its sitemaps, each once, in order, up to a maximum number. Sitemaps of other origins
 * aren't read. A sitemap that fails is reported. If no sitemap is left and the config uses only sitemaps, its error is
 * thrown.
 *
 * @throws ApiError `source_unavailable`, `source_unauthorized`
 */
export async function readSitemaps(ctx: Context, robots: Robots, most: number): Promise<Sitemaps> {
  const site = siteOf(ctx.config);
  const budget: Budget = { left: MAX_BYTES, until: performance.now() + MAX_MS };
  const pages = new Map<string, SitemapPage>();
  const others = new Set<string>();
  const elsewhere = new Set<string>();
  const failed: { url: string; message: string; error: ApiError }[] = [];
  const files = new Map<string, Candidate>();
  const named = robots.sitemaps.flatMap((text) => {
    const url = sameOrigin(text, site.start, site);
    if (url === undefined) noteOther(text, site.origin, elsewhere);
    return url ?? [];
  });
  for (const url of named) files.set(url.href, { url, depth: 0, isGuess: false });
  if (named.length === 0) {
    for (const path of new Set([`${site.prefix}sitemap.xml`, "/sitemap.xml"])) {
      const url = new URL(path, site.origin);
      files.set(url.href, { url, depth: 0, isGuess: true });
    }
  }
  let hasOne = false;
  let isCut = false;
  for (const file of files.values()) {
    ctx.signal.throwIfAborted();
    if (isCut || (file.isGuess && hasOne)) break;
    if (!robots.allows(file.url)) continue;
    try {
      for await (const { type, loc, lastmod } of fetchSitemap(ctx, file.url, budget)) {
        hasOne = true;
        const url = type === "page" ? pageUrl(loc, file.url, site) : sameOrigin(loc, file.url, site);
        if (url === undefined) noteOther(loc, site.origin, type === "page" ? others : elsewhere);
        else if (type === "page") pages.set(url.href, { url, ...defined({ lastmod }) });
        else if (file.depth < MAX_NESTING && files.size < MAX_FILES && !files.has(url.href)) {
          files.set(url.href, { url, depth: file.depth + 1, isGuess: false });
        }
        isCut = pages.size >= most || files.size >= MAX_FILES;
        if (pages.size >= most) break;
      }
      hasOne = true;
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (!isApiError(error) || THROWN.has(error.code)) throw error;
      const isAbsent = ABSENT.has(error.code) || (file.isGuess && error.details?.["status"] === 200);
      // A guessed address that returns a page isn't a sitemap. A guessed address that fails may be one.
      if (!isAbsent || !file.isGuess) failed.push({ url: file.url.href, message: error.message, error });
    }
  }
  // If links are used as well, the site needs no sitemap.
  if (!hasOne && failed[0] !== undefined && ctx.config.mode !== "auto") throw failed[0].error;
  return {
    pages: hasOne ? [...pages.values()] : undefined,
    failed,
    others: [...others],
    sitemapsElsewhere: [...elsewhere],
    isCut,
  };
}

interface Candidate {
  url: URL;
  depth: number;
  /** True = the sitemap's address is guessed, and not listed anywhere. */
  isGuess: boolean;
}

const THROWN: ReadonlySet<string> = new Set(["source_unauthorized", "source_rate_limited", "address_not_allowed"]);
const ABSENT: ReadonlySet<string> = new Set(["source_not_found", "source_gone", "source_forbidden"]);

async function* fetchSitemap({ config, http }: Context, url: URL, budget: Budget) {
  const headers = { "user-agent": config.userAgent, accept: "application/xml, text/xml, */*;q=0.5" };
  const answer = await http.stream({ url, auth: true, maxBytes: MAX_BYTES, headers });
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{2,40})/i.exec(answer.headers.get("content-type") ?? "")?.[1];
  yield* readSitemap(answer.body, url.host, budget, charset);
}

function noteOther(loc: string, origin: string, others: Set<string>): void {
  if (!canParseUrl(loc) || others.size >= MAX_OTHERS) return;
  const other = new URL(loc);
  const host = other.host.slice(0, 200);
  // The same host with another protocol is also another origin.
  if (host !== "" && other.origin !== origin) others.add(host === new URL(origin).host ? other.origin : host);
}
