import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import { failedSkip } from "#sources/failures.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import type { Entry, SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import type { Outcome, Skip } from "#sources/outcomes.ts";
import type { FilesystemConfig, Places } from "./config.ts";
import { countFiles } from "./count.ts";
import type { JudgeOptions } from "./judge.ts";
import { toItem, versionOf, type FileFacts } from "./map.ts";
import { openFolderInside } from "./open-inside.ts";
import { isCleanRelativePath, openRoot, type RootFolder } from "./root.ts";
import { findEntry, walk, type WalkEntry } from "./walk.ts";

/**
 * The cursor keeps only the root's identity. A folder has no trustworthy change feed, so every run walks through all of
 * it.
 */
const Cursor = z.object({
  /** `dev:inode` of the root. */
  root: z.string(),
});
type Cursor = z.infer<typeof Cursor>;

/** Everything up to this id, in the order of the walk, was named. */
const Checkpoint = Cursor.extend({ after: z.string() });
type Checkpoint = z.infer<typeof Checkpoint>;

/**
 * Sessions of a folder. `full` and `incremental` do the same walk, in sorted order. `items` checks only the requested
 * ids.
 *
 * @throws ApiError `root_not_allowed`, `connector_scope_invalid`; `source_unavailable` if the root can't be read, if it
 * is a different folder at the end than at the beginning, or if it is empty and not the same folder as in the last run
 * (not mounted): an unreadable root must never be treated as "everything deleted"
 */
export function filesystemSessions(places: Places): SessionSpec<FilesystemConfig, Cursor, Checkpoint> {
  return {
    cursor: Cursor,
    checkpoint: Checkpoint,
    async open(ctx, { scope, feed, left }) {
      const { config, connector } = ctx;
      const root = await openRoot(config.root, places);
      const isPrivate = connector.visibility === "private";
      const tools: Tools = { ctx, places, options: { root, config, scope: compileScope(scope), isPrivate } };
      // Single items need this check too: if the disk was unmounted after the request, each of them would seem deleted.
      await refuseEmptyStranger(root, [left, feed]);
      return {
        walk: (run) => walkFolder(tools, run),
        async *read(externalIds) {
          for (const externalId of externalIds) yield* judgeOne(tools, externalId);
        },
      };
    },
  };
}

interface Tools {
  ctx: SyncContext<FilesystemConfig>;
  options: JudgeOptions;
  places: Places;
}

async function* walkFolder(
  { ctx, options, places }: Tools,
  { resume }: WalkRequest<Cursor, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>> {
  const root = options.root.identity;
  const total = countBeside(ctx, options);
  const { signal, now } = ctx;
  // If the root is another folder, nothing in it has been named yet.
  const after = resume?.root === root ? resume.after : null;
  try {
    for await (const page of walk(options, { after, signal, now })) {
      const found = page.filter((step) => step.type !== "folder");
      yield {
        t: "page",
        entries: found.map((entry) => (entry.type === "file" ? toEntry(ctx, entry) : leftOut(entry))),
        listings: page.length - found.length,
        total: total.value(),
        checkpoint: { root, after: page.at(-1)?.rel ?? "" },
        within: (count) => ({ root, after: found[count - 1]?.rel ?? "" }),
      };
    }
  } finally {
    await total.stop();
  }
  if (!signal.aborted) await refuseExchangedRoot(ctx.config, places, options.root);
  return { complete: true, cursor: { root }, permissions: "current" };
}

/** Counts the files during the walk. `stop` ends the count and waits until the count has closed its folder. */
function countBeside(ctx: SourceContext<FilesystemConfig>, options: JudgeOptions) {
  const stopping = new AbortController();
  let total: number | undefined;
  const counted = countFiles(options, AbortSignal.any([ctx.signal, stopping.signal])).then(
    (files) => void (total = files),
    (error: unknown) => ctx.log("counting the files failed; progress has no total", { error: String(error) }),
  );
  return {
    value: () => total,
    async stop(): Promise<void> {
      stopping.abort();
      await counted;
    },
  };
}

async function* judgeOne({ ctx, options }: Tools, externalId: string): AsyncGenerator<Outcome, void> {
  const entry = isCleanRelativePath(externalId) ? await findEntry(options, externalId) : undefined;
  // The requested id is excluded by its own rule or by a folder above it, and is reported as skipped.
  if (entry !== undefined) {
    yield entry.type === "file"
      ? { t: "upsert", item: toItem(factsOf(ctx, entry)) }
      : skipOf({ ...entry, rel: externalId });
    return;
  }
  yield { t: "delete", externalId };
  const folder = { type: "folder", id: externalId } as const;
  const below = await ctx.stored.list(folder)[Symbol.asyncIterator]().next();
  if (!below.done) yield { t: "delete_container", ...folder };
}

type FileEntry = Extract<WalkEntry, { type: "file" }>;
type LeftOut = Exclude<WalkEntry, { type: "file" }>;

function toEntry(ctx: SourceContext<FilesystemConfig>, entry: FileEntry): Entry {
  const facts = factsOf(ctx, entry);
  return { externalId: entry.rel, version: versionOf(facts), build: () => toItem(facts) };
}

/**
 * Builds the events for a path that can't be accessed. It may be a file or a folder, and the stored items of either
 * stay.
 */
function leftOut(entry: LeftOut): Outcome {
  if (entry.type === "refused") return skipOf(entry);
  const { rel, message } = entry;
  return { t: "failed", what: { container: { type: "folder", id: rel } }, message, as: rel };
}

function skipOf(entry: LeftOut): Skip {
  if (entry.type === "failed") return failedSkip(entry.rel, entry.message);
  return { t: "skip", externalId: entry.rel, ...entry.refusal, retryable: false };
}

function factsOf({ connector, config, now }: SourceContext<FilesystemConfig>, entry: FileEntry): FileFacts {
  const isOwnersOnly = entry.isRestricted && connector.visibility === "private";
  return {
    rel: entry.rel,
    stats: entry.stats,
    connectorName: connector.name,
    maxFileBytes: maxFileBytes(config),
    readsArchives: config.archives,
    nowMs: now(),
    ...(isOwnersOnly && { onlyReader: connector.owner ?? "nobody" }),
  };
}

/**
 * Refuses an empty root that is another folder than before.
 * @param before  positions of the last interrupted run, and of the last run that finished
 */
async function refuseEmptyStranger(root: RootFolder, before: readonly (Cursor | undefined)[]): Promise<void> {
  if (before.every((each) => each === undefined || each.root === root.identity)) return;
  const folder = await openFolderInside(root, "");
  try {
    if ((await folder.names()).length > 0) return;
  } finally {
    await folder.close();
  }
  throw new ApiError("source_unavailable", {
    message: `${root.path} is empty and not the folder of the last sync. Check that it is mounted. Nothing was removed.`,
    field: "root",
  });
}

async function refuseExchangedRoot(config: FilesystemConfig, places: Places, before: RootFolder): Promise<void> {
  const now = await openRoot(config.root, places);
  if (now.identity === before.identity) return;
  throw new ApiError("source_unavailable", {
    message: `${before.path} was replaced by another folder during the sync. Nothing was removed.`,
    field: "root",
  });
}
