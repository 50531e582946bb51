import { z } from "zod";
import { type Batching, makeBatches } from "#sources/batching.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import type { SyncContext, SyncEvent, SyncRequest, What } from "#sources/contract.ts";
import { failedSkip } from "#sources/failures.ts";
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

type Event = SyncEvent<WebdavCursor>;
type Context = SyncContext<WebdavConfig>;

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
  batching: Partial<Batching>,
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
  { batching, facts, ...tools }: Tools & { batching: Partial<Batching> },
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const former = StoredCursor.safeParse(run.cursor).data;
  const resumed = runId !== null && former?.runId === runId && former.after !== null ? former : undefined;
  const failed = new Set(resumed?.failed);
  const batches = makeBatches(batching, ctx.now, resumed?.done);

  for await (const step of walk({ ...tools, signal: ctx.signal, after: resumed?.after ?? null })) {
    if (ctx.signal.aborted) return;
    if (step.type === "folder") batches.look();
    else if (step.type === "file") {
      const { entry, now } = step;
      const version = versionOf(entry, now, facts.configKey);
      const isSame = version !== undefined && (await ctx.stored.version(entry.rel)) === version;
      if (isSame) yield* batches.seen(entry.rel);
      else yield batches.upsert(toItem(entry, now, facts));
    } else {
      if (step.type === "failed") failed.add(step.rel);
      yield* eventsOf(step);
    }
    const after = placeOf(step);
    if (after === undefined || !batches.isDue()) continue;
    yield* batches.checkpoint({ runId, after, done: batches.done, failed: [...failed].slice(0, MAX_FAILED) });
  }
  if (ctx.signal.aborted) return;
  const { done } = batches;
  yield* batches.checkpoint({ runId: null, after: null, done, failed: [] }, { total: done });
  yield {
    t: "end",
    // What is not named in `notLookedAt` would go.
    listing: failed.size < MAX_FAILED ? "complete" : "partial",
    ...(failed.size > 0 && { notLookedAt: [...failed].flatMap(bothOf) }),
    permissions: "current",
  };
}

/** The id that a walk can go on after. What failed may be a folder on the way to where the walk stood. */
function placeOf(step: WalkStep): string | undefined {
  switch (step.type) {
    case "file":
      return step.entry.rel;
    case "folder":
      return `${step.rel}/`;
    case "left_out":
      return step.isFolder ? `${step.rel}/` : step.rel;
    case "failed":
      return undefined;
  }
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
  yield failedSkip(rel, error?.message ?? "The server can't tell what this is now.");
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
      yield failedSkip(externalId, error.message);
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
