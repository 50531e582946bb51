/** The data in an item's version, which shows whether the page changed and contains its validators. */
export interface PageVersion {
  /** The key of the config. */
  key: string;
  /** Hash of the visible content; `FILE` for a document whose bytes were not read. */
  hash: string;
  /** The number of links from the start page. */
  depth: number;
  etag?: string;
  /** Epoch milliseconds, from the server and from the sitemap. */
  lastModified?: number;
  lastmod?: number;
}

export const FILE = "-";

const MAX_ETAG_CHARS = 200;

export function formatVersion({ key, hash, depth, etag, lastModified, lastmod }: PageVersion): string {
  const isKept = etag !== undefined && etag.length <= MAX_ETAG_CHARS;
  const tag = isKept ? encodeURIComponent(etag) : "";
  return [key, hash, depth, tag, lastModified ?? "", lastmod ?? ""].join(" ");
}

/** Parses a version. Undefined if it isn't a version of this config: the page is then read again. */
export function parseVersion(text: string | undefined, key: string): PageVersion | undefined {
  const [found, hash = "", depth, tag = "", lastModified = "", lastmod = ""] = text?.split(" ") ?? [];
  if (found !== key || hash === "") return undefined;
  return {
    key,
    hash,
    depth: Number(depth),
    ...(tag !== "" && { etag: decodeURIComponent(tag) }),
    ...(lastModified !== "" && { lastModified: Number(lastModified) }),
    ...(lastmod !== "" && { lastmod: Number(lastmod) }),
  };
}
