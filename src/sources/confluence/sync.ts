import { listingOf } from "#sources/listed.ts";
import type { SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { readChanges } from "./changes.ts";
import type { ConfluenceConfig } from "./config.ts";
import { readItems } from "./items.ts";
import { listSpace } from "./listing.ts";
import { spacesOf } from "./spaces.ts";
import { ConfluenceCheckpoint, ConfluenceCursor, makeTools, type Tools } from "./tools.ts";

export const confluenceSessions: SessionSpec<ConfluenceConfig, ConfluenceCursor, ConfluenceCheckpoint> = {
  cursor: ConfluenceCursor,
  checkpoint: ConfluenceCheckpoint,
  async open(ctx, run) {
    const tools = await makeTools(ctx, run);
    return { walk: (request) => walk(tools, request), read: (ids) => readItems(tools, ids) };
  },
};

/** Every space as a whole, or what changed. Who reads what is told with it; texts are read of what is new or changed. */
async function* walk(
  tools: Tools,
  { since, resume }: WalkRequest<ConfluenceCursor, ConfluenceCheckpoint>,
): AsyncGenerator<WalkEvent<ConfluenceCheckpoint>, WalkEnd<ConfluenceCursor>> {
  const { ctx, client, containers, scope, unread } = tools;
  const place = resume ?? { feed: { at: tools.at }, after: "" };
  const list = await spacesOf(client, ctx.config, scope);
  for (const space of list.known) tools.spaces.set(space.id, space);
  yield* containers.odd(list);
  if (since) {
    yield* readChanges(tools, list, place, since.at);
    // Of more than can be noted, the last day is read again.
    const at = unread.isFull() ? Math.max(since.at, place.feed.at - DAY_MS) : place.feed.at;
    return { complete: false, cursor: { at }, permissions: "not_checked" };
  }
  await unread.beginListing({ isResumed: resume !== undefined });
  yield* containers.walk(list.known, place, (space, at) => listSpace(tools, space, at));
  await containers.keep(list);
  await unread.endListing();
  await client.whoAmI();
  const { listing, ...why } = listingOf(list.isWhole, "Confluence's list of spaces");
  return { complete: listing === "complete", ...why, cursor: place.feed, permissions: "current" };
}

const DAY_MS = 86_400_000;
