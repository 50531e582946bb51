import { unavailable } from "#sources/errors.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import { type Site, siteOf, type WebConfig } from "./config.ts";
import { WHOLE_SITE } from "./map.ts";
import type { QueueEntry } from "./queue.ts";
import type { Robots } from "./robots.ts";
import { readSitemaps, type Sitemaps } from "./sitemap.ts";
import { pageUrl } from "./urls.ts";
import { parseVersion } from "./version.ts";

/** The pages and the method with which a run begins. */
export interface Seeds {
  /** `links`: pages are found by the links of other pages. */
  by: "sitemap" | "links";
  entries: readonly QueueEntry[];
  /** Sitemaps that could not be read. */
  failed: Sitemaps["failed"];
  sitemaps?: Sitemaps;
}

/**
 * Finds the pages to begin with, according to the config.
 *
 * @throws ApiError `source_unavailable` if the sitemap that the config requires is empty, so that an emptied sitemap
 * removes nothing
 */
export async function findSeeds(
  ctx: Pick<SourceContext<WebConfig>, "config" | "http" | "signal">,
  robots: Robots,
  most: number,
): Promise<Seeds> {
  const { mode } = ctx.config;
  const site = siteOf(ctx.config);
  const start = startOf(site);
  const links: Seeds = { by: "links", entries: [{ url: start, depth: 0 }], failed: [] };
  if (mode === "crawl") return links;
  const sitemaps = await readSitemaps(ctx, robots, most);
  const pages = sitemaps.pages ?? [];
  if (pages.length > 0) {
    const entries = pages.map((page) => ({ ...page, depth: 0 }));
    return { by: "sitemap", entries, failed: sitemaps.failed, sitemaps };
  }
  if (mode === "auto") return { ...links, failed: sitemaps.failed, sitemaps };
  const what =
    sitemaps.pages === undefined
      ? "has no sitemap that kb can find"
      : `has no page below ${site.prefix} in its sitemap`;
  throw unavailable(`${site.host} ${what}.`, 200);
}

/** Returns the address of the config in the form of ids. */
export function startOf(site: Site): URL {
  return pageUrl(site.start.href, site.start, site) ?? site.start;
}

/** Yields all stored pages, which are visited one by one. */
export async function* storedEntries(
  { stored }: Pick<SyncContext<WebConfig>, "stored">,
  site: Site,
  key: string,
): AsyncGenerator<QueueEntry, void> {
  for await (const { externalId, version } of stored.list(WHOLE_SITE)) {
    const url = pageUrl(externalId, site.start, site);
    if (url?.href === externalId) yield { url, depth: parseVersion(version, key)?.depth ?? 0 };
  }
}
