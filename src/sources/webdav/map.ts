import { timeOf } from "#sources/times.ts";
import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import type { Principal } from "#core/principals.ts";
import type { ContainerRef, SourceItem } from "#sources/item.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { inUrl, lastSegmentOf, plainPath, segmentsOf } from "#sources/file-scope/paths.ts";
import { type DavEntry } from "./client.ts";
import { baseOf, configKey, type WebdavConfig } from "./config.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { foldersOf, readableName } from "#sources/file-scope/folders.ts";
import { readersGroup } from "#sources/file-scope/readers.ts";

/** Values shared by all items of a connector. */
export interface CollectionFacts {
  base: URL;
  /** The name of the folder, or of the server. */
  place: string;
  configKey: string;
  maxFileBytes: number;
  readsArchives: boolean;
  readers: Principal;
}

export function factsOf(config: WebdavConfig, connectorId: string): CollectionFacts {
  const base = baseOf(config);
  const name = base.pathname.split("/").at(-2) ?? "";
  return {
    base,
    place: name === "" ? base.host : readableName(decoded(name)),
    configKey: configKey(config),
    maxFileBytes: maxFileBytes(config),
    readsArchives: config.archives,
    readers: readersGroup(connectorId),
  };
}

type Stamp = Pick<DavEntry, "etag" | "size" | "modifiedAt">;

/**
 * The age from which a timestamp is final. Without an ETag, timestamps have a resolution of one second, and an edit
 * within the same second changes nothing visible.
 */
const SETTLED_AFTER_MS = 2_000;

/**
 * Returns the ETag, or the size and time if there is none; undefined if the server reports neither. The next run checks
 * recently written files once more.
 */
export function versionOf({ etag, size, modifiedAt }: Stamp, now: number, key: string): string | undefined {
  if (etag !== undefined) return `${etag.replace(/^W\//, "").replace(/^"|"$/g, "")}:${key}`;
  if (size === undefined || modifiedAt === undefined) return undefined;
  return `${size}:${modifiedAt}${modifiedAt > now - SETTLED_AFTER_MS ? ":new" : ""}:${key}`;
}

/** Returns the version of a download. */
export function versionOfDownload(headers: Headers, now: number, key: string): string | undefined {
  const size = Number(headers.get("content-length") ?? Number.NaN);
  const stamp = {
    etag: headers.get("etag") ?? undefined,
    size: Number.isNaN(size) ? undefined : size,
    modifiedAt: timeOf(headers.get("last-modified")),
  };
  return versionOf(defined(stamp), timeOf(headers.get("date")) ?? now, key);
}

/** Builds the item of a file. Its readers are one group, regardless of the server's own permissions. */
export function toItem(entry: DavEntry, now: number, facts: CollectionFacts): SourceItem {
  const { rel, size, stableId, createdAt, modifiedAt } = entry;
  const segments = segmentsOf(rel);
  const name = segments.pop() ?? rel;
  const mimeType = typeOf(entry);
  const version = versionOf(entry, now, facts.configKey);
  return {
    externalId: rel,
    kind: "file",
    title: readableName(name),
    hasFileTitle: true,
    url: addressOf(entry, facts),
    place: facts.place,
    path: segments.map(readableName),
    ...defined({ identityHint: stableId, version, mimeType, size, createdAt, updatedAt: modifiedAt }),
    containers: foldersOf(segments, readableName),
    content: contentOf(entry, mimeType, facts),
    access: { known: true, all: [[facts.readers]] },
  };
}

export function folderRef(rel: string): ContainerRef {
  return { type: "folder", id: rel };
}

/** Returns the server's type if it is meaningful. Extraction checks the bytes. */
export function typeOf({ rel, mimeType }: Pick<DavEntry, "rel" | "mimeType">): string | undefined {
  const declared = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isSpecific = /^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== "application/octet-stream";
  return mimeHintOf(plainPath(lastSegmentOf(rel))) ?? (isSpecific ? declared : undefined);
}

/** Returns the web address of a file if the server has a page for it, otherwise the address of the file itself. */
function addressOf({ rel, fileId }: DavEntry, { base }: CollectionFacts): string {
  const webdav = base.href.indexOf("/remote.php/");
  if (fileId !== undefined && webdav !== -1) return `${base.href.slice(0, webdav)}/index.php/f/${fileId}`;
  return `${base.href}${inUrl(rel)}`;
}

function contentOf(
  { size }: DavEntry,
  mimeType: string | undefined,
  { readsArchives, maxFileBytes: most }: CollectionFacts,
): SourceItem["content"] {
  if (size === 0) return none("empty");
  if (hasNoText(mimeType, readsArchives)) return none("unsupported_type");
  return size !== undefined && size > most ? none("too_large") : { type: "fetch" };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
