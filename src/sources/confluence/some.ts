import { inChunks } from "#core/in-chunks.ts";
import { accessKeyOf } from "#core/access-key.ts";
import { reportItems } from "#sources/atlassian/report.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { formatId } from "./ids.ts";
import { reportAccess, toParts, withoutParts } from "./listing.ts";
import type { Content, SpaceRecord } from "./records.ts";
import { closed, judgeNow, reportFresh, textsOf } from "./texts.ts";
import { notUnderstood } from "#sources/unread.ts";
import { allNotUnderstood, type Tools } from "./tools.ts";

/** The number of pages and parts in one chunk. */
const PIECE = 100;

/** Reads the present state of these pages and parts of a space. Their readers are requested after they were read. */
export async function* readSome(
  tools: Tools,
  space: SpaceRecord,
  ids: readonly string[],
  parts: readonly Content[],
): AsyncGenerator<Outcome, void> {
  const { ctx, client } = tools;
  for (const some of inChunks(ids, PIECE)) {
    ctx.signal.throwIfAborted();
    const { pages: read, odd } = await textsOf(tools, some);
    const pages = read.filter(({ spaceId }) => spaceId === space.id);
    const events = await reportFresh(tools, space, pages);
    for (const event of events) if (event.t === "upsert") yield* reportBelow(tools, space, event.item);
    yield* events;
    const there = new Set(pages.map(({ id }) => id));
    for (const id of some) if (!there.has(id)) yield odd.has(id) ? await notUnderstood(tools, id) : closed(id);
  }
  for (const some of inChunks(parts, PIECE)) {
    ctx.signal.throwIfAborted();
    const stored = new Set<string>();
    for (const id of new Set(some.flatMap(({ container }) => container?.id ?? []))) {
      if (ids.includes(id) || (await ctx.stored.version(formatId({ type: "page", id }))) !== undefined) stored.add(id);
    }
    const { found: items, ids: odd } = await client.odd.of(() =>
      toParts(tools, space, some, ({ id }) => stored.has(id)),
    );
    yield* await allNotUnderstood(tools, odd);
    const asked = [...new Set(items.map(({ partOf = "" }) => partOf))].filter((id) => !ids.includes(id));
    const pages = await client.pagesByIds(asked, { hasTexts: false });
    const access = await reportAccess(
      tools,
      pages.filter(({ spaceId }) => spaceId === space.id),
    );
    yield* access;
    for (const id of asked) if (!pages.some((page) => page.id === id && page.spaceId === space.id)) yield closed(id);
    yield* withoutParts(await reportItems(ctx.stored, items), access);
  }
}

/** Reports the pages below a page whose readers changed, since their readers change too. */
async function* reportBelow(
  tools: Tools,
  space: SpaceRecord,
  { externalId, access }: { externalId: string; access?: Parameters<typeof accessKeyOf>[0] },
): AsyncGenerator<Outcome, void> {
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
    const { groups, accessOf, known, failed } = await judgeNow(tools, pages);
    yield* groups;
    yield* await allNotUnderstood(tools, failed);
    for (const page of known)
      yield { t: "access", externalId: formatId({ type: "page", id: page.id }), access: accessOf(page) };
  }
}
