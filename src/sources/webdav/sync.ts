import { z } from "zod";
import { compileScope } from "#sources/file-scope/scope.ts";
import type { SyncContext, SyncEvent, SyncRequest, What } from "#sources/contract.ts";
import { type DavClient, isOfOneThing, isPath, makeClient } from "./client.ts";
import type { WebdavConfig } from "./config.ts";
import { type CollectionFacts, factsOf, folderRef, toItem, versionOf } from "./map.ts";
import { type LeftOut, walk, type WalkOptions, type WalkStep, whyLeftOut } from "./walk.ts";

/** Where a run stands. Another run starts at the beginning, since it must name everything itself. */
export interface WebdavCursor {
  runId: string | null;
  /** Everything up to this id was handed over; null = the walk is at its end. */
  after: string | null;
  done: number;
  /** Paths that could not be looked at so far. */
  failed: string[];
}

/** How much is handed over between two checkpoints. */
export interface Batching {
  upserts: number;
  seen: number;
  folders: number;
  /** Milliseconds: a slow server is left for others as soon as one that is fast. */
  everyMs: number;
  /** Folders of one run; the next goes on from there. */
  mostFolders: number;
  /** Milliseconds of one run, likewise. */
  mostMs: number;
}

export const DEFAULT_BATCHING: Batching = {
  upserts: 200,
  seen: 2_000,
  folders: 200,
  everyMs: 2_000,
  mostFolders: 20_000,
  mostMs: 3_600_000,
};

type Event = SyncEvent<WebdavCursor>;
type Context = SyncContext<WebdavConfig>;

/** Ids of one `seen` event at most. */
const SEEN_IDS = 500;
/** More that could not be looked at make the listing a partial one. */
const MAX_FAILED = 1_000;

/**
 * One run: the same walk for `full` and `incremental`, since a server tells no changes that all of them have. `items` asks
 * for just those ids.
 *
 * @throws ApiError `connector_scope_invalid`; what the server says of the collection itself
 */
export async function* syncCollection(
  ctx: Context,
  run: SyncRequest<WebdavCursor>,
  batching: Batching,
): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const facts = factsOf(ctx.config, ctx.connector.id);
  const scope = compileScope(run.scope);
  const { secretFiles } = ctx.config;
  if (run.mode === "items") yield* syncItems(ctx, run, { client, facts, scope, secretFiles });
  else yield* syncAll(ctx, run, { client, facts, scope, secretFiles, batching });
}

interface Tools extends Pick<WalkOptions, "scope" | "secretFiles"> {
  client: DavClient;
  facts: CollectionFacts;
}

async function* syncAll(
  ctx: Context,
  run: SyncRequest<WebdavCursor>,
  { batching, facts, ...tools }: Tools & { batching: Batching },
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const former = StoredCursor.safeParse(run.cursor).data;
  const resumed = runId !== null && former?.runId === runId && former.after !== null ? former : undefined;
  let { done, failed } = { done: resumed?.done ?? 0, failed: [...(resumed?.failed ?? [])] };
  let handed = { upserts: 0, seen: 0, folders: 0 };
  let unchanged: string[] = [];
  let folders = 0;
  const startedAt = ctx.now();
  let toldAt = startedAt;

  for await (const step of walk({ ...tools, signal: ctx.signal, after: resumed?.after ?? null })) {
    if (ctx.signal.aborted) return;
    let after: string | undefined;
    if (step.type === "folder") {
      handed.folders += 1;
      folders += 1;
      after = `${step.rel}/`;
    } else if (step.type === "file") {
      const { entry, now } = step;
      const version = versionOf(entry, now, facts.configKey);
      after = entry.rel;
      done += 1;
      if (version !== undefined && (await ctx.stored.version(entry.rel)) === version) {
        handed.seen += 1;
        unchanged.push(entry.rel);
      } else {
        handed.upserts += 1;
        yield { t: "upsert", item: toItem(entry, now, facts) };
      }
    } else {
      if (step.type === "failed") failed.push(step.rel);
      yield* eventsOf(step);
    }
    const isAtBound = folders >= batching.mostFolders || ctx.now() - startedAt >= batching.mostMs;
    const isDue =
      after !== undefined &&
      (isAtBound ||
        ctx.now() - toldAt >= batching.everyMs ||
        handed.upserts >= batching.upserts ||
        handed.seen >= batching.seen ||
        handed.folders >= batching.folders);
    if (unchanged.length > 0 && (isDue || unchanged.length >= SEEN_IDS)) {
      yield { t: "seen", externalIds: unchanged };
      unchanged = [];
    }
    if (!isDue || after === undefined) continue;
    yield { t: "checkpoint", cursor: { runId, after, done, failed: failed.slice(0, MAX_FAILED) } };
    yield { t: "progress", done };
    handed = { upserts: 0, seen: 0, folders: 0 };
    toldAt = ctx.now();
    if (!isAtBound) continue;
    const why = `Stopped after ${folders} folders. The next run goes on from there, and nothing is removed until one comes to the end.`;
    yield { t: "end", listing: "partial", goesOn: true, why, permissions: "not_checked" };
    return;
  }
  if (ctx.signal.aborted) return;
  if (unchanged.length > 0) yield { t: "seen", externalIds: unchanged };
  yield { t: "checkpoint", cursor: { runId: null, after: null, done, failed: [] } };
  yield { t: "progress", done, total: done };
  failed = [...new Set(failed)];
  yield {
    t: "end",
    // What is not named in `notLookedAt` would go.
    listing: failed.length < MAX_FAILED ? "complete" : "partial",
    ...(failed.length > 0 && { notLookedAt: failed.flatMap(bothOf) }),
    permissions: "current",
  };
}

/** A path that could not be looked at is a file or a folder; what is stored of either stays. */
function bothOf(rel: string): What[] {
  return [{ externalId: rel }, { container: folderRef(rel) }];
}

function* eventsOf(step: Exclude<WalkStep, { type: "file" | "folder" }>): Generator<Event, void> {
  if (step.type === "left_out") {
    yield leftOut(step.rel, step.reason);
    return;
  }
  const { rel, error } = step;
  if (error?.code === "source_forbidden") {
    yield { t: "refused", what: { container: folderRef(rel) }, code: "source_forbidden" };
    return;
  }
  yield failure(rel, error?.message ?? "The server can't tell what this is now.");
}

function failure(externalId: string, message: string): Event {
  return { t: "skip", externalId, reason: "failed", message, retryable: true };
}

function leftOut(externalId: string, reason: LeftOut): Event {
  const isDeep = reason === "too_deep";
  return {
    t: "skip",
    externalId,
    reason: isDeep ? "excluded_by_policy" : reason,
    message: MESSAGES[reason],
    retryable: false,
  };
}

const MESSAGES: Readonly<Record<LeftOut, string>> = {
  excluded_by_scope: "The connector's scope leaves it out.",
  excluded_by_policy: "The name suggests keys or passwords.",
  too_deep: "The folder leads into itself, or is too deep.",
};

async function* syncItems(ctx: Context, run: SyncRequest<WebdavCursor>, tools: Tools): AsyncGenerator<Event, void> {
  for (const externalId of run.externalIds ?? []) {
    if (ctx.signal.aborted) return;
    yield* lookAt(ctx, externalId, tools);
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

async function* lookAt(
  ctx: Context,
  externalId: string,
  { client, facts, ...options }: Tools,
): AsyncGenerator<Event, void> {
  if (!isPath(externalId)) return yield { t: "delete", externalId };
  const reason = whyLeftOut(options, externalId);
  if (reason !== undefined) {
    yield leftOut(externalId, reason);
    return yield { t: "delete", externalId };
  }
  try {
    const { now, ...entry } = await client.look(externalId);
    yield entry.isFolder ? { t: "delete", externalId } : { t: "upsert", item: toItem(entry, now, facts) };
  } catch (error) {
    if (!isOfOneThing(error)) throw error;
    if (error?.code === "source_forbidden") {
      yield { t: "refused", what: { externalId }, code: "source_forbidden" };
    } else if (error.code === "source_unavailable" || error.code === "payload_too_large") {
      yield failure(externalId, error.message);
    } else {
      yield { t: "delete", externalId };
      const below = await ctx.stored.list(folderRef(externalId))[Symbol.asyncIterator]().next();
      if (!below.done) yield { t: "delete_container", ...folderRef(externalId) };
    }
  }
}

/** An unreadable cursor is ignored: the walk starts again, and nothing is lost. */
const StoredCursor = z.object({
  runId: z.string().nullable(),
  after: z.string().nullable(),
  done: z.number().int(),
  failed: z.array(z.string()),
});
