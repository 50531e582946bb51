import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceContext, SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import type { FilesystemConfig, Places } from "./config.ts";
import { countFiles } from "./count.ts";
import type { JudgeOptions } from "./judge.ts";
import { toItem, versionOf, type FileFacts } from "./map.ts";
import { openFolderInside } from "./open-inside.ts";
import { isCleanRelativePath, openRoot, type RootFolder } from "./root.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { findEntry, walk, type WalkEntry } from "./walk.ts";
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
}

/** How much is handed over between two checkpoints. */
export interface Batching {
  upserts: number;
  seen: number;
}

/** A crash replays at most this; unchanged files cost the engine little, so many go into one batch. */
export const DEFAULT_BATCHING: Batching = { upserts: 200, seen: 2_000 };

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
  batching: Batching,
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
  batching: Batching;
  places: Places;
}

/** Ids of one `seen` event at most. */
const SEEN_IDS = 500;

async function* syncAll(
  ctx: SyncContext<FilesystemConfig>,
  run: SyncRequest<FilesystemCursor>,
  { options, cursor, batching, places }: Walking,
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const isResumed = cursor !== undefined && runId !== null && cursor.runId === runId && cursor.after !== null;
  const after = isResumed ? cursor.after : null;
  const isKnown = async (entry: FileEntry) => (await ctx.stored.version(entry.rel)) === versionOf(factsOf(ctx, entry));
  const batch = makeBatch(batching, isResumed ? cursor.done : 0);
  const total = countBeside(ctx, options);
  let isComplete = true;
  try {
    for await (const entry of walk(options, { after, signal: ctx.signal })) {
      if (entry.type === "failed") isComplete = false;
      if (entry.type !== "file") yield skipOf(entry);
      else if (await isKnown(entry)) batch.addSeen(entry.rel);
      else yield batch.addUpsert(itemOf(ctx, entry));

      yield* batch.takeSeen();
      if (!batch.isFull()) continue;
      yield { t: "checkpoint", cursor: { runId, after: entry.rel, done: batch.done(), root: options.root.identity } };
      yield { t: "progress", done: batch.done(), ...totalOf(total.value(), batch.done()) };
      batch.restart();
    }
    if (ctx.signal.aborted) return;
  } finally {
    await total.stop();
  }
  yield* batch.takeSeen({ isLast: true });
  await refuseExchangedRoot(ctx.config, places, options.root);
  yield { t: "checkpoint", cursor: { runId: null, after: null, done: batch.done(), root: options.root.identity } };
  yield { t: "progress", done: batch.done(), total: batch.done() };
  yield { t: "end", listing: isComplete ? "complete" : "partial", permissions: "current" };
}

type FileEntry = Extract<WalkEntry, { type: "file" }>;

/** What was handed over since the last checkpoint, and the unchanged ids that wait for their event. */
function makeBatch(limits: Batching, doneBefore: number) {
  let [done, upserts, unchanged] = [doneBefore, 0, 0];
  let seen: string[] = [];
  const isFull = () => upserts >= limits.upserts || unchanged >= limits.seen;
  return {
    done: () => done,
    isFull,
    restart: () => void ([upserts, unchanged] = [0, 0]),
    addSeen(externalId: string): void {
      done += 1;
      unchanged += 1;
      seen.push(externalId);
    },
    addUpsert(item: SourceItem): Event {
      done += 1;
      upserts += 1;
      return { t: "upsert", item };
    },
    *takeSeen({ isLast = false } = {}): Generator<Event, void> {
      if (seen.length === 0 || !(isLast || isFull() || seen.length >= SEEN_IDS)) return;
      yield { t: "seen", externalIds: seen };
      seen = [];
    },
  };
}

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
    return { t: "skip", externalId: entry.rel, reason: "failed", message: entry.message, retryable: true };
  }
  return { t: "skip", externalId: entry.rel, ...entry.refusal, retryable: false };
}

function totalOf(total: number | undefined, done: number): { total?: number } {
  return total === undefined ? {} : { total: Math.max(total, done) };
}

const StoredCursor = z.object({
  runId: z.string().nullable(),
  after: z.string().nullable(),
  done: z.number().int(),
  root: z.string(),
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
