import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceContext, SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { failedSkip } from "#sources/failures.ts";
import type { FilesystemConfig, Places } from "./config.ts";
import { countFiles } from "./count.ts";
import type { JudgeOptions } from "./judge.ts";
import { toItem, versionOf, type FileFacts } from "./map.ts";
import { openFolderInside } from "./open-inside.ts";
import { isCleanRelativePath, openRoot, type RootFolder } from "./root.ts";
import { type Batching, makeBatches } from "#sources/batching.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { findEntry, walk, type WalkEntry, type WalkStep } from "./walk.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";

/** Where a run stands. Between runs only the root's identity counts. */
export interface FilesystemCursor {
  /** The run that walked; another run starts at the beginning, since it must name everything itself. */
  runId: string | null;
  /** The last id handed over; `null` = the walk is at its end. */
  after: string | null;
  done: number;
  /** `dev:inode` of the root. */
  root: string;
  /** Something could not be looked at so far: what is below it must stay. */
  hasFailed: boolean;
}

type Event = SyncEvent<FilesystemCursor>;

/**
 * One run: the same walk for `full` and `incremental`, in sorted order, unchanged files as `seen`. Ends `complete`
 * unless something could not be looked at. `items` judges just those ids.
 *
 * @throws ApiError `root_not_allowed`, `connector_scope_invalid`; `source_unavailable` when the root can't be read, is
 * another folder at the end than at the beginning, or is empty and another than last time (not mounted): an unreadable
 * root must never read as "everything deleted"
 */
export async function* syncFolder(
  ctx: SyncContext<FilesystemConfig>,
  run: SyncRequest<FilesystemCursor>,
  places: Places,
  batching: Partial<Batching>,
): AsyncGenerator<Event, void> {
  const root = await openRoot(ctx.config.root, places);
  const options: JudgeOptions = {
    root,
    config: ctx.config,
    scope: compileScope(run.scope),
    isPrivate: ctx.connector.visibility === "private",
  };
  const cursor = parseCursor(run.cursor);
  // For single items too: a disk that is gone since somebody asked would make each of them one that is deleted.
  await refuseEmptyStranger(root, cursor);
  if (run.mode === "items") {
    yield* syncItems(ctx, run, options);
    return;
  }
  yield* syncAll(ctx, run, { options, cursor, batching, places });
}

interface Walking {
  options: JudgeOptions;
  cursor: FilesystemCursor | undefined;
  batching: Partial<Batching>;
  places: Places;
}

async function* syncAll(
  ctx: SyncContext<FilesystemConfig>,
  run: SyncRequest<FilesystemCursor>,
  { options, cursor, batching, places }: Walking,
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const isResumed = cursor !== undefined && runId !== null && cursor.runId === runId && cursor.after !== null;
  const after = isResumed ? cursor.after : null;
  const isKnown = async (entry: FileEntry) => (await ctx.stored.version(entry.rel)) === versionOf(factsOf(ctx, entry));
  const batches = makeBatches(batching, ctx.now, isResumed ? cursor.done : 0);
  const total = countBeside(ctx, options);
  let hasFailed = isResumed && cursor.hasFailed;

  async function* hand(step: WalkStep): AsyncGenerator<Event, void> {
    if (step.type === "failed") hasFailed = true;
    if (step.type === "folder") batches.look();
    else if (step.type !== "file") yield skipOf(step);
    else if (await isKnown(step)) yield* batches.seen(step.rel);
    else yield batches.upsert(itemOf(ctx, step));
  }

  const cursorAt = (place: Pick<FilesystemCursor, "runId" | "after">): FilesystemCursor => ({
    ...place,
    done: batches.done,
    root: options.root.identity,
    hasFailed,
  });
  try {
    for await (const step of walk(options, { after, signal: ctx.signal })) {
      yield* hand(step);
      if (batches.isDue()) yield* batches.checkpoint(cursorAt({ runId, after: step.rel }), { total: total.value() });
    }
    if (ctx.signal.aborted) return;
  } finally {
    await total.stop();
  }
  await refuseExchangedRoot(ctx.config, places, options.root);
  const isComplete = !hasFailed;
  hasFailed = false;
  yield* batches.checkpoint(cursorAt({ runId: null, after: null }), { total: batches.done });
  yield { t: "end", listing: isComplete ? "complete" : "partial", permissions: "current" };
}

type FileEntry = Extract<WalkEntry, { type: "file" }>;

/** Counts while the walk runs; `stop` ends it and waits until it has let go of its folder. */
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

async function* syncItems(
  ctx: SyncContext<FilesystemConfig>,
  run: SyncRequest<FilesystemCursor>,
  options: JudgeOptions,
): AsyncGenerator<Event, void> {
  for (const externalId of run.externalIds ?? []) {
    if (ctx.signal.aborted) return;
    const entry = isCleanRelativePath(externalId) ? await findEntry(options, externalId) : undefined;
    if (entry === undefined) {
      yield { t: "delete", externalId };
      const folder = { type: "folder", id: externalId } as const;
      const below = await ctx.stored.list(folder)[Symbol.asyncIterator]().next();
      if (!below.done) yield { t: "delete_container", ...folder };
    } else if (entry.type === "file") {
      yield { t: "upsert", item: itemOf(ctx, entry) };
    } else {
      // Left out by a folder above or by a rule of its own: the id asked for is what is no item.
      yield { ...skipOf(entry), externalId };
      if (entry.type === "refused" && entry.refusal.reason !== "failed") yield { t: "delete", externalId };
    }
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

function itemOf(ctx: SourceContext<FilesystemConfig>, entry: FileEntry): SourceItem {
  return toItem(factsOf(ctx, entry));
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

function skipOf(entry: Exclude<WalkEntry, { type: "file" }>): Extract<Event, { t: "skip" }> {
  if (entry.type === "failed") {
    return failedSkip(entry.rel, entry.message);
  }
  return { t: "skip", externalId: entry.rel, ...entry.refusal, retryable: false };
}

const StoredCursor = z.object({
  runId: z.string().nullable(),
  after: z.string().nullable(),
  done: z.number().int(),
  root: z.string(),
  hasFailed: z.boolean().default(false),
});

/** An unreadable cursor (from another version) is ignored: the walk starts again, and nothing is lost. */
function parseCursor(stored: unknown): FilesystemCursor | undefined {
  return StoredCursor.safeParse(stored).data;
}

async function refuseEmptyStranger(root: RootFolder, cursor: FilesystemCursor | undefined): Promise<void> {
  if (cursor === undefined || cursor.root === root.identity) return;
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
