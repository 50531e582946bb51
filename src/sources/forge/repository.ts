import { z } from "zod";
import type { ContainerEvent } from "#sources/containers.ts";
import { entryOf, type PageEntry } from "#sources/session.ts";
import { COMMENT_LISTS, type CommentList, type ForgeRepository, type ForgeThread } from "./contract.ts";
import { parseId, repositoryRef } from "./ids.ts";
import { readList } from "./lists.ts";
import { toPartItem, toThreadItem } from "./map.ts";
import { takeOdd } from "./odd.ts";
import { readReviews } from "./reviews.ts";
import { reportFiles } from "./report-files.ts";
import { findState, type ForgeTools, positionOf, putState, type RepositoryState } from "./tools.ts";

const List = z.enum(["threads", ...COMMENT_LISTS]);

/** The progress of a run in listing a repository, so that its next attempt requests only the rest. */
export const Place = z.object({
  part: z.enum([...List.options, "files"]),
  /** Absent if this list was not begun. */
  from: z.string().max(200).optional(),
  /** The beginning of the listing, by the forge's clock. The listing includes earlier changes. */
  since: z.number(),
  /** The highest number of a thread that was reported. */
  last: z.number(),
  /** The number of threads. Present after all of them were reported. */
  total: z.number(),
  /** True = some records could not be parsed and have no id to report. */
  isHalf: z.boolean(),
  /** Lists that could not be read. */
  failed: z.array(List).optional(),
});
export type Place = z.infer<typeof Place>;

type Events = AsyncGenerator<ContainerEvent<Place>, void>;

/** Lists everything in a repository, or only the rest if an earlier attempt of the same run ended within it. */
export async function* listRepository(tools: ForgeTools, repository: ForgeRepository, begun?: Place): Events {
  const { ctx, forge, repositories } = tools;
  const place: Place = begun ?? { part: "threads", since: ctx.now(), last: 0, total: 0, isHalf: false };
  const before = (await repositories.isKnown(repository)) ? await findState(ctx, repository) : undefined;
  forge.odd.take();
  if (hasThreads(repository) && place.part !== "files") yield* readLists(tools, repository, place, { before, begun });
  place.part = "files";
  const { isHalf, failed = [] } = place;
  const files = yield* reportFiles(tools, repository, { at: place, isSwept: !isHalf && failed.length === 0 });
  if (isHalf) {
    const message = `kb doesn't understand everything that ${repository.fullName} has.`;
    yield repositories.inPart(repository, message);
  }
  putState(ctx, repository, { ...stateAfter(place, before), ...(files && { files }) });
  await repositories.isRead(repository);
}

/** Returns the repository's state after the listing. A list that failed begins again at its previous position. */
function stateAfter({ since, total, last, failed = [] }: Place, before: RepositoryState | undefined): RepositoryState {
  const threads = failed.includes("threads") ? { total: before?.total ?? 0, last: before?.last ?? 0 } : { total, last };
  const behind = Object.fromEntries(failed.map((name) => [name, before ? positionOf(before, name) : 0]));
  return { since, ...threads, ...(failed.length > 0 && { behind }) };
}

/** Lists the issues and pull requests, and then their comments. `place` advances with them. */
async function* readLists(
  tools: ForgeTools,
  repository: ForgeRepository,
  place: Place,
  { before, begun }: { before: RepositoryState | undefined; begun: Place | undefined },
): Events {
  const { forge } = tools;
  const reported = new Set<number>();
  const [first, begunAt] = [place.part, begun?.from];
  async function* read(name: z.infer<typeof List>, list: Events): AsyncGenerator<ContainerEvent<Place>, boolean> {
    place.part = name;
    const isRead = yield* readList(tools, repository, { name, isNew: !before, mayWait: false }, list);
    if (!isRead) place.failed = [...(place.failed ?? []), name];
    return isRead;
  }
  const isRead =
    first !== "threads" || (yield* read("threads", listThreads(tools, repository, place, { reported, from: begunAt })));
  if (begun || !isRead) for await (const number of storedThreads(tools, repository)) reported.add(number);
  // These threads were deleted or hidden since then. At worst the next run lists them once more.
  place.total = reported.size;
  yield* readList(tools, repository, { name: "count", isNew: false, mayWait: false }, count(tools, repository, place));
  const lists = forge.commentLists(repository);
  const at = lists.findIndex((name) => name === first);
  for (const name of lists.slice(Math.max(0, at))) {
    const from = name === first ? begunAt : undefined;
    yield* read(name, listComments(tools, repository, place, { name, reported, from }));
  }
}

interface ListRun {
  /** Numbers of threads that were reported. */
  reported: Set<number>;
  from: string | undefined;
}

async function* listThreads(
  tools: ForgeTools,
  repository: ForgeRepository,
  place: Place,
  { reported, from: begunAt }: ListRun,
): Events {
  for await (const { records, at, place: from } of tools.forge.threads(repository, undefined, begunAt)) {
    if (reported.size === 0 && begunAt === undefined) place.since = at;
    const { entries, odd } = await readThreads(tools, repository, records, reported);
    for (const number of odd.numbers) reported.add(number);
    place.last = Math.max(place.last, ...records.map(({ number }) => number));
    place.isHalf ||= odd.isHalf;
    yield { t: "page", entries, at: from === undefined ? undefined : { ...place, from } };
  }
}

async function count({ forge }: ForgeTools, repository: ForgeRepository, place: Place): Promise<void> {
  place.total = Math.max(place.total, await forge.count(repository));
}

async function* listComments(
  { ctx, forge, facts }: ForgeTools,
  repository: ForgeRepository,
  place: Place,
  { name, reported, from: begunAt }: ListRun & { name: CommentList },
): Events {
  const parts = new Set<string>();
  for await (const { records, at, place: from } of forge.comments(repository, name, { from: begunAt })) {
    place.since = Math.min(place.since, at);
    // A new comment on a thread that isn't reported yet is reported with the changes.
    const fresh = records.filter(({ id, number }) => reported.has(number) && !parts.has(id));
    for (const { id } of fresh) parts.add(id);
    const odd = await takeOdd(ctx, repository, forge);
    place.isHalf ||= odd.isHalf;
    const entries = [...fresh.map((part) => entryOf(toPartItem(part, repository, facts))), ...odd.outcomes];
    yield { t: "page", entries, at: from === undefined ? undefined : { ...place, from } };
  }
}

/** Reads the threads of a page that were not reported yet, with the reviews of the pull requests among them. */
export async function readThreads(
  tools: ForgeTools,
  repository: ForgeRepository,
  records: readonly ForgeThread[],
  reported: Set<number>,
) {
  const { ctx, forge, facts } = tools;
  const odd = await takeOdd(ctx, repository, forge);
  const entries: PageEntry[] = [];
  let hasFailed = odd.hasSome;
  for (const thread of records) {
    if (reported.has(thread.number)) continue;
    reported.add(thread.number);
    entries.push(entryOf(toThreadItem(thread, repository, facts)));
    if (!thread.isPull) continue;
    const reviews = await readReviews(tools, repository, thread);
    entries.push(...reviews.entries);
    hasFailed ||= reviews.hasFailed;
  }
  return { entries: [...entries, ...odd.outcomes], odd, hasFailed };
}

/** Yields the numbers of the stored threads, which include those that an earlier attempt reported. */
async function* storedThreads({ ctx }: ForgeTools, repository: ForgeRepository): AsyncGenerator<number, void> {
  for await (const { externalId } of ctx.stored.list(repositoryRef(repository))) {
    const id = parseId(externalId);
    if (id?.type === "thread") yield id.number;
  }
}

export function hasThreads({ content }: ForgeRepository): boolean {
  return content.has("issues") || content.has("pulls");
}
