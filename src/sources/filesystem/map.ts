import { none } from "#sources/contents.ts";
import type { BigIntStats } from "node:fs";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { foldersOf } from "#sources/file-scope/folders.ts";
import { readableSegment, segmentsOf } from "#sources/file-scope/paths.ts";

/** The data that an item is made of. */
export interface FileFacts {
  rel: string;
  stats: BigIntStats;
  connectorName: string;
  maxFileBytes: number;
  readsArchives: boolean;
  nowMs: number;
  /** The one reader of a restricted file, `nobody` if unknown; absent = everyone the connector is for. */
  onlyReader?: Principal | "nobody";
}

/** A file system may record time in steps of two seconds (FAT): an edit within a step changes no timestamp. */
const SETTLED_AFTER_MS = 2_000;

/**
 * `inode:size:mtime in ns`. A file written within the last 2 s gets `:new` after it: the next walk then finds another
 * version and reads it once more, so an edit that left no other trace isn't missed; equal text isn't indexed again. The
 * one reader of a restricted file is part of it: a change of permissions alone changes no timestamp, and is a new
 * access.
 */
export function versionOf({ stats, nowMs, onlyReader }: Pick<FileFacts, "stats" | "nowMs" | "onlyReader">): string {
  const version = `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
  const reader = onlyReader === undefined ? "" : `:${onlyReader}`;
  return `${version}${Number(stats.mtimeMs) > nowMs - SETTLED_AFTER_MS ? ":new" : ""}${reader}`;
}

/**
 * The version of a file that is read, given its listed version: the reader of a restricted file can't be derived from
 * the file alone, and stays as listed.
 */
export function versionRead(stats: BigIntStats, nowMs: number, listed: string): string {
  const reader = /^\d+:\d+:\d+(?::new)?(:.+)?$/.exec(listed)?.[1] ?? "";
  return `${versionOf({ stats, nowMs })}${reader}`;
}

/**
 * The item of a file. Ids keep the names as the system returns them; names that people read are in composed form (NFC).
 * The file system's own permissions aren't mirrored: the connector's access decides, so the item says `workspace` and
 * the engine adds the connector's group. A restricted file names its one reader itself: when the connector is opened to
 * others, it is closed to them from the first moment, not from the next run on. Source: S5, S19.
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
    // With a second link the old name may still exist, and both are items.
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

/** A copy keeps its modification time and has a later birth time: then the earlier of the two is shown. */
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
