import { refusalOf } from "#sources/failures.ts";
import { listingOf } from "#sources/listed.ts";
import { compareIds } from "#sources/atlassian/tell.ts";
import type { SyncContext, SyncRequest, What } from "#sources/contract.ts";
import { readChanges } from "./changes.ts";
import type { ConfluenceConfig } from "./config.ts";
import { spaceRef } from "./ids.ts";
import { readItems } from "./items.ts";
import { listSpace } from "./listing.ts";
import { nameOf } from "./map.ts";
import { spacesOf } from "./spaces.ts";
import { ConfluenceCursor, type Event, makeTools, MOST_KNOWN, oddSpace, spaceNotRead, type Tools } from "./tools.ts";

export async function* syncPages(
  ctx: SyncContext<ConfluenceConfig>,
  run: SyncRequest<ConfluenceCursor>,
): AsyncGenerator<Event, void> {
  const tools = await makeTools(ctx, run);
  const cursor = ConfluenceCursor.safeParse(run.cursor).data;
  if (run.mode === "items") yield* readItems(tools);
  else if (run.mode === "incremental" && cursor?.type === "changes") yield* readChanges(tools, cursor.at);
  else yield* listAll(tools, cursor);
}

/** Every space as a whole. Who reads what is told with it; texts are read of what is new or changed. */
async function* listAll(tools: Tools, cursor: ConfluenceCursor | undefined): AsyncGenerator<Event, void> {
  const { ctx, run, client } = tools;
  const runId = run.runId ?? null;
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const former = cursor?.type === "listing" && runId !== null && cursor.runId === runId ? cursor : undefined;
  const at = former?.at ?? tools.at;
  const failed = new Set(former?.notLookedAt);
  if (!former) await tools.unread.clear();
  let { after, done } = { after: former?.after ?? null, done: former?.done ?? 0 };
  const position = (space?: { id: string; page: string }): ConfluenceCursor => ({
    type: "listing",
    runId,
    at,
    after,
    done,
    notLookedAt: [...failed],
    ...(space && { space }),
  });
  const { spaces, odd, isWhole } = await spacesOf(client, ctx.config, run.scope);
  for (const space of spaces) tools.spaces.set(space.id, space);
  for (const id of odd) {
    yield oddSpace(tools, id);
    failed.add(id);
  }
  for (const space of spaces) {
    ctx.signal.throwIfAborted();
    if (after !== null && compareIds(space.id, after) <= 0) continue;
    const from = former?.space?.id === space.id ? former.space.page : undefined;
    try {
      for await (const { events, count, page } of listSpace(tools, space, from)) {
        yield* events;
        done += count;
        yield { t: "progress", done, note: nameOf(space) };
        if (page !== undefined) yield { t: "checkpoint", cursor: position({ id: space.id, page }) };
      }
      tools.failures.well();
    } catch (error) {
      yield await spaceNotRead(tools, space, error);
      if (refusalOf(error) === undefined) failed.add(space.id);
    }
    after = space.id;
    yield { t: "checkpoint", cursor: position() };
  }
  if (isWhole) ctx.state.put("spaces", [...spaces.map(({ id }) => id), ...odd].slice(0, MOST_KNOWN));
  await client.whoAmI();
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  const places = [...failed].map((id): What => ({ container: spaceRef(id) }));
  yield {
    t: "end",
    ...listingOf(isWhole, "Confluence's list of spaces"),
    permissions: "current",
    ...(places.length > 0 && { notLookedAt: places }),
  };
}
