import { accessKeyOf } from "#core/access-key.ts";
import { inChunks } from "#core/in-chunks.ts";
import { reportItems } from "#sources/atlassian/report.ts";
import { byNumber, type ContainerPage } from "#sources/containers.ts";
import type { SourceItem } from "#sources/item.ts";
import { failedSkip, type ListReading } from "#sources/failures.ts";
import { halfRead, namelessSkip, type OddRecords } from "#sources/listed.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { quoted } from "./client.ts";
import { externalIdOf, formatId, parseId, spaceRef } from "./ids.ts";
import { nameOf, toPart } from "./map.ts";
import type { Content, PageRecord, SpaceRecord } from "./records.ts";
import { reportFresh, reportListed, textsOf } from "./texts.ts";
import { notUnderstood } from "#sources/unread.ts";
import { allNotUnderstood, type Tools } from "./tools.ts";
import { makeTree } from "./tree.ts";

type Listed = ContainerPage<string>;

/** The number of pages in one chunk. */
const PIECE = 100;

/**
 * Memory limit of a space's tree in characters, and of each page's overhead in it besides its title: enough for some
 * 700,000 pages.
 */
const MOST_CHARS = 256_000_000;
const CHARS_OF_PAGE = 300;

/**
 * Lists every page of a space with its comments and attachments, starting after the page where an earlier attempt
 * ended. Items that are stored in their present version are only named, but their access is always reported.
 */
export async function* listSpace(tools: Tools, space: SpaceRecord, from?: string): AsyncGenerator<Listed, void> {
  const { ctx, client, failures } = tools;
  const pages = new Map<string, PageRecord>();
  const tree = makeTree(tools, pages);
  const failed: Outcome[] = [];
  const alone = async function* (what: string, list: ListReading<Listed>): AsyncGenerator<Listed, void> {
    const error = yield* failures.alone(list);
    if (!error) return;
    failed.push(tools.containers.inPart(space, `The ${what} of ${nameOf(space)} can't be read now: ${error.message}`));
  };
  client.odd.take();
  const room = { chars: MOST_CHARS };
  yield* alone("pages", collect(tools, client.contents(space, "page"), pages, room));
  yield* alone("blog posts", collect(tools, client.contents(space, "blogpost"), pages, room));
  const oddPages = client.odd.take();
  const inOrder = [...pages.values()].sort((a, b) => byNumber(a.id, b.id));
  for (const piece of inChunks(inOrder, PIECE)) {
    ctx.signal.throwIfAborted();
    const last = piece.at(-1)?.id ?? "";
    // Pages that an earlier attempt named aren't named again. Their groups are reported again together with the pages
    // below them.
    const isOver = from !== undefined && byNumber(last, from) <= 0;
    const { groups, accessOf, known, failed } = await tree.judge(piece);
    const events = isOver ? [] : await reportListed(tools, space, known, accessOf);
    const entries = [...groups, ...(await allNotUnderstood(tools, failed)), ...events];
    yield { t: "page", entries, at: isOver ? undefined : last, note: nameOf(space) };
  }
  const named = new Set([...pages.keys()].map((id) => formatId({ type: "page", id })));
  yield* alone("comments and attachments", listParts(tools, space, pages, named));
  const oddParts = client.odd.take();
  if (failed.length === 0) yield* askAgain(tools, space, named);
  for (const odd of [oddPages, oddParts]) yield { t: "page", entries: await reportOdd(tools, space, odd) };
  // The answer to an unauthenticated request must not be mistaken for everything.
  await client.whoAmI();
  const whole: Outcome = { t: "listed", container: spaceRef(space.id) };
  yield { t: "page", entries: failed.length > 0 ? failed : [whole] };
  if (failed.length > 0) await tools.containers.isReadInPart(space);
  else await tools.containers.isRead(space);
}

async function collect(
  { ctx }: Tools,
  list: AsyncIterable<PageRecord[]>,
  pages: Map<string, PageRecord>,
  room: { chars: number },
): Promise<void> {
  for await (const some of list) {
    ctx.signal.throwIfAborted();
    for (const page of some) {
      pages.set(page.id, page);
      room.chars -= page.title.length + CHARS_OF_PAGE;
    }
    if (room.chars < 0) throw halfRead("There are too many.");
  }
}

async function* listParts(
  tools: Tools,
  space: SpaceRecord,
  pages: ReadonlyMap<string, PageRecord>,
  named: Set<string>,
): AsyncGenerator<Listed, void> {
  const { ctx, client } = tools;
  for await (const records of client.parts(`space = ${quoted(space.key)}`)) {
    ctx.signal.throwIfAborted();
    const items = await toParts(tools, space, records, ({ id }) => pages.has(id));
    for (const { externalId } of items) named.add(externalId);
    const events = await reportItems(ctx.stored, items);
    // A page may have been closed before a comment was added to it, so access is checked after the comment was read.
    const touched = new Set(events.flatMap((event) => (event.t === "upsert" ? (event.item.partOf ?? []) : [])));
    const stale = [...touched].flatMap((id) => pages.get(id) ?? []);
    const access = await reportAccess(tools, stale, pages);
    yield { t: "page", entries: [...access, ...withoutParts(events, access)] };
  }
}

/** Reports the listed records of a space that could not be parsed. Those that are stored are requested individually. */
async function reportOdd(
  tools: Tools,
  space: SpaceRecord,
  { ids, nameless }: ReturnType<OddRecords["take"]>,
): Promise<Outcome[]> {
  const events: Outcome[] = [];
  for (const id of ids) {
    if ((await tools.ctx.stored.version(id)) === undefined) events.push(await notUnderstood(tools, id));
  }
  if (nameless > 0) events.push(namelessSkip(`space ${space.id}`, nameless, "of its pages and comments"));
  return events;
}

/**
 * Returns the events about comments and attachments. If a page's readers are unknown now, its new parts are reported as
 * failed.
 */
export function withoutParts(events: readonly Outcome[], access: readonly Outcome[]): Outcome[] {
  const failed = new Set(access.flatMap((event) => (event.t === "skip" ? [event.externalId] : [])));
  return events.map((event) =>
    event.t === "upsert" && event.item.partOf !== undefined && failed.has(event.item.partOf)
      ? failedSkip(event.item.externalId, "The site can't say now who may read its page.")
      : event,
  );
}

/** Reports the present readers of these pages, if they differ from the readers already reported. */
export async function reportAccess(
  tools: Tools,
  pages: readonly PageRecord[],
  listed?: ReadonlyMap<string, PageRecord>,
): Promise<Outcome[]> {
  if (pages.length === 0) return [];
  const { groups, accessOf, known, failed } = await makeTree(tools, listed).judge(pages);
  const events: Outcome[] = [...groups, ...(await allNotUnderstood(tools, failed))];
  for (const page of known) {
    const [externalId, access] = [formatId({ type: "page", id: page.id }), accessOf(page)];
    const before = await tools.ctx.stored.accessKey(externalId);
    if (before !== accessKeyOf(access)) events.push({ t: "access", externalId, access });
  }
  return events;
}

/** Makes the items of comments and attachments, for the pages that `isTaken` accepts. */
export async function toParts(
  { client, mapping, namesIn }: Tools,
  space: SpaceRecord,
  records: readonly Content[],
  isTaken: (container: { id: string }) => boolean,
): Promise<SourceItem[]> {
  const items: SourceItem[] = [];
  for (const record of records) if (saysTooLittle(record)) client.odd.add(externalIdOf(record));
  const taken = records.filter(
    ({ container, space: where, status }) =>
      container && isTaken(container) && where?.id === space.id && status?.toLowerCase() === "current",
  );
  const people = await namesIn(taken.map(({ body }) => body?.storage?.value));
  for (const record of taken) {
    const item = await toPart(mapping, record, { space, people });
    if (item) items.push(item);
  }
  return items;
}

/** Whether a record lacks its location, which every comment and attachment has. */
function saysTooLittle({ container, space, version, status }: Content): boolean {
  return !container || !space || !version || status === undefined;
}

/**
 * Requests by id the stored items of a space that no listing named. An index that is being built, or a page that
 * shifted while others were deleted, can hide existing items.
 */
async function* askAgain(tools: Tools, space: SpaceRecord, named: Set<string>): AsyncGenerator<Listed, void> {
  const { ctx } = tools;
  const pages: string[] = [];
  const parts: { type: "comment" | "attachment"; id: string }[] = [];
  for await (const { externalId } of ctx.stored.list(spaceRef(space.id))) {
    const { type, id } = parseId(externalId) ?? {};
    if (named.has(externalId) || id === undefined) continue;
    if (type === "page") pages.push(id);
    else if (type !== undefined) parts.push({ type, id });
  }
  for (const some of inChunks(pages, PIECE)) {
    const { pages: read, odd } = await textsOf(tools, some);
    for (const id of [...read.map((page) => page.id), ...odd]) named.add(formatId({ type: "page", id }));
    yield { t: "page", entries: await allNotUnderstood(tools, odd) };
    // The page may be in the space that it has moved to since the listing.
    for (const spaceId of new Set(read.map((page) => page.spaceId))) {
      const where = spaceId === space.id ? space : tools.byId.get(spaceId);
      const found = read.filter((page) => page.spaceId === spaceId);
      if (where) yield { t: "page", entries: await reportFresh(tools, where, found) };
    }
  }
  for (const part of parts) {
    ctx.signal.throwIfAborted();
    yield { t: "page", entries: await checkPart(tools, space, part, named) };
  }
}

async function checkPart(
  tools: Tools,
  space: SpaceRecord,
  part: { type: "comment" | "attachment"; id: string },
  named: ReadonlySet<string>,
): Promise<Outcome[]> {
  const { ctx, client, failures } = tools;
  try {
    const record = await client.part(part);
    const where = tools.byId.get(record?.space?.id ?? "") ?? space;
    const items = await toParts(tools, where, record ? [record] : [], ({ id: page }) => named.has(page));
    failures.well();
    const events: Outcome[] = await reportItems(ctx.stored, items);
    for (const id of client.odd.take().ids) events.push(await notUnderstood(tools, id));
    return events;
  } catch (error) {
    await failures.requireOfOne(error);
    return [await notUnderstood(tools, formatId(part))];
  }
}
