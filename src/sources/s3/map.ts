import { timeOf } from "#sources/times.ts";
import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceContainer, SourceItem } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { readersGroup } from "#sources/file-scope/readers.ts";
import { etagOf, type S3Object, sizeOf } from "./client.ts";
import { configKey, type S3Config } from "./config.ts";
import { nameOf } from "./keys.ts";

/** Values shared by all items of a connector. */
export interface BucketFacts {
  config: S3Config;
  configKey: string;
  maxFileBytes: number;
  readers: Principal;
  now(): number;
}

export function factsOf(config: S3Config, connectorId: string, now: () => number): BucketFacts {
  return {
    config,
    configKey: configKey(config),
    maxFileBytes: maxFileBytes(config),
    readers: readersGroup(connectorId),
    now,
  };
}

/** Returns the ETag, the size and the time of the last change. Copying an object onto itself changes only the time. */
export function versionOf(object: S3Object, facts: BucketFacts): string | undefined {
  const { etag, size, modifiedAt } = object;
  if (etag === undefined) return undefined;
  const archived = archivedIn(object, facts.now()) === undefined ? "" : ":archived";
  return `${bytesOf(etag, size)}${modifiedAt ?? ""}${archived}:${facts.configKey}`;
}

/** Returns the version of a download. Its time may be less precise than in the listing, but the bytes are the same. */
export function versionOfDownload(headers: Headers, listed: string | undefined, key: string): string | undefined {
  const etag = etagOf(headers.get("etag"));
  if (etag === undefined) return undefined;
  const bytes = bytesOf(etag, sizeOf(headers.get("content-length")));
  if (listed?.startsWith(bytes)) return listed;
  return `${bytes}${timeOf(headers.get("last-modified")) ?? ""}:${key}`;
}

function bytesOf(etag: string, size: number | undefined): string {
  return `${etag}:${size ?? ""}:`;
}

/** Builds the item of an object. Its readers are one group, regardless of the bucket's policies. */
export function toItem(object: S3Object, facts: BucketFacts): SourceItem {
  const { key, size, modifiedAt } = object;
  const segments = key.split("/");
  const name = segments.pop() ?? key;
  const { config } = facts;
  const mimeType = mimeHintOf(name);
  return {
    externalId: key,
    kind: "file",
    title: readableName(name),
    hasFileTitle: true,
    place: config.bucket,
    path: segments.map(readableName),
    ...defined({
      url: addressOf(key, config),
      version: versionOf(object, facts),
      mimeType,
      size,
      updatedAt: modifiedAt,
    }),
    containers: foldersOf(segments),
    content: contentOf(object, mimeType, facts),
    access: { known: true, all: [[facts.readers]] },
  };
}

/** Returns folders identified by the prefix of their keys: a name can be empty, but an id never is. */
function foldersOf(segments: readonly string[]): SourceContainer[] {
  return segments.map((segment, depth) => {
    const at = (end: number) => `${segments.slice(0, end).join("/")}/`;
    const parent = depth === 0 ? {} : { parentId: at(depth) };
    return { type: "folder", id: at(depth + 1), name: readableName(segment), isHome: true, ...parent };
  });
}

/** Returns the type according to the name, or otherwise the store's type if it is meaningful. */
export function typeOf(key: string, declared: string | null): string | undefined {
  const type = declared?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isSpecific = /^[\w.+-]+\/[\w.+-]+$/.test(type) && !/^(application|binary)\/octet-stream$/.test(type);
  return mimeHintOf(nameOf(key)) ?? (isSpecific ? type : undefined);
}

/** Returns the object's page in Amazon's console. The consoles of other stores are unknown. */
function addressOf(key: string, { endpoint, region, bucket }: S3Config): string | undefined {
  if (endpoint !== undefined) return undefined;
  const console = region.startsWith("cn-") ? "console.amazonaws.cn" : `${region}.console.aws.amazon.com`;
  return `https://${console}/s3/object/${bucket}?region=${region}&prefix=${encodeURIComponent(key)}`;
}

function contentOf(
  object: S3Object,
  mimeType: string | undefined,
  { config, maxFileBytes: most, now }: BucketFacts,
): SourceItem["content"] {
  const { size } = object;
  if (size === 0) return none("empty");
  if (hasNoText(mimeType, config.archives)) return none("unsupported_type");
  if (size !== undefined && size > most) return none("too_large");
  const archive = archivedIn(object, now());
  if (archive === undefined) return { type: "fetch" };
  const message = `The object is archived (${archive}). Restore it so that kb can read it.`;
  return { type: "none", reason: "unsupported_type", message };
}

/** Storage classes whose objects can't be read until they are restored. */
const ARCHIVES: ReadonlySet<string> = new Set(["GLACIER", "DEEP_ARCHIVE"]);

export function archivedIn({ storageClass, restoredUntil }: S3Object, now: number): string | undefined {
  if (storageClass === undefined || !ARCHIVES.has(storageClass)) return undefined;
  return restoredUntil !== undefined && restoredUntil > now ? undefined : storageClass;
}
