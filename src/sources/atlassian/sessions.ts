/** The syncs of Jira and Confluence: they read each project or space in full, and later find changes by a search. */
import { z } from "zod";
import {
  byNumber,
  type ContainerEvent,
  type ContainerList,
  type ContainerPlace,
  type ContainerSpec,
  makeContainers,
  placeSchema,
} from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import type { ContainerRef } from "#sources/item.ts";
import { makeFailures, refusedContainer } from "#sources/failures.ts";
import { completeOf } from "#sources/listed.ts";
import type { OpenRequest, SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { makeUnread } from "#sources/unread.ts";

/** `at` is a time by the server's clock. Changes before it were read. */
const Cursor = z.object({ at: z.number() });
type Cursor = z.infer<typeof Cursor>;

/** The dependencies of a run on one site. */
export type SiteRun<C extends SiteContainer> = Awaited<ReturnType<typeof beginRun<C>>>;

/** A project or a space. */
interface SiteContainer {
  id: string;
  key: string;
}

/** Starts a run. @throws ApiError if the request is unauthenticated, since the site then shows only public content */
export async function beginRun<C extends SiteContainer>(
  ctx: Pick<SyncContext<unknown>, "state" | "now">,
  client: { whoAmI(): Promise<{ at: number }> },
  { key, refOf, nameOf }: Pick<ContainerSpec<C>, "key" | "refOf" | "nameOf">,
) {
  const { at } = await client.whoAmI();
  const ahead = at - ctx.now();
  const failures = makeFailures(() => client.whoAmI());
  return {
    /** The server's clock when the run began. */
    at,
    /** Returns the present time by the server's clock. */
    serverNow: () => ctx.now() + ahead,
    /** Checks that the credentials still sign in. @throws ApiError */
    requireSignIn: () => client.whoAmI(),
    failures,
    /** Ids of items that could not be read, or were read only in part. */
    unread: makeUnread(ctx.state),
    /** The projects or spaces that the run reads, by id. */
    byId: new Map<string, C>(),
    containers: makeContainers<C>(ctx, {
      key,
      refOf,
      nameOf,
      compare: byNumber,
      labelOf: (container) => `${container.key}\n${nameOf(container)}`,
      countedAs: (id) => `${key} ${id}`,
      failures,
    }),
  };
}

/** The projects or spaces that an increment reads. */
export interface Found<C> {
  list: ContainerList<C>;
  /** Ids of the projects or spaces that exist, including those that can't be read. */
  here: ReadonlySet<string>;
  /** The projects or spaces that can be read. */
  open: readonly C[];
  /** Ids that earlier runs could not read and that are requested again. */
  due: readonly string[];
}

export interface AtlassianSpec<Config, C extends SiteContainer, At, Tools extends SiteRun<C>> {
  /** Position of a page within one project or space. */
  at: z.ZodType<At>;
  /** The name of the list of projects or spaces, in messages for people. */
  listName: string;
  refOf(id: string): ContainerRef;
  makeTools(ctx: SyncContext<Config>, run: OpenRequest): Promise<Tools>;
  /** Lists the projects or spaces in scope. */
  list(tools: Tools): Promise<ContainerList<C>>;
  /** Reads everything in one project or space. */
  readWhole(tools: Tools, container: C, at?: At): AsyncIterable<ContainerEvent<At>>;
  /** Reads the changes since `before` in the readable projects or spaces, and the items that are `due`. */
  readUpdated(tools: Tools, before: number, found: Found<C>): AsyncIterable<WalkEvent<never>>;
  readItems(tools: Tools, externalIds: readonly string[]): AsyncGenerator<Outcome, void>;
}

/**
 * Makes the sessions of an Atlassian app. A complete listing also reports access. An increment misses deletions, moves
 * and changed restrictions, because no search shows them; the next complete listing finds them.
 */
export function atlassianSessions<Config, C extends SiteContainer, At, Tools extends SiteRun<C>>(
  spec: AtlassianSpec<Config, C, At, Tools>,
): SessionSpec<Config, Cursor, ContainerPlace<At, Cursor>> {
  return {
    cursor: Cursor,
    checkpoint: placeSchema(spec.at, Cursor),
    async open(ctx, run) {
      const tools = await spec.makeTools(ctx, run);
      return { walk: (request) => walk(spec, tools, request), read: (ids) => spec.readItems(tools, ids) };
    },
  };
}

type Walk<At> = WalkEvent<ContainerPlace<At, Cursor>>;

async function* walk<C extends SiteContainer, At, Tools extends SiteRun<C>>(
  spec: AtlassianSpec<never, C, At, Tools>,
  tools: Tools,
  { since, resume }: WalkRequest<Cursor, ContainerPlace<At, Cursor>>,
): AsyncGenerator<Walk<At>, WalkEnd<Cursor>> {
  const { containers, byId, unread } = tools;
  const place = resume ?? { feed: { at: tools.at }, after: "" };
  const list = await spec.list(tools);
  for (const container of list.known) byId.set(container.id, container);
  yield* containers.odd(list);
  if (since) {
    yield* readChanges(spec, tools, list, place, since.at);
    // If more items failed than can be recorded, the last day is read again.
    const at = unread.isFull() ? Math.max(since.at, place.feed.at - DAY_MS) : place.feed.at;
    return { complete: false, cursor: { at }, permissions: "not_checked" };
  }
  await unread.beginListing({ isResumed: resume !== undefined });
  yield* containers.walk(list.known, place, (container, at) => spec.readWhole(tools, container, at));
  await containers.keep(list);
  await unread.endListing();
  // The answer to an unauthenticated request must not be mistaken for everything.
  await tools.requireSignIn();
  return { ...completeOf(list.isWhole, spec.listName), cursor: place.feed, permissions: "current" };
}

const DAY_MS = 86_400_000;

/** Reads changes, and projects or spaces that are new, renamed or gone. */
async function* readChanges<C extends SiteContainer, At, Tools extends SiteRun<C>>(
  spec: AtlassianSpec<never, C, At, Tools>,
  tools: Tools,
  list: ContainerList<C>,
  place: ContainerPlace<At, Cursor>,
  before: number,
): AsyncGenerator<Walk<At>, void> {
  const { containers, unread } = tools;
  const due = await unread.due();
  const open = yield* containers.readNew(list.known, place, (container, at) => spec.readWhole(tools, container, at));
  const { here, gone } = await containers.keep(list);
  for (const id of gone) {
    // The project or space is deleted, archived, or closed to this account. No one can read its items until a complete
    // listing shows which is the case.
    yield refusedContainer(spec.refOf(id), "source_not_found");
  }
  yield* spec.readUpdated(tools, before, { list, here, open, due });
  await tools.requireSignIn();
}
