/** The data in an item's version: whether it changed, and its validators. */
export interface PageVersion {
  /** Of the config. */
  key: string;
  /** Of the visible content; `FILE` for a document, whose bytes were not read. */
  hash: string;
  /** Links from the start. */
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

/** Undefined if it isn't a version of this config: such a page is read again. */
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
