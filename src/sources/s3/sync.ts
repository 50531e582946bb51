import { z } from "zod";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { makeFailures } from "#sources/failures.ts";
import { readEach } from "#sources/read-each.ts";
import { type Batching, makeBatches } from "#sources/file-scope/batching.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { makeClient, type S3Client, type S3Object } from "./client.ts";
import type { S3Config } from "./config.ts";
import { type Choice, compareKeys, isKey, type LeftOut, noKey, whyLeftOut } from "./keys.ts";
import { type BucketFacts, factsOf, toItem, versionOf } from "./map.ts";

/** Where a run stands. Another run starts at the beginning, since it must name everything itself. */
export interface S3Cursor {
  runId: string | null;
  /** Everything up to this key was handed over; null = nothing that could be gone on after, or everything. */
  after: string | null;
  done: number;
}

type Event = SyncEvent<S3Cursor>;
type Context = SyncContext<S3Config>;

interface Tools extends Choice {
  client: S3Client;
  facts: BucketFacts;
}

/**
 * One run: the same listing for `full` and `incremental`, since a store has no list of changes. `items` asks for just
 * those keys.
 *
 * @throws ApiError `connector_scope_invalid`; what the store says of the bucket itself
 */
export async function* syncBucket(
  ctx: Context,
  run: SyncRequest<S3Cursor>,
  batching: Partial<Batching>,
): AsyncGenerator<Event, void> {
  const tools: Tools = {
    client: makeClient(ctx),
    facts: factsOf(ctx.config, ctx.connector.id, ctx.now),
    scope: compileScope(run.scope),
    secretFiles: ctx.config.secretFiles,
  };
  if (run.mode === "items") yield* syncItems(ctx, run, tools);
  else yield* syncAll(ctx, run, tools, batching);
}

async function* syncAll(
  ctx: Context,
  run: SyncRequest<S3Cursor>,
  { client, facts, ...choice }: Tools,
  batching: Partial<Batching>,
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const former = StoredCursor.safeParse(run.cursor).data;
  const resumed = runId !== null && former?.runId === runId && former.after !== null ? former : undefined;
  const startAfter = resumed?.after ?? undefined;
  let last = startAfter;
  let isOrdered = true;
  let leftOut: string | undefined;
  const batches = makeBatches(batching, ctx.now, resumed?.done);

  async function* hand(object: S3Object): AsyncGenerator<Event, void> {
    const { key } = object;
    // A folder that somebody made in a console.
    if (key.endsWith("/")) return;
    const why = whyLeftOut(choice, key);
    if (why !== undefined) {
      if (why.id !== leftOut) yield skip(why);
      leftOut = why.id;
      return;
    }
    const version = versionOf(object, facts);
    if (version !== undefined && (await ctx.stored.version(key)) === version) yield* batches.seen(key);
    else yield batches.upsert(toItem(object, facts));
  }

  const { prefix } = ctx.config;
  for await (const page of client.pages({ prefix, ...(startAfter !== undefined && { startAfter }) })) {
    batches.look();
    for (const key of page.unreadable) yield skip(noKey(key, "The key is no UTF-8."));
    for (const object of page.objects) {
      if (ctx.signal.aborted) return;
      const { key } = object;
      if (last !== undefined && compareKeys(key, last) <= 0) isOrdered = false;
      last = key;
      yield* hand(object);
      if (!batches.isDue()) continue;
      // After a key, only a store that lists in order goes on with all that comes later.
      yield* batches.checkpoint({ runId, after: isOrdered ? key : null, done: isOrdered ? batches.done : 0 });
    }
  }
  if (ctx.signal.aborted) return;
  yield* batches.checkpoint({ runId: null, after: null, done: batches.done }, batches.done);
  const isComplete = resumed === undefined || isOrdered;
  yield { t: "end", listing: isComplete ? "complete" : "partial", permissions: "current" };
}

function skip({ id, reason, message }: LeftOut): Event {
  return { t: "skip", externalId: id, reason, message, retryable: false };
}

async function* syncItems(
  ctx: Context,
  run: SyncRequest<S3Cursor>,
  { client, facts, ...choice }: Tools,
): AsyncGenerator<Event, void> {
  const failures = makeFailures(() => client.list({ prefix: ctx.config.prefix, maxKeys: 1 }));
  yield* readEach<Event>({ ctx, failures }, run.externalIds, async (externalId) => {
    if (!isOwnKey(externalId, ctx.config)) return [];
    const why = whyLeftOut(choice, externalId);
    if (why !== undefined) return [skip(why), { t: "delete", externalId }];
    // Of all keys that begin so, the key itself is the first.
    const [found] = (await client.list({ prefix: externalId, maxKeys: 1 })).objects;
    return found?.key === externalId ? [{ t: "upsert", item: toItem(found, facts) }] : [];
  });
  yield { t: "end", listing: "partial", permissions: "current" };
}

/** Whether this can be an object that the connector reads. */
export function isOwnKey(key: string, { prefix }: Pick<S3Config, "prefix">): boolean {
  return isKey(key) && key.startsWith(prefix) && !key.endsWith("/");
}

/** An unreadable cursor is ignored: the listing starts again, and nothing is lost. */
const StoredCursor = z.object({ runId: z.string().nullable(), after: z.string().nullable(), done: z.number().int() });
