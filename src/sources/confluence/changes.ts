import { z } from "zod";
import { waitingSkip } from "#sources/waits.ts";
import { externalIdOf, formatId, spaceRef } from "./ids.ts";
import { readSingly } from "./items.ts";
import { listSpace } from "./listing.ts";
import { nameOf } from "./map.ts";
import type { Content, SpaceRecord } from "./records.ts";
import { readSome } from "./some.ts";
import { type Spaces, spacesOf } from "./spaces.ts";
import { closed } from "./texts.ts";
import { type Event, labelOf, MOST_KNOWN, notUnderstood, oddSpace, spaceNotRead, type Tools } from "./tools.ts";

/** The index is a little behind what is written, and minutes are all that CQL counts in. */
const OVERLAP_MINUTES = 10;

/**
 * What changed since `before`, and spaces that are new, renamed or gone. What is deleted, moved, or restricted otherwise is
 * in no search: the next listing finds it.
 */
export async function* readChanges(tools: Tools, before: number): AsyncGenerator<Event, void> {
  const { ctx, client, run, unread } = tools;
  const listed = await spacesOf(client, ctx.config, run.scope);
  const { spaces, odd, isWhole } = listed;
  for (const space of spaces) tools.spaces.set(space.id, space);
  const due = await unread.due();
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
  yield* readUpdated(tools, before, { here, open });
  yield* readNoted(tools, listed, due);
  await client.whoAmI();
  // Of more than can be noted, the last day is read again.
  const at = unread.isFull() ? Math.max(before, tools.at - DAY_MS) : tools.at;
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

const Known = z.array(z.string());
const DAY_MS = 86_400_000;

/** What former runs could not read, as it is now. */
async function* readNoted(tools: Tools, spaces: Spaces, due: readonly string[]): AsyncGenerator<Event, void> {
  for (const id of due) {
    let hasFailed = false;
    for await (const event of readSingly(tools, spaces, [id])) {
      hasFailed ||= event.t === "skip";
      yield event;
    }
    if (hasFailed) await tools.unread.note(id);
    else await tools.unread.done(id);
  }
}

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
    if (await tools.waits.isWaiting(space.id)) {
      yield waitingSkip(`space ${space.id}`, nameOf(space));
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

async function* readUpdated(
  tools: Tools,
  before: number,
  { here, open }: { here: ReadonlySet<string>; open: readonly SpaceRecord[] },
): AsyncGenerator<Event, void> {
  const { client } = tools;
  const pages = new Map<string, Content[]>();
  const parts = new Map<string, Content[]>();
  const sort = (found: Map<string, Content[]>, records: readonly Content[]) => {
    for (const record of records) {
      if (record.space) found.set(record.space.id, [...(found.get(record.space.id) ?? []), record]);
      else client.odd.add(externalIdOf(record));
    }
  };
  client.odd.take();
  for await (const records of client.search(`type in (page, blogpost) AND ${since(tools, before)}`, "space"))
    sort(pages, records);
  for await (const records of client.parts(since(tools, before))) sort(parts, records);
  for (const id of client.odd.take().ids) yield await notUnderstood(tools, id);
  for (const space of open) {
    const ids = (pages.get(space.id) ?? []).map(({ id }) => id);
    pages.delete(space.id);
    try {
      yield* readSome(tools, space, ids, parts.get(space.id) ?? []);
    } catch (error) {
      yield await spaceNotRead(tools, space, error);
    }
  }
  for (const [spaceId, records] of pages) yield* leaveOut(tools, here.has(spaceId) ? spaceId : undefined, records);
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
