import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import type { Principal } from "#core/principals.ts";
import type { ContainerRef, SourceContainer, SourceItem } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { foldersOf, readableName } from "#sources/file-scope/folders.ts";
import { readersGroup } from "#sources/file-scope/readers.ts";
import { configKey, type Site, siteOf, type WebConfig } from "./config.ts";
import { segmentsOf } from "./urls.ts";

/** Values shared by all items of a connector. */
export interface SiteFacts {
  site: Site;
  key: string;
  readers: Principal;
  maxFileBytes: number;
  maxPageBytes: number;
}

/** The most bytes of a page. A larger page contains data, or is a trap. */
const MAX_PAGE_BYTES = 8 * 1_024 * 1_024;

export function factsOf(config: WebConfig, connectorId: string): SiteFacts {
  const most = maxFileBytes(config);
  return {
    site: siteOf(config),
    key: configKey(config),
    readers: readersGroup(connectorId),
    maxFileBytes: most,
    maxPageBytes: Math.min(most, MAX_PAGE_BYTES),
  };
}

/** The container of all items of a site. */
export const WHOLE_SITE: ContainerRef = { type: "folder", id: "/" };

interface Found {
  url: URL;
  version: string | undefined;
  updatedAt: number | undefined;
  formerId: string | undefined;
}

export function toPage(found: Found & { html: string; title: string | undefined }, facts: SiteFacts): SourceItem {
  const { html, title } = found;
  return {
    ...placed(found, facts),
    kind: "page",
    title: title ?? lastName(found.url, facts.site),
    mimeType: "text/html",
    size: Buffer.byteLength(html),
    content: html.trim() === "" ? none("empty") : { type: "inline", text: html },
  };
}

export function toDocument(
  found: Found & { mimeType: string; size: number | undefined },
  facts: SiteFacts,
): SourceItem {
  const { mimeType, size } = found;
  return {
    ...placed(found, facts),
    kind: "file",
    title: lastName(found.url, facts.site),
    hasFileTitle: true,
    mimeType,
    ...defined({ size }),
    content: size === 0 ? none("empty") : { type: "fetch" },
  };
}

function placed({ url, version, updatedAt, formerId }: Found, { site, readers }: SiteFacts) {
  const folders = segmentsOf(url);
  if (!url.pathname.endsWith("/")) folders.pop();
  return {
    externalId: url.href,
    url: url.href,
    place: site.host,
    path: folders.map(readableName),
    containers: containersOf(folders, site),
    access: { known: true as const, all: [[readers]] },
    ...defined({ version, updatedAt, formerId }),
  };
}

/** Returns the containers: the site, and the path segments below it. */
function containersOf(folders: readonly string[], { host }: Site): SourceContainer[] {
  const whole: SourceContainer = { ...WHOLE_SITE, name: host, isHome: true };
  const below = foldersOf(folders, readableName).map((folder) => ({ parentId: WHOLE_SITE.id, ...folder }));
  return [whole, ...below];
}

/** Returns the name of a page according to its address. */
export function lastName(url: URL, { host }: Pick<Site, "host">): string {
  const name = segmentsOf(url).at(-1);
  return name === undefined ? host : readableName(name);
}
