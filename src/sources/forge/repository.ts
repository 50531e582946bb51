import { z } from "zod";
import { halfRead } from "#sources/listed.ts";
import type { ContainerEvent } from "#sources/containers.ts";
import { entryOf, type PageEntry } from "#sources/session.ts";
import type { ForgeRepository, ForgeThread } from "./contract.ts";
import { parseId, repositoryRef } from "./ids.ts";
import { toPartItem, toThreadItem } from "./map.ts";
import { takeOdd } from "./odd.ts";
import { readReviews } from "./reviews.ts";
import { reportFiles } from "./report-files.ts";
import { type ForgeTools, putState } from "./tools.ts";

/** How far a run has listed a repository, so that its next attempt requests only the rest. */
export const Place = z.object({
  part: z.enum(["threads", "comments", "files"]),
  /** Absent: that part was not begun. */
  from: z.string().max(200).optional(),
  /** By the forge's clock: the listing includes changes from before it began. */
  since: z.number(),
  /** The highest number of a reported thread. */
  last: z.number(),
  /** The number of threads, once all were reported. */
  total: z.number(),
  /** Some of it was not understood, and has no id to report. */
  isHalf: z.boolean(),
});
export type Place = z.infer<typeof Place>;

type Told = AsyncGenerator<ContainerEvent<Place>, void>;

/** Everything in a repository, or the rest of it where an attempt of the same run has ended. */
export async function* listRepository(tools: ForgeTools, repository: ForgeRepository, begun?: Place): Told {
  const { ctx, forge, repositories } = tools;
  const place: Place = begun ?? { part: "threads", since: ctx.now(), last: 0, total: 0, isHalf: false };
  forge.odd.take();
  if (hasThreads(repository) && place.part !== "files") yield* listThreads(tools, repository, place, begun);
  place.part = "files";
  const files = yield* reportFiles(tools, repository, { at: place });
  if (place.isHalf) throw halfRead(`kb doesn't understand everything that ${repository.fullName} has.`);
  const { since, total, last } = place;
  putState(ctx, repository, { since, total, last, ...(files && { files }) });
  await repositories.isRead(repository);
}

/** Issues and pull requests, then their comments; `place` advances with them. */
async function* listThreads(tools: ForgeTools, repository: ForgeRepository, place: Place, resumed?: Place): Told {
  const { ctx, forge } = tools;
  const told = new Set<number>();
  const threads = place.part === "threads" ? forge.threads(repository, undefined, resumed?.from) : [];
  for await (const { records, at, place: from } of threads) {
    if (told.size === 0 && !resumed) place.since = at;
    const { entries, odd } = await readThreads(tools, repository, records, told);
    for (const number of odd.numbers) told.add(number);
    place.last = Math.max(place.last, ...records.map(({ number }) => number));
    place.isHalf ||= odd.isHalf;
    yield { t: "page", entries, at: from === undefined ? undefined : { ...place, from } };
  }
  if (resumed) for await (const number of storedThreads(tools, repository)) told.add(number);
  // Deleted since then, or hidden: at worst the next run lists once more.
  place.total = Math.max(told.size, await forge.count(repository));
  const begun = place.part === "comments" ? resumed?.from : undefined;
  place.part = "comments";
  const parts = new Set<string>();
  for await (const { records, at, place: from } of forge.comments(repository, undefined, begun)) {
    place.since = Math.min(place.since, at);
    // A new comment on a thread that isn't reported yet comes with the changes.
    const fresh = records.filter(({ id, number }) => told.has(number) && !parts.has(id));
    for (const { id } of fresh) parts.add(id);
    const odd = await takeOdd(ctx, repository, forge);
    place.isHalf ||= odd.isHalf;
    const entries = [...fresh.map((part) => entryOf(toPartItem(part, repository, tools.facts))), ...odd.said];
    yield { t: "page", entries, at: from === undefined ? undefined : { ...place, from } };
  }
}

/** A page of threads that were not reported yet, with the reviews of those that are pull requests. */
export async function readThreads(
  tools: ForgeTools,
  repository: ForgeRepository,
  records: readonly ForgeThread[],
  told: Set<number>,
) {
  const { ctx, forge, facts } = tools;
  const odd = await takeOdd(ctx, repository, forge);
  const entries: PageEntry[] = [];
  let hasFailed = odd.hasSome;
  for (const thread of records) {
    if (told.has(thread.number)) continue;
    told.add(thread.number);
    entries.push(entryOf(toThreadItem(thread, repository, facts)));
    if (!thread.isPull) continue;
    const reviews = await readReviews(tools, repository, thread);
    entries.push(...reviews.entries);
    hasFailed ||= reviews.hasFailed;
  }
  return { entries: [...entries, ...odd.said], odd, hasFailed };
}

/** The numbers of the stored threads, which include those that an earlier attempt reported. */
async function* storedThreads({ ctx }: ForgeTools, repository: ForgeRepository): AsyncGenerator<number, void> {
  for await (const { externalId } of ctx.stored.list(repositoryRef(repository))) {
    const id = parseId(externalId);
    if (id?.type === "thread") yield id.number;
  }
}

export function hasThreads({ content }: ForgeRepository): boolean {
  return content.has("issues") || content.has("pulls");
}
