import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import { accessKeyOf } from "#core/access-key.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { Scope } from "#core/scope.ts";
import type {
  ContainerRef,
  FileContent,
  Source,
  SourceContext,
  SourceItem,
  SyncContext,
  SyncEvent,
  SyncRequest,
  What,
} from "#sources/contract.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { type Failures, failedSkip, makeFailures, refusalOf } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import { makeClient, type PageRecord, ReferenceConfig } from "./client.ts";
import { groupPrincipal, syncReferencePeople } from "./people.ts";
import { referenceWebhook } from "./webhook.ts";

type Context = SourceContext<ReferenceConfig>;
type RunContext = SyncContext<ReferenceConfig>;
type Event = SyncEvent<ReferenceCursor>;

/** How far a listing of everything came, or the changes that were handed over. */
export type ReferenceCursor =
  | { type: "listing"; runId: string | undefined; since: number; space: string; after: string; unread: string[] }
  | { type: "changes"; since: number };

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
    sync,
    browse,
    fetchContent,
    countAdded,
    inScope: (scope, item) => item.containers.some(({ id }) => isInside(scope, id)),
    originOf: ({ url }) => new URL(url).origin,
    baseUrlOf: ({ url }) => url,
    syncIdentities: syncReferencePeople,
    webhook: referenceWebhook,
  } satisfies Source<ReferenceConfig, ReferenceCursor>;
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

async function* sync(ctx: RunContext, run: SyncRequest<ReferenceCursor>): AsyncGenerator<Event, void> {
  const { mode, cursor, externalIds = [] } = run;
  if (mode === "items") yield* readItems(ctx, run.scope, externalIds);
  else if (mode === "incremental" && cursor?.type === "changes") yield* readChangesOrAll(ctx, run, cursor.since);
  else yield* listAll(ctx, run);
}

/** Everything: spaces by id, the pages of each by id, so that what changes meanwhile moves nothing past the cursor. */
async function* listAll(
  ctx: RunContext,
  { runId, scope, cursor }: SyncRequest<ReferenceCursor>,
): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const from = cursor?.type === "listing" && cursor.runId === runId ? cursor : undefined;
  const since = from?.since ?? (await client.me()).latest;
  const unread = new Set(from?.unread);
  const failures = makeFailures(() => client.me());
  let done = 0;
  let isWhole = true;
  for await (const spaces of client.spaces()) {
    isWhole &&= spaces.nameless === 0;
    for (const space of spaces.odd) {
      unread.add(space);
      yield failedSkip(space, NOT_UNDERSTOOD);
    }
    for (const { id: space } of spaces.known) {
      if (!isInside(scope, space) || (from && space < from.space)) continue;
      const after = space === from?.space ? from.after : "";
      for await (const { events, size, last, isRead } of readSpace(ctx, { client, failures }, space, after)) {
        yield* events;
        if (!isRead) unread.add(space);
        done += size;
        yield { t: "progress", done };
        yield { t: "checkpoint", cursor: { type: "listing", runId, since, space, after: last, unread: [...unread] } };
      }
    }
  }
  // A page that moved meanwhile from a space not yet listed to one that was listed is in the changes.
  const until = yield* readChanges(ctx, scope, since);
  ctx.state.put(UNREAD, [...unread]);
  yield { t: "checkpoint", cursor: { type: "changes", since: until } };
  const notLookedAt = [...unread].map((space): What => ({ container: spaceRef(space) }));
  yield {
    t: "end",
    listing: isWhole ? "complete" : "partial",
    permissions: "current",
    ...(notLookedAt.length > 0 && { notLookedAt }),
  };
}

const UNREAD = "unread";

/** One space is closed or fails: the rest of the listing is as good as ever, and what was not looked at is not gone. */
async function* readSpace(
  ctx: RunContext,
  { client, failures }: { client: ReturnType<typeof makeClient>; failures: Failures },
  space: string,
  after = "",
): AsyncGenerator<{ events: Event[]; size: number; last: string; isRead: boolean }, void> {
  let last = after;
  try {
    for await (const { known, odd, nameless, size } of client.pagesOf(space, after)) {
      const events = [...(await tell(ctx, known)), ...odd.map((id) => failedSkip(id, NOT_UNDERSTOOD))];
      last = known.at(-1)?.id ?? last;
      // What has no name can't be named: the space was not listed whole.
      yield { events, size, last, isRead: nameless === 0 };
    }
    failures.well();
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) await failures.requireOfOne(error);
    const refused = code && ({ t: "refused", what: { container: spaceRef(space) }, code } as const);
    yield { events: [refused ?? failedSkip(space, "The space can't be read now.")], size: 0, last, isRead: false };
  }
}

/** What changed since; where the wiki has forgotten that, everything. */
async function* readChangesOrAll(
  ctx: RunContext,
  run: SyncRequest<ReferenceCursor>,
  since: number,
): AsyncGenerator<Event, void> {
  try {
    const until = yield* readChanges(ctx, run.scope, since);
    yield* readUnread(ctx, run.scope);
    yield { t: "checkpoint", cursor: { type: "changes", since: until } };
    // The feed names each page that moves, so nothing else has other readers now than the groups say.
    yield { t: "end", listing: "partial", permissions: "current" };
  } catch (error) {
    if (!isApiError(error, "cursor_expired")) throw error;
    yield* listAll(ctx, { ...run, cursor: null });
  }
}

/** No change tells that a space is open again: those that could not be read are tried. */
async function* readUnread(ctx: RunContext, scope: Scope): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const failures = makeFailures(() => client.me());
  const unread = new Set<string>();
  for (const space of Unread.parse(await ctx.state.get(UNREAD))) {
    for await (const { events, isRead } of isInside(scope, space) ? readSpace(ctx, { client, failures }, space) : []) {
      yield* events;
      if (!isRead) unread.add(space);
    }
  }
  ctx.state.put(UNREAD, [...unread]);
}

const Unread = z.array(z.string()).catch([]);

/** Gives the number of the last change. */
async function* readChanges(ctx: RunContext, scope: Scope, since: number): AsyncGenerator<Event, number> {
  const { changes, latest } = await makeClient(ctx).changes(since);
  // A page that has another id now is no page that is gone.
  const renamed = new Set(changes.flatMap((change) => ("page" in change ? (change.is?.formerly ?? []) : [])));
  for (const change of changes) {
    if ("space" in change) {
      if (change.is === null) yield { t: "delete_container", ...spaceRef(change.space) };
    } else if (change.is !== null && isInside(scope, change.is.space)) {
      yield* await tell(ctx, [change.is]);
    } else if (!renamed.has(change.page)) {
      yield { t: "delete", externalId: change.page };
    }
  }
  return latest;
}

/** Only these, as they are now. */
async function* readItems(ctx: RunContext, scope: Scope, ids: readonly string[]): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const failures = makeFailures(() => client.me());
  yield* readEach<Event>({ ctx, failures }, ids, async (id) => {
    const page = await client.page(id).catch((error: unknown) => {
      if (!isApiError(error, "source_not_found")) throw error;
      return undefined;
    });
    return page && isInside(scope, page.space) ? [{ t: "upsert", item: toItem(ctx, page) }] : [];
  });
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

/** Pages that are stored as they are here are only named: of the others the text is read again. */
async function tell(ctx: RunContext, pages: readonly PageRecord[]): Promise<Event[]> {
  const events: Event[] = [];
  const same: string[] = [];
  for (const page of pages) {
    ctx.signal.throwIfAborted();
    const item = toItem(ctx, page);
    const isSame = (await ctx.stored.version(page.id)) === item.version;
    // A page that moved has the version it had, and other readers.
    const isThere =
      isSame && (item.access === undefined || (await ctx.stored.accessKey(page.id)) === accessKeyOf(item.access));
    if (isThere) same.push(page.id);
    else events.push({ t: "upsert", item });
  }
  return same.length > 0 ? [...events, { t: "seen", externalIds: same }] : events;
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
