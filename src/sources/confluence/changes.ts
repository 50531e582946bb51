import { z } from "zod";
import { inChunks } from "#core/in-chunks.ts";
import { accessKeyOf } from "#core/access-key.ts";
import { tellItems } from "#sources/atlassian/tell.ts";
import { failedSkip } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { formatId, spaceRef } from "./ids.ts";
import { listSpace, toParts, tellAccess } from "./listing.ts";
import type { Content, SpaceRecord } from "./records.ts";
import { spacesOf } from "./spaces.ts";
import { closed, judgeNow, tellFresh, textsOf } from "./texts.ts";
import { type Event, labelOf, MOST_KNOWN, oddSpace, spaceNotRead, type Tools } from "./tools.ts";

/** The index is a little behind what is written, and minutes are all that CQL counts in. */
const OVERLAP_MINUTES = 10;

/** Pages and parts of one piece. */
const PIECE = 100;

/**
 * What changed since `before`, and spaces that are new, renamed or gone. What is deleted, moved, or restricted otherwise is
 * in no search: the next listing finds it.
 */
export async function* readChanges(tools: Tools, before: number): AsyncGenerator<Event, void> {
  const { ctx, client, run } = tools;
  const { spaces, odd, isWhole } = await spacesOf(client, ctx.config, run.scope);
  const open = yield* readNewSpaces(tools, spaces, before);
  for (const id of odd) yield oddSpace(tools, id);
  const known = Known.safeParse(await ctx.state.get("spaces")).data ?? [];
  const here = new Set([...spaces.map(({ id }) => id), ...odd, ...(isWhole ? [] : known)]);
  for (const id of known) {
    if (here.has(id)) continue;
    ctx.state.put(`space:${id}`, undefined);
    // Deleted, archived, or closed to this account: until a listing of everything says which, nobody reads it.
    yield { t: "refused", what: { container: spaceRef(id) }, code: "source_not_found" };
  }
  ctx.state.put("spaces", [...here].slice(0, MOST_KNOWN));
  const isRead = yield* readUpdated(tools, before, { here, open });
  await client.whoAmI();
  // What failed is in the next run's window again.
  yield { t: "checkpoint", cursor: { type: "changes", at: isRead ? tools.at : before } };
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

const Known = z.array(z.string());

/** Reads spaces whole that are new, or are called otherwise now. Gives those that can be read. */
async function* readNewSpaces(
  tools: Tools,
  spaces: readonly SpaceRecord[],
  before: number,
): AsyncGenerator<Event, SpaceRecord[]> {
  const open: SpaceRecord[] = [];
  for (const space of spaces) {
    if ((await tools.ctx.state.get(`space:${space.id}`)) === labelOf(space)) {
      open.push(space);
      continue;
    }
    try {
      for await (const { events } of listSpace(tools, space)) yield* events;
      open.push(space);
    } catch (error) {
      yield await spaceNotRead(tools, space, error);
    }
    yield { t: "checkpoint", cursor: { type: "changes", at: before } };
  }
  return open;
}

/** Relative to when it is asked, so that it is the same in every time zone: a run may be under way for hours. */
function since(tools: Tools, before: number): string {
  const minutes = Math.max(0, Math.ceil((tools.serverNow() - before) / 60_000)) + OVERLAP_MINUTES;
  return `lastmodified >= now("-${minutes}m")`;
}

/** Gives whether all of it was read. */
async function* readUpdated(
  tools: Tools,
  before: number,
  { here, open }: { here: ReadonlySet<string>; open: readonly SpaceRecord[] },
): AsyncGenerator<Event, boolean> {
  const { client } = tools;
  const pages = new Map<string, Content[]>();
  const parts = new Map<string, Content[]>();
  const sort = (found: Map<string, Content[]>, records: readonly Content[]) => {
    for (const record of records) {
      const where = record.space?.id ?? "";
      found.set(where, [...(found.get(where) ?? []), record]);
    }
  };
  client.odd.take();
  for await (const records of client.search(`type in (page, blogpost) AND ${since(tools, before)}`, "space"))
    sort(pages, records);
  for await (const records of client.parts(since(tools, before))) sort(parts, records);
  let hasFailed = false;
  for (const id of client.odd.take().ids) {
    hasFailed = true;
    yield failedSkip(id, NOT_UNDERSTOOD);
  }
  for (const space of open) {
    const ids = (pages.get(space.id) ?? []).map(({ id }) => id);
    pages.delete(space.id);
    try {
      for await (const event of readSome(tools, space, ids, parts.get(space.id) ?? [])) {
        hasFailed ||= event.t === "skip";
        yield event;
      }
    } catch (error) {
      yield await spaceNotRead(tools, space, error);
    }
  }
  for (const [spaceId, records] of pages) yield* leaveOut(tools, here.has(spaceId) ? spaceId : undefined, records);
  return !hasFailed;
}

/** Pages that are now where nothing is read: nobody reads on by where they were. What was there before is as it is. */
async function* leaveOut(
  { ctx }: Tools,
  failedSpace: string | undefined,
  records: readonly Content[],
): AsyncGenerator<Event, void> {
  const staying = new Set<string>();
  if (failedSpace !== undefined) {
    for await (const { externalId } of ctx.stored.list(spaceRef(failedSpace))) staying.add(externalId);
  }
  for (const { id } of records) {
    const externalId = formatId({ type: "page", id });
    if (!staying.has(externalId) && (await ctx.stored.version(externalId)) !== undefined) yield closed(id);
  }
}

/** These pages and parts of a space, as they are now. Who reads them is asked after they were read. */
export async function* readSome(
  tools: Tools,
  space: SpaceRecord,
  ids: readonly string[],
  parts: readonly Content[],
): AsyncGenerator<Event, void> {
  const { ctx, client } = tools;
  for (const some of inChunks(ids, PIECE)) {
    ctx.signal.throwIfAborted();
    const { pages: read, odd } = await textsOf(tools, some);
    const pages = read.filter(({ spaceId }) => spaceId === space.id);
    const events = await tellFresh(tools, space, pages);
    for (const event of events) if (event.t === "upsert") yield* tellBelow(tools, space, event.item);
    yield* events;
    const there = new Set(pages.map(({ id }) => id));
    for (const id of some) if (!there.has(id)) yield odd.has(id) ? failedSkip(id, NOT_UNDERSTOOD) : closed(id);
  }
  for (const some of inChunks(parts, PIECE)) {
    ctx.signal.throwIfAborted();
    const stored = new Set<string>();
    for (const id of new Set(some.flatMap(({ container }) => container?.id ?? []))) {
      if (ids.includes(id) || (await ctx.stored.version(formatId({ type: "page", id }))) !== undefined) stored.add(id);
    }
    const items = await toParts(tools, space, some, ({ id }) => stored.has(id));
    const asked = [...new Set(items.map(({ partOf = "" }) => partOf))].filter((id) => !ids.includes(id));
    const pages = await client.pagesByIds(asked, { hasTexts: false });
    yield* await tellAccess(
      tools,
      pages.filter(({ spaceId }) => spaceId === space.id),
    );
    for (const id of asked) if (!pages.some((page) => page.id === id && page.spaceId === space.id)) yield closed(id);
    yield* await tellItems(ctx.stored, items);
  }
}

/** A page that others read now: so do others read what stands below it. */
async function* tellBelow(
  tools: Tools,
  space: SpaceRecord,
  { externalId, access }: { externalId: string; access?: Parameters<typeof accessKeyOf>[0] },
): AsyncGenerator<Event, void> {
  const { ctx, client } = tools;
  const before = await ctx.stored.accessKey(externalId);
  if (before === undefined || access === undefined || before === accessKeyOf(access)) return;
  for await (const records of client.search(`type = page AND ancestor = ${externalId}`, "space")) {
    const below: string[] = [];
    for (const { id, space: where } of records) {
      if (where?.id === space.id && (await ctx.stored.version(formatId({ type: "page", id }))) !== undefined)
        below.push(id);
    }
    const pages = await client.pagesByIds(below, { hasTexts: false });
    const { groups, accessOf } = await judgeNow(tools, pages);
    yield* groups;
    for (const page of pages)
      yield { t: "access", externalId: formatId({ type: "page", id: page.id }), access: accessOf(page) };
  }
}
