import type { ApiError } from "#api/errors.ts";
import { lastSegmentOf, plainPath, segmentsOf } from "#sources/file-scope/paths.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import type { CompiledScope } from "#sources/file-scope/scope.ts";
import { type DavClient, type DavEntry, isOfOneThing } from "./client.ts";

/** The steps of a walk, in the order of the ids. */
export type WalkStep =
  | { type: "file"; entry: DavEntry; now: number }
  | { type: "left_out"; rel: string; isFolder: boolean; reason: LeftOut }
  /** Could not be read. `code`: the server refuses it. */
  | { type: "failed"; rel: string; isFolder: boolean; error?: ApiError }
  /** Everything before this folder was reported. */
  | { type: "folder"; rel: string };

export type LeftOut = "excluded_by_scope" | "excluded_by_policy" | "too_deep";

export interface WalkOptions {
  client: Pick<DavClient, "list">;
  scope: CompiledScope;
  secretFiles: boolean;
  signal: AbortSignal;
  /** Only what comes after this id. */
  after: string | null;
}

/** A deeper folder isn't a person's, but one that leads into itself. */
const MAX_FOLDERS_DEEP = 48;
/** If this many folders in a row fail, the server is failing. */
const MAX_FAILURES_IN_A_ROW = 20;

/**
 * Everything below the collection, each once, in ascending order of the ids: a folder is requested when its turn comes.
 * A folder that fails is reported and skipped; the collection itself, or many in a row, end the walk with the failure.
 */
export async function* walk(options: WalkOptions): AsyncGenerator<WalkStep, void> {
  yield* walkFolder(options, "", { ids: [], failures: { inARow: 0 } });
}

interface Way {
  /** Stable ids of the folders above. */
  ids: readonly string[];
  failures: { inARow: number };
}

async function* walkFolder(options: WalkOptions, rel: string, way: Way): AsyncGenerator<WalkStep, void> {
  options.signal.throwIfAborted();
  const listing = await listOrFail(options, rel, way.failures);
  if ("error" in listing) {
    yield { type: "failed", rel, isFolder: true, error: listing.error };
    return;
  }
  const { self, entries, failed, now } = listing;
  const { after } = options;
  const isAfter = (id: string) => after === null || id > after;
  if (rel !== "" && isAfter(`${rel}/`)) yield { type: "folder", rel };
  // It can be either; both ids stay as they are.
  for (const each of failed) if (isAfter(each)) yield { type: "failed", rel: each, isFolder: false };
  const ids = self.stableId === undefined ? way.ids : [...way.ids, self.stableId];
  for (const entry of inOrder(entries)) {
    if (!entry.isFolder) {
      if (isAfter(entry.rel)) yield judgeFile(options, entry, now);
      continue;
    }
    const prefix = `${entry.rel}/`;
    const isOver = after !== null && after > prefix && !after.startsWith(prefix);
    if (isOver) continue;
    const reason = whyNotEntered(options, entry, ids);
    if (reason === undefined) yield* walkFolder(options, entry.rel, { ...way, ids });
    else if (isAfter(prefix)) yield { type: "left_out", rel: entry.rel, isFolder: true, reason };
  }
}

async function listOrFail({ client }: WalkOptions, rel: string, failures: Way["failures"]) {
  try {
    const listing = await client.list(rel);
    failures.inARow = 0;
    return listing;
  } catch (error) {
    if (rel === "" || !isOfOneThing(error) || ++failures.inARow >= MAX_FAILURES_IN_A_ROW) throw error;
    return { error };
  }
}

/** Sorted like the ids of all their contents: a folder is its prefix. */
function inOrder(entries: readonly DavEntry[]): DavEntry[] {
  const keyed = entries.map((entry) => ({ entry, key: entry.isFolder ? `${entry.rel}/` : entry.rel }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => entry);
}

function judgeFile(options: Pick<WalkOptions, "scope" | "secretFiles">, entry: DavEntry, now: number): WalkStep {
  const reason = whyLeftOut(options, entry.rel);
  if (reason !== undefined) return { type: "left_out", rel: entry.rel, isFolder: false, reason };
  return { type: "file", entry, now };
}

/** Why a file isn't an item; undefined when it is one. */
export function whyLeftOut(
  { scope, secretFiles }: Pick<WalkOptions, "scope" | "secretFiles">,
  rel: string,
): LeftOut | undefined {
  if (scope.excludes(rel, false) || !scope.includes(rel)) return "excluded_by_scope";
  return !secretFiles && isSecretFile(plainPath(lastSegmentOf(rel))) ? "excluded_by_policy" : undefined;
}

function whyNotEntered({ scope }: WalkOptions, { rel, stableId }: DavEntry, above: readonly string[]) {
  if (scope.excludes(rel, true) || !scope.mayContainIncluded(rel)) return "excluded_by_scope";
  const isLoop = stableId !== undefined && above.includes(stableId);
  return isLoop || segmentsOf(rel).length > MAX_FOLDERS_DEEP ? "too_deep" : undefined;
}
