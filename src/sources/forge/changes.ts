import type { ContainerEvent } from "#sources/containers.ts";
import { entryOf } from "#sources/session.ts";
import type { ForgeRepository } from "./contract.ts";
import { filesRef, parseId, repositoryRef, threadId } from "./ids.ts";
import { toPartItem } from "./map.ts";
import { takeOdd } from "./odd.ts";
import { hasThreads, listRepository, type Place, readThreads } from "./repository.ts";
import { reportFiles } from "./report-files.ts";
import { findState, type ForgeTools, putState, type RepositoryState } from "./tools.ts";

/** Times of forges count in seconds, and a change may be stored a little later. */
const OVERLAP_MS = 60_000;
/**
 * Content that fails for longer waits for a full run: otherwise everything changed since would be read again for it.
 */
const DAY_MS = 86_400_000;

/** New and changed content of a repository; all of it when the repository is new or renamed. */
export async function* readChanges(
  tools: ForgeTools,
  repository: ForgeRepository,
  at?: Place,
): AsyncGenerator<ContainerEvent<Place>, void> {
  const { ctx, repositories, forge } = tools;
  const state = (await repositories.isKnown(repository)) ? await findState(ctx, repository) : undefined;
  if (state) {
    const threads = hasThreads(repository) ? yield* changedThreads(tools, repository, state) : {};
    // These are reported, whatever happens to the files.
    putState(ctx, repository, { ...state, ...threads });
    const files = yield* reportFiles(tools, repository, { ...(state.files && { state: state.files }) });
    const { files: _former, ...rest } = state;
    putState(ctx, repository, { ...rest, ...threads, ...(files && { files }) });
    forge.remember?.(repository);
  } else if (await repositories.isWaiting(repository)) {
    yield repositories.waiting(repository.id, repository.fullName);
  } else {
    let isLeft = false;
    for await (const event of listRepository(tools, repository, at)) {
      isLeft ||= event.t === "failed";
      yield event;
    }
    if (isLeft) yield { t: "seen", externalIds: [], container: filesRef(repository) };
    // Items deleted since then aren't named, and no earlier count reveals them.
    yield { t: "listed", container: repositoryRef(repository) };
  }
}

async function* changedThreads(
  tools: ForgeTools,
  repository: ForgeRepository,
  state: RepositoryState,
): AsyncGenerator<ContainerEvent<Place>, Pick<RepositoryState, "since" | "last" | "total">> {
  const { ctx, forge, facts } = tools;
  const from = state.since - OVERLAP_MS;
  let [since, last, created] = [state.since, state.last, 0];
  let hasFailed = false;
  forge.odd.take();
  const told = new Set<number>();
  for await (const { records, at } of forge.threads(repository, from)) {
    if (told.size === 0) since = Math.max(since, at);
    const before = new Set(told);
    const page = await readThreads(tools, repository, records, told);
    const numbers = [...told, ...page.odd.numbers].filter((number) => !before.has(number));
    created += new Set(numbers.filter((number) => number > state.last)).size;
    last = Math.max(last, ...records.map(({ number }) => number));
    hasFailed ||= page.hasFailed;
    yield { t: "page", entries: page.entries };
  }
  for await (const { records } of forge.comments(repository, from)) {
    const odd = await takeOdd(ctx, repository, forge);
    hasFailed ||= odd.hasSome;
    const entries = records.map((part) => entryOf(toPartItem(part, repository, facts)));
    yield { t: "page", entries: [...entries, ...odd.said] };
  }
  const expected = state.total + created;
  // A forge's count may differ from its listing, but it counts the same way the next time.
  const total = await forge.count(repository);
  if (total < expected) yield* deleteGone(tools, repository);
  // The next run lists failed content again, for a day.
  return { since: hasFailed ? Math.max(state.since, since - DAY_MS) : since, last, total };
}

/** The count is lower than expected: only a listing shows which items are gone. */
async function* deleteGone(
  { ctx, forge }: ForgeTools,
  repository: ForgeRepository,
): AsyncGenerator<ContainerEvent<Place>, void> {
  const living = new Set<string>();
  for await (const { records } of forge.threads(repository)) {
    for (const { number } of records) living.add(threadId(repository, number));
  }
  const odd = await takeOdd(ctx, repository, forge);
  yield* odd.said;
  if (odd.isHalf) return;
  for (const number of odd.numbers) living.add(threadId(repository, number));
  const gone: string[] = [];
  for await (const { externalId } of ctx.stored.list(repositoryRef(repository))) {
    const id = parseId(externalId);
    const thread = id && id.type !== "file" ? threadId({ id: id.repository }, id.number) : undefined;
    if (thread !== undefined && !living.has(thread)) gone.push(externalId);
  }
  for (const externalId of gone) yield { t: "delete", externalId };
}
