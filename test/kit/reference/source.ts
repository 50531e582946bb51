import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { Scope } from "#core/scope.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { ContainerRef, FileContent, SourceItem } from "#sources/item.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { type ContainerEvent, type ContainerList, makeContainers, placeSchema } from "#sources/containers.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import type { Kept } from "#sources/kept.ts";
import { runSessions } from "#sources/run-session.ts";
import {
  judgedEntryOf,
  type OpenRequest,
  type Result,
  type SessionSpec,
  type WalkEnd,
  type WalkEvent,
} from "#sources/session.ts";
import { makeClient, type PageRecord, ReferenceConfig, type SpaceRecord } from "./client.ts";
import { groupPrincipal, syncReferencePeople } from "./people.ts";
import { referenceWebhook } from "./webhook.ts";

type Context = SourceContext<ReferenceConfig>;

/** The last change that was told. */
const ReferenceCursor = z.object({ since: z.number() });
type ReferenceCursor = z.infer<typeof ReferenceCursor>;

/** Of the space that is being read, the pages up to this id were. */
const Checkpoint = placeSchema(z.string(), ReferenceCursor);
type Checkpoint = z.infer<typeof Checkpoint>;

/** What is stored between runs. */
export type ReferenceKept = Kept<ReferenceCursor, Checkpoint>;

/**
 * The source that shows how one is written: pages of spaces with their comments, who may read them, and what changes.
 * Every choice that a source has to make is made here once, with its reason.
 */
export function makeReferenceSource() {
  return {
    spec: {
      providerId: "reference",
      name: "Reference",
      kinds: ["page", "message"],
      auth: [{ type: "credentials", scheme: "bearer", token: "token" }],
      credentials: z.strictObject({ token: z.string().min(1).meta({ format: "password" }) }),
      config: ReferenceConfig,
      acl: "container",
      // A wiki of a company takes a lot; what it takes is known where it says so.
      limits: { perMinute: 60_000, burst: 10_000 },
      // Each move of a page is in the feed, and who is in a group is told by itself.
      freshness: "feed",
      hasPeople: true,
      isPeopleFeedGapless: true,
    },
    check,
    sync: runSessions(SESSIONS, { everyMs: 0 }),
    browse,
    fetchContent,
    countAdded,
    inScope: (scope, item) => item.containers.some(({ id }) => isInside(scope, id)),
    originOf: ({ url }) => new URL(url).origin,
    baseUrlOf: ({ url }) => url,
    syncIdentities: syncReferencePeople,
    webhook: referenceWebhook,
  } satisfies Source<ReferenceConfig, ReferenceKept>;
}

/** A page has its pages' ids, so that to count them reads no text. */
async function countAdded(ctx: Context, { from, to }: { from: Scope; to: Scope }) {
  const client = makeClient(ctx);
  let [items, calls] = [0, 0];
  for await (const spaces of client.spaces()) {
    for (const { id } of spaces.known) {
      if (!isInside(to, id) || isInside(from, id)) continue;
      for await (const pages of client.pagesOf(id, "")) [items, calls] = [items + pages.size, calls + 1];
    }
  }
  return { items, calls };
}

function check(ctx: Context): Promise<CheckOutcome> {
  const words: FailureWords = {
    source_unauthorized: { code: "auth_required", field: "credentials" },
    otherwise: { code: "unreachable", field: "url" },
  };
  return runCheck(ctx, words, async () => {
    await makeClient(ctx).me();
    return { warnings: [] };
  });
}

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

const SESSIONS: SessionSpec<ReferenceConfig, ReferenceCursor, Checkpoint> = {
  cursor: ReferenceCursor,
  checkpoint: Checkpoint,
  async open(ctx, request) {
    const tools = makeTools(ctx, request);
    return {
      walk: (run) => (run.since ? walkChangesOrAll(tools, run.since) : walkAll(tools, run.resume)),
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

/** What changed since; where the wiki has forgotten that, everything. */
async function* walkChangesOrAll(tools: Tools, before: ReferenceCursor): Walk {
  const { spaces } = tools;
  try {
    const since = yield* tellChanges(tools, before.since);
    // No change tells that a space is open again: those that could not be read are tried.
    const list = await listSpaces(tools);
    yield* spaces.readNew(list.known, { feed: { since }, after: "" }, (space) => readSpace(tools, space));
    // The feed names each page that moves, so nothing else has other readers now than the groups say.
    return { complete: false, cursor: { since }, permissions: "current" };
  } catch (error) {
    if (!isApiError(error, "cursor_expired")) throw error;
    return yield* walkAll(tools);
  }
}

async function listSpaces({ client, scope }: Tools): Promise<ContainerList<SpaceRecord>> {
  const known: SpaceRecord[] = [];
  const odd: string[] = [];
  let isWhole = true;
  for await (const spaces of client.spaces()) {
    known.push(...spaces.known.filter(({ id }) => isInside(scope, id)));
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
    } else if (change.is !== null && isInside(scope, change.is.space)) {
      yield { t: "page", entries: [judgedEntryOf(toItem(ctx, change.is))] };
    } else if (!renamed.has(change.page)) {
      yield { t: "delete", externalId: change.page };
    }
  }
  return latest;
}

/** One page as it is now; nothing when it is gone. */
async function readOne({ ctx, client, scope }: Tools, id: string): Promise<Result[]> {
  try {
    const page = await client.page(id);
    return isInside(scope, page.space) ? [{ t: "upsert", item: toItem(ctx, page) }] : [];
  } catch (error) {
    if (!isApiError(error, "source_not_found")) throw error;
    return [];
  }
}

function toItem(ctx: Context, page: PageRecord): SourceItem {
  const { id, title, space, on, answers, formerly, revision } = page;
  return {
    externalId: id,
    kind: on === undefined ? "page" : "message",
    title: title.trim() === "" ? "Untitled" : title,
    url: `${ctx.config.url}/pages/${encodeURIComponent(id)}`,
    version: String(revision),
    containers: [{ ...spaceRef(space), name: space, isHome: true }],
    // By the revision: the wiki gives the text as it is now, and says of which revision that is.
    content: { type: "fetch", ref: String(revision) },
    // Anyone who reads the page reads what is said about it.
    ...(on === undefined ? { access: accessOf(ctx, space) } : { partOf: on }),
    ...(answers !== undefined && { replyTo: answers }),
    ...(formerly !== undefined && { formerId: formerly }),
  };
}

/** One group for all that a space has: who joins or leaves changes one row, and no page. */
function accessOf(ctx: Context, space: string): SourceAccess {
  return { known: true, all: [[groupPrincipal(ctx, `space:${space}`)]] };
}

async function fetchContent(ctx: Context, { externalId }: { externalId: string }): Promise<FileContent> {
  const { text, revision } = await makeClient(ctx).text(externalId);
  return {
    bytes: Buffer.from(text),
    fileName: `${externalId}.md`,
    mimeType: "text/markdown",
    version: String(revision),
  };
}

async function browse(ctx: Context, { parent }: { parent: string | null }): ReturnType<NonNullable<Source["browse"]>> {
  const nodes = [];
  for await (const spaces of parent === null ? makeClient(ctx).spaces() : []) {
    for (const { id, name } of spaces.known) {
      nodes.push({ id, parent, title: name, kind: "space", selectable: true, expandable: false });
    }
  }
  return { nodes, nextCursor: null };
}

/** A scope names spaces. */
function isInside({ include, exclude }: Scope, space: string): boolean {
  return (include.length === 0 || include.includes(space)) && !exclude.includes(space);
}

function spaceRef(id: string): ContainerRef {
  return { type: "space", id };
}
