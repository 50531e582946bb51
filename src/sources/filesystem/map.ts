import { none } from "#sources/contents.ts";
import type { BigIntStats } from "node:fs";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { foldersOf } from "#sources/file-scope/folders.ts";
import { readableSegment, segmentsOf } from "#sources/file-scope/paths.ts";

/** The data from which an item is built. */
export interface FileFacts {
  rel: string;
  stats: BigIntStats;
  connectorName: string;
  maxFileBytes: number;
  readsArchives: boolean;
  nowMs: number;
  /**
   * The only reader of a restricted file, or `nobody` if the reader is unknown. Absent = everyone who can read the
   * connector.
   */
  onlyReader?: Principal | "nobody";
}

/**
 * The age from which a file's timestamp is final. A file system may record time in steps of two seconds (FAT), so an
 * edit within a step changes no timestamp.
 */
const SETTLED_AFTER_MS = 2_000;

/**
 * Returns `inode:size:mtime in ns`. The version of a file that was written within the last 2 s ends with `:new`: the
 * next walk then finds another version and reads the file once more, so an edit that left no other trace isn't missed.
 * Equal text isn't indexed again. The only reader of a restricted file is part of the version, because a permission
 * change alone changes no timestamp but does change the access.
 */
export function versionOf({ stats, nowMs, onlyReader }: Pick<FileFacts, "stats" | "nowMs" | "onlyReader">): string {
  const version = `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
  const reader = onlyReader === undefined ? "" : `:${onlyReader}`;
  return `${version}${Number(stats.mtimeMs) > nowMs - SETTLED_AFTER_MS ? ":new" : ""}${reader}`;
}

/**
 * Returns the version of a file whose content was read, from its listed version: the reader of a restricted file can't
 * be derived from the file alone, and stays the same as listed.
 */
export function versionRead(stats: BigIntStats, nowMs: number, listed: string): string {
  const reader = /^\d+:\d+:\d+(?::new)?(:.+)?$/.exec(listed)?.[1] ?? "";
  return `${versionOf({ stats, nowMs })}${reader}`;
}

/**
 * Builds the item of a file. Ids keep the names as the system returns them, and displayed names are in composed form
 * (NFC). The file system's own permissions aren't mirrored: the connector's access decides, so the item's access is
 * `workspace`, to which the engine adds the connector's group. A restricted file names its only reader itself. If the
 * connector is shared later, the file is hidden from the new readers at once, not only after the next run. Source: S5,
 * S19.
 */
export function toItem(facts: FileFacts): SourceItem {
  const { rel, stats } = facts;
  const segments = segmentsOf(rel);
  const name = readable(segments.pop() ?? rel);
  const mimeType = mimeHintOf(name);
  const updatedAt = Number(stats.mtimeMs);
  return {
    externalId: rel,
    kind: "file",
    title: name.trim() === "" ? "Untitled" : name,
    hasFileTitle: true,
    place: facts.connectorName,
    path: segments.map(readable),
    // If the file has a second link, the old name may still exist, and both names are items.
    ...(stats.nlink === 1n ? { identityHint: `${stats.dev}:${stats.ino}` } : {}),
    version: versionOf(facts),
    ...(mimeType === undefined ? {} : { mimeType }),
    size: Number(stats.size),
    createdAt: createdAt(stats, updatedAt),
    updatedAt,
    containers: foldersOf(segments, readable),
    content: contentOf(facts, mimeType),
    access: accessOf(facts),
  };
}

function accessOf({ onlyReader }: FileFacts): SourceAccess {
  return onlyReader === "nobody" ? { known: false } : { known: true, all: [[onlyReader ?? "workspace"]] };
}

/**
 * Returns the creation time. A copied file keeps its modification time but has a later birth time, so the earlier of
 * the two is used.
 */
function createdAt(stats: BigIntStats, updatedAt: number): number {
  const bornMs = Number(stats.birthtimeMs);
  return bornMs > 0 && bornMs < updatedAt ? bornMs : updatedAt;
}

function contentOf(
  { stats, maxFileBytes, readsArchives }: Pick<FileFacts, "stats" | "maxFileBytes" | "readsArchives">,
  mimeType: string | undefined,
): SourceItem["content"] {
  if (stats.size === 0n) return none("empty");
  if (hasNoText(mimeType, readsArchives)) return none("unsupported_type");
  return stats.size > BigInt(maxFileBytes) ? none("too_large") : { type: "fetch" };
}

function readable(segment: string): string {
  return readableSegment(segment).normalize("NFC");
}
