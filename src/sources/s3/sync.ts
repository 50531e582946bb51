import { defined } from "#core/defined.ts";
import { z } from "zod";
import type { SyncContext } from "#sources/context.ts";
import { makeFailures, leftOut } from "#sources/failures.ts";
import { compileScope } from "#sources/file-scope/scope.ts";
import { readEach } from "#sources/read-each.ts";
import type { Entry, Session, SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import type { Result, Skip } from "#sources/outcomes.ts";
import { makeClient, type S3Client, type S3Object } from "./client.ts";
import type { S3Config } from "./config.ts";
import { type Choice, compareKeys, isKey, type LeftOut, noKey, whyLeftOut } from "./keys.ts";
import { type BucketFacts, factsOf, toItem, versionOf } from "./map.ts";

/** Everything up to this key was named. Null = the store doesn't list in order, so the walk starts again. */
const Checkpoint = z.object({ after: z.string().nullable() });
type Checkpoint = z.infer<typeof Checkpoint>;

/** Sessions of a bucket. A store has no change feed, so every run lists everything. */
export const s3Sessions: SessionSpec<S3Config, null, Checkpoint> = {
  cursor: z.null(),
  checkpoint: Checkpoint,
  open: (ctx, { scope }) => Promise.resolve(openBucket(ctx, compileScope(scope))),
};

interface Tools extends Choice {
  client: S3Client;
  facts: BucketFacts;
  prefix: string;
}

function openBucket(ctx: SyncContext<S3Config>, scope: Choice["scope"]): Session<null, Checkpoint> {
  const { secretFiles, prefix } = ctx.config;
  const facts = factsOf(ctx.config, ctx.connector.id, ctx.now);
  const tools = { client: makeClient(ctx), facts, scope, secretFiles, prefix };
  const failures = makeFailures(() => tools.client.list({ prefix, maxKeys: 1 }));
  return {
    walk: (run) => walk(tools, run),
    read: (keys) => readEach<Result>({ ctx, failures }, keys, (key) => readOne(tools, key)),
  };
}

async function* walk(
  { client, facts, prefix, ...choice }: Tools,
  { resume }: WalkRequest<null, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<null>> {
  const startAfter = resume?.after ?? undefined;
  let last = startAfter;
  let isOrdered = true;
  let leftOut: string | undefined;

  function entryOf(object: S3Object): Entry | Result | undefined {
    const { key } = object;
    // The key is a folder that was created in a console.
    if (key.endsWith("/")) return undefined;
    const why = whyLeftOut(choice, key);
    const isReported = why !== undefined && why.id === leftOut;
    leftOut = why?.id;
    if (why) return isReported ? undefined : skip(why);
    const version = versionOf(object, facts);
    return { externalId: key, ...defined({ version }), build: () => toItem(object, facts) };
  }

  for await (const page of client.pages({ prefix, ...defined({ startAfter }) })) {
    const entries: (Entry | Result)[] = page.unreadable.map((key) =>
      skip(noKey(key, "The object's key isn't valid UTF-8.")),
    );
    const keys = entries.map(() => last);
    for (const object of page.objects) {
      if (last !== undefined && compareKeys(object.key, last) <= 0) isOrdered = false;
      last = object.key;
      const entry = entryOf(object);
      if (entry && entries.push(entry)) keys.push(last);
    }
    // Only a store that lists in order can continue after a key without missing any keys.
    const after = (key: string | undefined): Checkpoint => ({ after: (isOrdered ? key : undefined) ?? null });
    yield { t: "page", entries, listings: 1, checkpoint: after(last), within: (count) => after(keys[count - 1]) };
  }
  return { complete: startAfter === undefined || isOrdered, cursor: null, permissions: "current" };
}

function skip({ id, reason, message }: LeftOut): Skip {
  return leftOut(id, reason, message);
}

async function readOne({ client, facts, prefix, ...choice }: Tools, key: string): Promise<Result[]> {
  if (!isOwnKey(key, { prefix })) return [];
  const why = whyLeftOut(choice, key);
  if (why !== undefined) return [skip(why)];
  // The key itself is the first of all keys with this prefix.
  const [found] = (await client.list({ prefix: key, maxKeys: 1 })).objects;
  return found?.key === key ? [{ t: "upsert", item: toItem(found, facts) }] : [];
}

/** Whether a key can be that of an object that the connector reads. */
export function isOwnKey(key: string, { prefix }: Pick<S3Config, "prefix">): boolean {
  return isKey(key) && key.startsWith(prefix) && !key.endsWith("/");
}
