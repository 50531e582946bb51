import { z } from "zod";
import type { SyncContext, SyncEvent } from "#sources/contract.ts";
import { refusalOf } from "#sources/failures.ts";
import { halfRead } from "#sources/listed.ts";
import { waitingSkip } from "#sources/waits.ts";
import type { Forge, ForgeRepository } from "./contract.ts";
import { filesRef, parseId, repositoryRef, threadId } from "./ids.ts";
import { toPartItem, toThreadItem } from "./map.ts";
import { tellOdd } from "./odd.ts";
import { makePlaces } from "./place.ts";
import { makeTeller, tellReviews } from "./teller.ts";
import type { ForgeTools } from "./tools.ts";

type Context = SyncContext<unknown>;
type Event = SyncEvent<never>;
/** What is told of a repository; at a `place` all before it can be handed over, and the next attempt goes on there. */
export type RepositoryEvent = Event | { t: "place" };

/** Times of forges count in seconds, and what is written then may be stored a little later. */
const OVERLAP_MS = 60_000;
/** What fails for longer waits for a full run: all that changes meanwhile would be read again for it. */
const DAY_MS = 86_400_000;

/** What is known of a repository that was read as a whole. */
const RepositoryState = z.object({
  /** What its items are made with: another name, and all are made again. */
  fullName: z.string(),
  owner: z.string(),
  content: z.string(),
  /** What changed before it was told. */
  since: z.number(),
  /** How many threads there were, and the highest number among them. */
  total: z.number(),
  last: z.number(),
  /** Where its files stand. */
  files: z.object({ base: z.string().nullable(), placeKey: z.string().nullable() }).optional(),
});
type RepositoryState = z.infer<typeof RepositoryState>;

export function stateKey(id: string): string {
  return `repository:${id}`;
}

/** Everything that a repository has, or the rest of it where an attempt of the same run has ended. */
export async function* listRepository(
  ctx: Context,
  repository: ForgeRepository,
  tools: ForgeTools,
  runId: string | undefined,
): AsyncGenerator<RepositoryEvent, void> {
  try {
    yield* listWhole(ctx, repository, tools, runId);
  } catch (error) {
    if (refusalOf(error) === undefined) await tools.waits.failed(repository.id);
    throw error;
  }
  await tools.waits.done(repository.id);
}

async function* listWhole(
  ctx: Context,
  repository: ForgeRepository,
  tools: ForgeTools,
  runId: string | undefined,
): AsyncGenerator<RepositoryEvent, void> {
  const { forge, facts } = tools;
  const places = makePlaces(ctx.state, repository.id, { runId, shape: JSON.stringify(shapeOf(repository)) });
  const begun = await places.find();
  let [since, last, total] = [begun?.since ?? ctx.now(), begun?.last ?? 0, 0];
  let isHalf = begun?.isHalf === true;
  forge.odd.take();
  const teller = makeTeller(ctx);
  if (hasThreads(repository)) {
    const told = new Set<number>();
    const isTold = begun?.part === "comments";
    const threads = isTold ? [] : forge.threads(repository, undefined, begun?.from);
    for await (const { records, at, place } of threads) {
      if (told.size === 0 && !begun) since = at;
      for (const thread of records) {
        if (told.has(thread.number)) continue;
        told.add(thread.number);
        last = Math.max(last, thread.number);
        yield* teller.tell(toThreadItem(thread, repository, facts));
        if (thread.isPull) yield* tellReviews(ctx, { repository, thread, teller }, tools);
      }
      const odd = yield* tellOdd(ctx, repository, forge);
      for (const number of odd.numbers) told.add(number);
      isHalf ||= odd.isHalf;
      if (place === undefined) continue;
      yield* teller.flush();
      places.put({ part: "threads", from: place, since, last, isHalf });
      yield { t: "place" };
    }
    if (begun) for await (const number of storedThreads(ctx, repository)) told.add(number);
    // Deleted meanwhile or not shown: at worst the next run lists once more.
    total = Math.max(told.size, await forge.count(repository));
    const parts = new Set<string>();
    for await (const { records, at, place } of forge.comments(repository, undefined, isTold ? begun.from : undefined)) {
      since = Math.min(since, at);
      for (const part of records) {
        // One that was written meanwhile to a thread that is not told yet comes with the changes.
        if (parts.has(part.id) || !told.has(part.number)) continue;
        parts.add(part.id);
        yield* teller.tell(toPartItem(part, repository, facts));
      }
      isHalf = (yield* tellOdd(ctx, repository, forge)).isHalf || isHalf;
      if (place === undefined) continue;
      yield* teller.flush();
      places.put({ part: "comments", from: place, since, last, isHalf });
      yield { t: "place" };
    }
  }
  yield* teller.flush();
  const files = yield* tellFiles(ctx, repository, tools);
  if (isHalf) throw halfRead(`kb doesn't understand all that ${repository.fullName} has.`);
  const state: RepositoryState = { ...shapeOf(repository), since, total, last, ...(files && { files }) };
  ctx.state.put(stateKey(repository.id), state);
  places.end();
}

/** The numbers of the threads that are stored: those that an attempt before this one told are among them. */
async function* storedThreads({ stored }: Context, repository: ForgeRepository): AsyncGenerator<number, void> {
  for await (const { externalId } of stored.list(repositoryRef(repository))) {
    const id = parseId(externalId);
    if (id?.type === "thread") yield id.number;
  }
}

/** Files that are new since this state, or all without one; undefined when there are none, or none to be seen. */
async function* tellFiles(
  ctx: Context,
  repository: ForgeRepository,
  { files, facts, forge }: ForgeTools,
  state?: RepositoryState["files"],
): AsyncGenerator<Event, RepositoryState["files"]> {
  if (!repository.content.has("files") || repository.branch === undefined) return undefined;
  try {
    const head = await forge.head(repository);
    if (head === undefined) return undefined;
    if (state && head === state.base) return state;
    return yield* files.tell(ctx, repository, { facts, forge, ...(state && { state }) });
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    // Its issues may be open to this account all the same.
    yield { t: "refused", what: { container: filesRef(repository) }, code };
    return undefined;
  }
}

/** What a repository has that is new, or other than it was. */
export async function* changesOf(
  ctx: Context,
  repository: ForgeRepository,
  tools: ForgeTools,
  runId: string | undefined,
): AsyncGenerator<RepositoryEvent, void> {
  const state = RepositoryState.safeParse(await ctx.state.get(stateKey(repository.id))).data;
  const shape = shapeOf(repository);
  const isSame = state && (Object.keys(shape) as (keyof typeof shape)[]).every((key) => state[key] === shape[key]);
  if (!state || !isSame) {
    if (await tools.waits.isWaiting(repository.id)) {
      yield waitingSkip(repositoryRef(repository).id, repository.fullName);
      return;
    }
    yield* listRepository(ctx, repository, tools, runId);
    // What was deleted meanwhile is not named, and no count of before tells of it.
    yield { t: "listed", container: repositoryRef(repository) };
    return;
  }
  const threads = hasThreads(repository) ? yield* changedThreads(ctx, repository, tools, state) : {};
  const files = yield* tellFiles(ctx, repository, tools, state.files);
  const { files: _former, ...rest } = state;
  const now: RepositoryState = { ...rest, ...threads, ...(files && { files }) };
  ctx.state.put(stateKey(repository.id), now);
  tools.forge.remember?.(repository);
}

async function* changedThreads(
  ctx: Context,
  repository: ForgeRepository,
  tools: ForgeTools,
  state: RepositoryState,
): AsyncGenerator<Event, Pick<RepositoryState, "since" | "last" | "total">> {
  const { forge, facts } = tools;
  const from = state.since - OVERLAP_MS;
  const teller = makeTeller(ctx);
  let [since, last, created] = [state.since, state.last, 0];
  let hasFailed = false;
  forge.odd.take();
  const told = new Set<number>();
  for await (const { records, at } of forge.threads(repository, from)) {
    if (told.size === 0) since = Math.max(since, at);
    for (const thread of records) {
      if (told.has(thread.number)) continue;
      told.add(thread.number);
      if (thread.number > state.last) created += 1;
      last = Math.max(last, thread.number);
      yield* teller.tell(toThreadItem(thread, repository, facts));
      if (thread.isPull) hasFailed = (yield* tellReviews(ctx, { repository, thread, teller }, tools)) || hasFailed;
    }
    const odd = yield* tellOdd(ctx, repository, forge);
    hasFailed ||= odd.hasSome;
    created += odd.numbers.filter((number) => number > state.last && !told.has(number)).length;
  }
  for await (const { records } of forge.comments(repository, from)) {
    for (const part of records) yield* teller.tell(toPartItem(part, repository, facts));
    hasFailed = (yield* tellOdd(ctx, repository, forge)).hasSome || hasFailed;
  }
  yield* teller.flush();
  const expected = state.total + created;
  // What a forge counts need not be what it lists, but it counts the same way the next time.
  const total = await forge.count(repository);
  if (total < expected) yield* deleteGone(ctx, repository, forge);
  // What failed is listed again by the next run, for a day.
  return { since: hasFailed ? Math.max(state.since, since - DAY_MS) : since, last, total };
}

/** There are fewer than there should be: which ones are gone, only a listing tells. */
async function* deleteGone(ctx: Context, repository: ForgeRepository, forge: Forge): AsyncGenerator<Event, void> {
  const living = new Set<string>();
  for await (const { records } of forge.threads(repository)) {
    for (const { number } of records) living.add(threadId(repository, number));
  }
  const odd = yield* tellOdd(ctx, repository, forge);
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

/** What is told of a repository, until it is refused: then it alone is hidden. */
export async function* orRefused<E>(
  { state }: Context,
  repository: ForgeRepository,
  read: () => AsyncGenerator<E, void>,
): AsyncGenerator<E | Event, void> {
  try {
    yield* read();
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    state.put(stateKey(repository.id), undefined);
    yield { t: "refused", what: { container: repositoryRef(repository) }, code };
  }
}

export function hasThreads({ content }: ForgeRepository): boolean {
  return content.has("issues") || content.has("pulls");
}

function shapeOf({ fullName, owner, content }: ForgeRepository) {
  return { fullName, owner: `${owner.id} ${owner.login}`, content: [...content].sort().join() };
}
