import { z } from "zod";
import type { SyncContext } from "#sources/context.ts";
import { type ContainerEvent, type ContainerList, makeContainers, placeSchema } from "#sources/containers.ts";
import { failedSkip, ifThere, makeFailures } from "#sources/failures.ts";
import { isNamedIn } from "#sources/in-scope.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import { judgedEntryOf, type OpenRequest, type SessionSpec, type WalkEnd, type WalkEvent } from "#sources/session.ts";
import type { Result } from "#sources/outcomes.ts";
import { makeClient, type ReferenceConfig, type SpaceRecord } from "./client.ts";
import { spaceRef, toItem } from "./map.ts";

/** The last change that was told. */
const ReferenceCursor = z.object({ since: z.number() });
export type ReferenceCursor = z.infer<typeof ReferenceCursor>;

/** Of the space that is being read, the pages up to this id were. */
const Checkpoint = placeSchema(z.string(), ReferenceCursor);
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What a run works with. */
function makeTools(ctx: SyncContext<ReferenceConfig>, { scope }: OpenRequest) {
  const client = makeClient(ctx);
  const failures = makeFailures(() => client.me());
  const spaces = makeContainers<SpaceRecord>(ctx, {
    key: "space",
    refOf: spaceRef,
    nameOf: ({ name }) => name,
    failures,
  });
  return { ctx, client, scope, failures, spaces };
}

type Tools = ReturnType<typeof makeTools>;

export const referenceSessions: SessionSpec<ReferenceConfig, ReferenceCursor, Checkpoint> = {
  cursor: ReferenceCursor,
  checkpoint: Checkpoint,
  async open(ctx, request) {
    const tools = makeTools(ctx, request);
    return {
      walk: (run) => (run.since ? walkChanges(tools, run.since) : walkAll(tools, run.resume)),
      read: (ids) => readEach<Result>(tools, ids, (id) => readOne(tools, id)),
    };
  },
};

type Walk = AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<ReferenceCursor>>;

/** Everything: spaces by id, the pages of each by id, so that what changes meanwhile moves nothing past the checkpoint. */
async function* walkAll(tools: Tools, resume?: Checkpoint): Walk {
  const { client, spaces } = tools;
  const place = resume ?? { feed: { since: (await client.me()).latest }, after: "" };
  const list = await listSpaces(tools);
  yield* spaces.odd(list);
  yield* spaces.walk(list.known, place, (space, after) => readSpace(tools, space, after));
  // A page that moved meanwhile from a space not yet listed to one that was listed is in the changes.
  const since = yield* tellChanges(tools, place.feed.since);
  return { complete: list.isWhole, cursor: { since }, permissions: "current" };
}

/** What changed since. Where the wiki has forgotten that, the client throws `cursor_expired`, and everything is listed next. */
async function* walkChanges(tools: Tools, before: ReferenceCursor): Walk {
  const { spaces } = tools;
  const since = yield* tellChanges(tools, before.since);
  // No change tells that a space is open again: those that could not be read are tried.
  const list = await listSpaces(tools);
  yield* spaces.readNew(list.known, { feed: { since }, after: "" }, (space) => readSpace(tools, space));
  // The feed names each page that moves, so nothing else has other readers now than the groups say.
  return { complete: false, cursor: { since }, permissions: "current" };
}

async function listSpaces({ client, scope }: Tools): Promise<ContainerList<SpaceRecord>> {
  const known: SpaceRecord[] = [];
  const odd: string[] = [];
  let isWhole = true;
  for await (const spaces of client.spaces()) {
    known.push(...spaces.known.filter(({ id }) => isNamedIn(scope, id)));
    odd.push(...spaces.odd);
    isWhole &&= spaces.nameless === 0;
  }
  return { known, odd, isWhole };
}

/** The pages of a space. What it throws is about this space alone. */
async function* readSpace(
  { ctx, client, spaces }: Tools,
  space: SpaceRecord,
  after = "",
): AsyncGenerator<ContainerEvent<string>, void> {
  let nameless = 0;
  for await (const { known, odd, ...page } of client.pagesOf(space.id, after)) {
    nameless += page.nameless;
    const entries = known.map((each) => judgedEntryOf(toItem(ctx, each)));
    const failed = odd.map((id) => failedSkip(id, NOT_UNDERSTOOD));
    yield { t: "page", entries: [...entries, ...failed], at: known.at(-1)?.id };
  }
  // What has no id can't be named: the space was not listed whole.
  if (nameless > 0) throw halfRead(NOT_UNDERSTOOD);
  await spaces.isRead(space);
}

/** Gives the number of the last change. */
async function* tellChanges({ ctx, client, scope }: Tools, since: number): AsyncGenerator<WalkEvent<never>, number> {
  const { changes, latest } = await client.changes(since);
  // A page that has another id now is no page that is gone.
  const renamed = new Set(changes.flatMap((change) => ("page" in change ? (change.is?.formerly ?? []) : [])));
  for (const change of changes) {
    if ("space" in change) {
      if (change.is === null) yield { t: "delete_container", ...spaceRef(change.space) };
    } else if (change.is !== null && isNamedIn(scope, change.is.space)) {
      yield { t: "page", entries: [judgedEntryOf(toItem(ctx, change.is))] };
    } else if (!renamed.has(change.page)) {
      yield { t: "delete", externalId: change.page };
    }
  }
  return latest;
}

/** One page as it is now; nothing when it is gone. */
async function readOne({ ctx, client, scope }: Tools, id: string): Promise<Result[]> {
  const page = await ifThere(() => client.page(id));
  return page && isNamedIn(scope, page.space) ? [{ t: "upsert", item: toItem(ctx, page) }] : [];
}
