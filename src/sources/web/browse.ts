import { canParseUrl } from "#api/parse-url.ts";
import type { SourceContext } from "#sources/context.ts";
import { type BrowseAt, type Place, toBrowsePage } from "#sources/file-scope/browse-page.ts";
import { ask, readBody } from "./client.ts";
import type { WebConfig } from "./config.ts";
import { factsOf } from "./map.ts";
import { decodePage, readPage } from "./page.ts";
import { readRobots, type Robots } from "./robots.ts";
import { findSeeds } from "./seeds.ts";
import { mayBeRead, pageUrl, scopePath } from "./urls.ts";

/** The most addresses that are searched for the sections of a site. */
const MOST = 20_000;

/**
 * Lists the sections of a site by the path segments of its pages: pages in the sitemap, or pages linked from the first
 * page.
 */
export async function browseSite(ctx: SourceContext<WebConfig>, at: BrowseAt) {
  const robots = await readRobots(ctx);
  const { by, entries } = await findSeeds(ctx, robots, MOST);
  const urls = by === "sitemap" ? entries.map(({ url }) => url) : await linksOf(ctx, robots, entries[0]?.url);
  const places = new Map<string, Place>();
  const below = at.parent === null ? "" : `${at.parent}/`;
  for (const path of urls.map(scopePath)) {
    if (!path.startsWith(below)) continue;
    const [name = "", ...rest] = path.slice(below.length).split("/");
    if (name === "") continue;
    const rel = below + name;
    const isFolder = rest.length > 0 || places.get(rel)?.kind === "folder";
    places.set(rel, { rel, kind: isFolder ? "folder" : "file" });
  }
  return toBrowsePage(
    [...places.values()].sort((a, b) => (a.rel < b.rel ? -1 : 1)),
    at,
  );
}

async function linksOf(ctx: SourceContext<WebConfig>, robots: Robots, start: URL | undefined): Promise<URL[]> {
  if (start === undefined || !robots.allows(start)) return [];
  const { site, maxPageBytes: maxBytes } = factsOf(ctx.config, ctx.connector.id);
  const answer = await ask(ctx, start, { mayGo: (url) => robots.allows(url), maxBytes });
  if ("why" in answer) return [];
  const html = decodePage(await readBody(answer, maxBytes), answer.headers.get("content-type"));
  const { links, base = "" } = await readPage(html, ctx.config.userAgent, null);
  const from = canParseUrl(base, answer.at.href) ? new URL(base, answer.at) : answer.at;
  const found = links.flatMap((href) => pageUrl(href, from, site) ?? []);
  return [answer.at, ...found].filter((url) => mayBeRead(url, ctx.config.documents));
}
