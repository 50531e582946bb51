import { storedIds } from "#sources/collect.ts";
import type { Found } from "#sources/atlassian/sessions.ts";
import { failedSkip } from "#sources/failures.ts";
import type { WalkEvent } from "#sources/session.ts";
import { externalIdOf, formatId, spaceRef } from "./ids.ts";
import { readSingly } from "./items.ts";
import type { Content, SpaceRecord } from "./records.ts";
import { readSome } from "./some.ts";
import type { Spaces } from "./spaces.ts";
import { closed } from "./texts.ts";
import { notUnderstood } from "#sources/unread.ts";
import type { Tools } from "./tools.ts";

/**
 * How far an increment looks back before the last run: the search index lags a little behind writes, and CQL has a
 * resolution of one minute.
 */
const OVERLAP_MINUTES = 10;

type Event = WalkEvent<never>;

/** Reads changes since `before`, and items that earlier runs could not read. */
export async function* readUpdated(
  tools: Tools,
  before: number,
  found: Found<SpaceRecord>,
): AsyncGenerator<Event, void> {
  yield* readChanged(tools, before, found);
  yield* readNoted(tools, found.list, found.due);
}

/** Reads the present state of items that earlier runs could not read. */
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

/**
 * Returns the CQL condition relative to the time of the request, so that it is the same in every time zone. The time of
 * the request matters because a run may take hours.
 */
function since(tools: Tools, before: number): string {
  const minutes = Math.max(0, Math.ceil((tools.serverNow() - before) / 60_000)) + OVERLAP_MINUTES;
  return `lastmodified >= now("-${minutes}m")`;
}

async function* readChanged(
  tools: Tools,
  before: number,
  { here, open }: Found<SpaceRecord>,
): AsyncGenerator<Event, void> {
  const { client } = tools;
  client.odd.take();
  const pages = yield* sorted(
    tools,
    "pages",
    client.search(`type in (page, blogpost) AND ${since(tools, before)}`, "space"),
  );
  const parts = yield* sorted(tools, "comments and attachments", client.parts(since(tools, before)));
  for (const id of client.odd.take().ids) yield await notUnderstood(tools, id);
  const left = new Map(pages);
  for (const space of open) {
    const ids = (pages.get(space.id) ?? []).map(({ id }) => id);
    left.delete(space.id);
    try {
      yield* readSome(tools, space, ids, parts.get(space.id) ?? []);
    } catch (error) {
      yield await tools.containers.notRead(space, error);
    }
  }
  for (const [spaceId, records] of left) yield* leaveOut(tools, here.has(spaceId) ? spaceId : undefined, records);
}

/** Groups changed records by their spaces. If the list fails, the next run requests these changes again. */
async function* sorted(
  { client, failures, unread }: Tools,
  what: string,
  list: AsyncIterable<Content[]>,
): AsyncGenerator<Event, ReadonlyMap<string, Content[]>> {
  const found = new Map<string, Content[]>();
  async function sort(): Promise<void> {
    for await (const records of list) {
      for (const record of records) {
        if (record.space) found.set(record.space.id, [...(found.get(record.space.id) ?? []), record]);
        else client.odd.add(externalIdOf(record));
      }
    }
  }
  const error = yield* failures.alone(sort());
  if (error) {
    unread.missed();
    yield failedSkip(`changed ${what}`, `The changed ${what} can't be listed now: ${error.message}`);
  }
  return found;
}

/**
 * Reports pages that have moved to a place that isn't read: access to their old place no longer applies. Pages that
 * were stored at the new place before stay unchanged.
 */
async function* leaveOut(
  { ctx }: Tools,
  failedSpace: string | undefined,
  records: readonly Content[],
): AsyncGenerator<Event, void> {
  const staying = new Set(failedSpace === undefined ? [] : await storedIds(ctx, spaceRef(failedSpace)));
  for (const { id } of records) {
    const externalId = formatId({ type: "page", id });
    if (!staying.has(externalId) && (await ctx.stored.version(externalId)) !== undefined) yield closed(id);
  }
}
