import { storedIds } from "#sources/collect.ts";
import { defined } from "#core/defined.ts";
import type { ContainerEvent } from "#sources/containers.ts";
import { entryOf } from "#sources/session.ts";
import type { CommentList, ForgeRepository } from "./contract.ts";
import { filesRef, parseId, repositoryRef, threadId } from "./ids.ts";
import { readList } from "./lists.ts";
import { toPartItem } from "./map.ts";
import { takeOdd } from "./odd.ts";
import { hasThreads, listRepository, type Place, readThreads } from "./repository.ts";
import { reportFiles } from "./report-files.ts";
import { findState, type ForgeTools, positionOf, putState, type RepositoryState } from "./tools.ts";

/**
 * How far an increment looks back before the last run. Timestamps of forges have a resolution of one second, and a
 * change may be stored a little later.
 */
const OVERLAP_MS = 60_000;
/**
 * How long failed content is retried. After a day it is left to a full run: otherwise everything that changed since
 * would be read again because of it.
 */
const DAY_MS = 86_400_000;

type Events<Result = void> = AsyncGenerator<ContainerEvent<Place>, Result>;

/** Reads new and changed content of a repository, or all content if the repository is new or was renamed. */
export async function* readChanges(tools: ForgeTools, repository: ForgeRepository, at?: Place): Events {
  const { ctx, repositories, forge } = tools;
  const state = (await repositories.isKnown(repository)) ? await findState(ctx, repository) : undefined;
  if (state) {
    const { files: former, ...known } = state;
    const now = hasThreads(repository) ? yield* changedThreads(tools, repository, known) : known;
    // The threads and comments were reported, even if reading the files fails.
    putState(ctx, repository, { ...now, ...defined({ files: former }) });
    const files = yield* reportFiles(tools, repository, { state: former });
    putState(ctx, repository, { ...now, ...defined({ files }) });
    if (!now.behind) forge.remember?.(repository);
  } else if (await repositories.isWaiting(repository)) {
    yield repositories.waiting(repository.id, repository.fullName);
  } else yield* readNew(tools, repository, at);
}

async function* readNew(tools: ForgeTools, repository: ForgeRepository, at?: Place): Events {
  const failed = new Set<string>();
  for await (const event of listRepository(tools, repository, at)) {
    if (event.t === "failed" && "container" in event.what) failed.add(event.what.container.id);
    yield event;
  }
  const container = repositoryRef(repository);
  if (failed.has(container.id)) return;
  if (failed.size > 0) yield { t: "seen", externalIds: [], container: filesRef(repository) };
  // Items that were deleted since then aren't named, and no earlier count reveals them.
  yield { t: "listed", container };
}

/** The results of reading the changes of a repository. */
interface Found {
  /** The time of the reading, by the forge's clock. The first page includes earlier changes. */
  at?: number;
  last: number;
  /** Number of new threads. */
  created: number;
  total: number;
  hasFailed: boolean;
}

async function* changedThreads(
  tools: ForgeTools,
  repository: ForgeRepository,
  state: RepositoryState,
): Events<RepositoryState> {
  const { forge } = tools;
  const { since, last, total } = state;
  const found: Found = { last, created: 0, total, hasFailed: false };
  const behind: RepositoryState["behind"] = {};
  forge.odd.take();
  for (const name of ["threads", ...forge.commentLists(repository)] as const) {
    const from = positionOf(state, name);
    const after = from === 0 ? undefined : from - OVERLAP_MS;
    const list =
      name === "threads"
        ? reportThreads(tools, repository, { after, last, found })
        : reportComments(tools, repository, { name, after, found });
    const isRead = yield* readList(tools, repository, { name, isNew: from === 0, mayWait: true }, list);
    if (!isRead) behind[name] = from;
  }
  const isCounted = behind.threads === undefined;
  if (isCounted) {
    const once = { name: "count", isNew: false, mayWait: false } as const;
    found.total += found.created;
    yield* readList(tools, repository, once, compareCount(tools, repository, found));
  }
  const now = Math.max(since, found.at ?? since);
  return {
    // The next run lists failed content again, for a day.
    since: found.hasFailed ? Math.max(since, now - DAY_MS) : now,
    last: isCounted ? found.last : last,
    total: found.total,
    ...(Object.keys(behind).length > 0 && { behind }),
  };
}

async function* reportThreads(
  tools: ForgeTools,
  repository: ForgeRepository,
  { after, last, found }: { after: number | undefined; last: number; found: Found },
): Events {
  const reported = new Set<number>();
  for await (const { records, at } of tools.forge.threads(repository, after)) {
    found.at ??= at;
    const before = new Set(reported);
    const page = await readThreads(tools, repository, records, reported);
    const numbers = [...reported, ...page.odd.numbers].filter((number) => !before.has(number));
    found.created += new Set(numbers.filter((number) => number > last)).size;
    found.last = Math.max(found.last, ...records.map(({ number }) => number));
    found.hasFailed ||= page.hasFailed;
    yield { t: "page", entries: page.entries };
  }
}

async function* reportComments(
  { ctx, forge, facts }: ForgeTools,
  repository: ForgeRepository,
  { name, after, found }: { name: CommentList; after: number | undefined; found: Found },
): Events {
  for await (const { records, at } of forge.comments(repository, name, { since: after })) {
    found.at ??= at;
    const odd = await takeOdd(ctx, repository, forge);
    found.hasFailed ||= odd.hasSome;
    const entries = records.map((part) => entryOf(toPartItem(part, repository, facts)));
    yield { t: "page", entries: [...entries, ...odd.outcomes] };
  }
}

/**
 * Compares a repository's number of threads with the previous one. A forge's count may differ from its listing, but it
 * counts in the same way the next time.
 */
async function* compareCount(tools: ForgeTools, repository: ForgeRepository, found: Found): Events {
  const total = await tools.forge.count(repository);
  if (total < found.total) yield* deleteGone(tools, repository);
  found.total = total;
}

/**
 * Removes deleted items if the count is lower than expected, since only a listing shows which items no longer exist.
 */
async function* deleteGone({ ctx, forge }: ForgeTools, repository: ForgeRepository): Events {
  const living = new Set<string>();
  for await (const { records } of forge.threads(repository)) {
    for (const { number } of records) living.add(threadId(repository, number));
  }
  const odd = await takeOdd(ctx, repository, forge);
  yield* odd.outcomes;
  if (odd.isHalf) return;
  for (const number of odd.numbers) living.add(threadId(repository, number));
  const gone = await storedIds(ctx, repositoryRef(repository), (externalId) => {
    const id = parseId(externalId);
    return id !== undefined && id.type !== "file" && !living.has(threadId({ id: id.repository }, id.number));
  });
  for (const externalId of gone) yield { t: "delete", externalId };
}
