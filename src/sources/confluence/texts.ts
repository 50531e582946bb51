import { isApiError } from "#api/errors.ts";
import { inChunks } from "#core/in-chunks.ts";
import { accessKeyOf } from "#core/access-key.ts";
import { reportSeen } from "#sources/seen.ts";
import { failedStatus, refused } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { formatId } from "./ids.ts";
import { toPage, versionOf } from "./map.ts";
import type { PageRecord, SpaceRecord } from "./records.ts";
import { mentionedIn } from "./storage.ts";
import { notUnderstood } from "#sources/unread.ts";
import { allNotUnderstood, type Tools } from "./tools.ts";
import { type Judged, makeTree } from "./tree.ts";

/** Pages whose texts are requested in one call. */
const BODIES = 25;

/** Pages with their texts. `odd` are the ids of the pages that the site fails for, or that could not be parsed. */
export interface Texts {
  pages: PageRecord[];
  odd: Set<string>;
}

type Reading = Pick<Tools, "client" | "ctx" | "failures">;

/** Requests several texts in one call, or one by one if they are too large for one call or if one of them fails. */
export async function textsOf(tools: Reading, ids: readonly string[]): Promise<Texts> {
  const found: Texts = { pages: [], odd: new Set() };
  for (const some of inChunks(ids, BODIES)) {
    tools.ctx.signal.throwIfAborted();
    const { pages, odd } = await readTexts(tools, some);
    found.pages.push(...pages);
    for (const id of odd) found.odd.add(id);
  }
  return found;
}

async function readTexts(tools: Reading, some: readonly string[]): Promise<Texts> {
  const { client, failures } = tools;
  try {
    const { found, ids, nameless } = await client.odd.of(() => client.pagesByIds(some, { hasTexts: true }));
    if (nameless > 0) throw halfRead(NOT_UNDERSTOOD);
    failures.well();
    return { pages: found, odd: new Set(ids) };
  } catch (error) {
    const isTooLarge = isApiError(error, "payload_too_large");
    if (!isTooLarge && failedStatus(error) === undefined) throw error;
    if (some.length > 1) return inHalves(tools, some);
    if (!isTooLarge) await failures.requireOfOne(error);
    const [only] = isTooLarge ? await client.pagesByIds(some, { hasTexts: false }) : [];
    return { pages: only ? [{ ...only, isTooLarge: true }] : [], odd: new Set(isTooLarge ? [] : some) };
  }
}

async function inHalves(tools: Reading, ids: readonly string[]): Promise<Texts> {
  const middle = Math.ceil(ids.length / 2);
  const first = await readTexts(tools, ids.slice(0, middle));
  const second = await readTexts(tools, ids.slice(middle));
  return { pages: [...first.pages, ...second.pages], odd: new Set([...first.odd, ...second.odd]) };
}

/**
 * Reports pages from a listing. Their readers were requested after the listing, so the present readers may read the
 * listed texts. Items that are stored in their present version are only named. If a page changed since the listing, its
 * readers are requested again after its text was read.
 */
export async function reportListed(
  tools: Tools,
  space: SpaceRecord,
  pages: readonly PageRecord[],
  accessOf: Judged["accessOf"],
): Promise<Outcome[]> {
  const { stored } = tools.ctx;
  const events: Outcome[] = [];
  const same: string[] = [];
  const other = new Map<string, PageRecord>();
  for (const page of pages) {
    const externalId = formatId({ type: "page", id: page.id });
    const access = accessOf(page);
    if ((await stored.version(externalId)) !== versionOf(page, space)) other.set(page.id, page);
    else if ((await stored.accessKey(externalId)) === accessKeyOf(access)) same.push(externalId);
    else events.push({ t: "access", externalId, access });
  }
  events.push(...reportSeen(same));
  const fresh: PageRecord[] = [];
  const { pages: read, odd } = await textsOf(tools, [...other.keys()]);
  const people = await learnPeople(tools, read);
  for (const page of read) {
    const listed = other.get(page.id);
    if (!listed || page.spaceId !== space.id) continue;
    other.delete(page.id);
    if (versionOf(page, space) !== versionOf(listed, space)) fresh.push(page);
    else events.push(await upsertOf(tools, space, page, { access: accessOf(listed), people }));
  }
  for (const id of other.keys()) events.push(odd.has(id) ? await notUnderstood(tools, id) : closed(id));
  return [...events, ...(await reportFresh(tools, space, fresh))];
}

/** Reports pages whose texts were just read. Their readers are requested after that. */
export async function reportFresh(tools: Tools, space: SpaceRecord, pages: readonly PageRecord[]): Promise<Outcome[]> {
  if (pages.length === 0) return [];
  const { groups, accessOf, known, failed } = await judgeNow(tools, pages);
  const events: Outcome[] = [...groups, ...(await allNotUnderstood(tools, failed))];
  const people = await learnPeople(tools, known);
  for (const page of known) events.push(await upsertOf(tools, space, page, { access: accessOf(page), people }));
  return events;
}

/** Requests the present readers of these pages, even if they were reported before. */
export function judgeNow(tools: Pick<Tools, "client" | "mapping" | "failures">, pages: readonly PageRecord[]) {
  return makeTree(tools).judge(pages);
}

/**
 * Builds the event for a page that was closed, moved away or deleted since it was listed: its readers are no longer
 * known.
 */
export function closed(id: string): Outcome {
  return refused(formatId({ type: "page", id }), "source_not_found");
}

/**
 * Requests authors and the names of mentioned people for all pages at once. Data Center returns the authors with their
 * pages.
 */
async function learnPeople({ client, usersOf, namesIn }: Tools, pages: readonly PageRecord[]): Promise<Names> {
  if (client.cloud) await usersOf(pages.map(({ authorId }) => authorId));
  return namesIn(pages.map(({ body }) => body));
}

/** Suffix of the version of a page that lacks names, so that the next listing reads the page again. */
const IN_PART = "~";

type Names = Awaited<ReturnType<Tools["namesIn"]>>;

async function upsertOf(
  { client, mapping, usersOf, areKnown }: Tools,
  space: SpaceRecord,
  page: PageRecord,
  { access, people }: { access: ReturnType<Judged["accessOf"]>; people: Names },
): Promise<Outcome> {
  const author = client.cloud ? (await usersOf([page.authorId])).get(page.authorId ?? "") : page.author;
  const item = await toPage(mapping, page, { space, access, author, people });
  const isWhole = areKnown([page.authorId, ...mentionedIn(page.body ?? "")]);
  return { t: "upsert", item: isWhole ? item : { ...item, version: `${item.version}${IN_PART}` } };
}
