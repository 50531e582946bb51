import { z } from "zod";
import type { Scope } from "#core/scope.ts";
import type { RefusalCode, SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import type { Forge, ForgePart, ForgeRepository, ForgeThread } from "./contract.ts";
import { parseId, repositoryRef, threadId } from "./ids.ts";
import { type ForgeFacts, toPartItem, toThreadItem } from "./map.ts";
import { refusalOf } from "./refusals.ts";
import { makeKnown } from "./known.ts";
import { isRepositoryInScope } from "./scope.ts";

/** How far the listing of everything came, or that it came to its end. What is known of each repository is state. */
export type ForgeCursor = { type: "listing"; runId: string | null; after: string | null } | { type: "changes" };

export interface ForgeTools {
  forge: Forge;
  facts: ForgeFacts;
  /** Items between two checkpoints. */
  batch?: number;
}

type Context = SyncContext<unknown>;
type Event = SyncEvent<ForgeCursor>;
type Run = SyncRequest<ForgeCursor>;

/**
 * One run. `full`: every repository in the order of its id, each as a whole. `incremental`: of each what changed since it
 * was read, and as a whole what is new here or has another name. Who may read what is a group's matter, so no change of a
 * permission is missed by reading little.
 */
export async function* syncForge(ctx: Context, run: Run, tools: ForgeTools): AsyncGenerator<Event, void> {
  const cursor = StoredCursor.safeParse(run.cursor).data;
  if (run.mode === "items") yield* readItems(ctx, run, tools);
  else if (run.mode !== "full" && cursor?.type === "changes") yield* readChanges(ctx, run, tools);
  else yield* listAll(ctx, run, tools, cursor);
}

async function* listAll(
  ctx: Context,
  run: Run,
  tools: ForgeTools,
  cursor: ForgeCursor | undefined,
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const isResumed = cursor?.type === "listing" && runId !== null && cursor.runId === runId;
  let after = isResumed ? cursor.after : null;
  const { repositories, closed } = await listInScope(tools, run.scope);
  const known = await makeKnown(ctx.state);
  yield* refuseClosed(closed, known.idOf);
  let done = 0;
  for (const [at, repository] of repositories.entries()) {
    if (ctx.signal.aborted) return;
    if (after !== null && compareIds(repository.id, after) <= 0) continue;
    const here = { type: "listing", runId, after } as const;
    for await (const event of orRefused(ctx, repository, () => listRepository(ctx, repository, tools))) {
      yield event;
      if (event.t !== "upsert" || ++done % (tools.batch ?? BATCH) > 0) continue;
      yield { t: "checkpoint", cursor: here };
      yield { t: "progress", done, note: repository.fullName };
    }
    if (ctx.signal.aborted) return;
    after = repository.id;
    yield { t: "progress", done, note: `${at + 1} of ${repositories.length} repositories` };
    yield { t: "checkpoint", cursor: { type: "listing", runId, after } };
  }
  known.keep(repositories, closed);
  yield { t: "checkpoint", cursor: { type: "changes" } };
  yield { t: "end", listing: "complete", permissions: "current" };
}

async function* readChanges(ctx: Context, run: Run, tools: ForgeTools): AsyncGenerator<Event, void> {
  const { repositories, closed, there } = await listInScope(tools, run.scope);
  const known = await makeKnown(ctx.state);
  yield* refuseClosed(closed, known.idOf);
  const inScope = new Set(repositories.map(({ id }) => id));
  for (const id of known.ids) {
    if (inScope.has(id)) continue;
    // Whatever becomes of it, it is read as a whole when it is here again.
    ctx.state.put(stateKey(id), undefined);
    if (there.has(id)) continue;
    // Deleted, or closed to this credential: until a listing of everything says which, nobody reads it.
    yield { t: "refused", what: { container: repositoryRef({ id }) }, code: "source_not_found" };
  }
  for (const repository of repositories) {
    if (ctx.signal.aborted) return;
    let hasNews = false;
    for await (const event of orRefused(ctx, repository, () => changesOf(ctx, repository, tools))) {
      hasNews = true;
      yield event;
    }
    if (hasNews) yield { t: "checkpoint", cursor: { type: "changes" } };
  }
  if (ctx.signal.aborted) return;
  known.keep(repositories, closed);
  yield { t: "checkpoint", cursor: { type: "changes" } };
  yield { t: "end", listing: "partial", permissions: "current" };
}

/** Items between two checkpoints. */
const BATCH = 500;
/** Ids of one `seen`. */
const SEEN_IDS = 500;
/** Times of forges count in seconds, and what is written then may be stored a little later. */
const OVERLAP_MS = 60_000;

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
});
type RepositoryState = z.infer<typeof RepositoryState>;

function stateKey(id: string): string {
  return `repository:${id}`;
}

/** Everything that a repository has. */
async function* listRepository(
  ctx: Context,
  repository: ForgeRepository,
  tools: ForgeTools,
): AsyncGenerator<Event, void> {
  const { forge, facts } = tools;
  let [since, last, total] = [ctx.now(), 0, 0];
  const teller = makeTeller(ctx);
  if (hasThreads(repository)) {
    const told = new Set<number>();
    for await (const { records, at } of forge.threads(repository)) {
      if (told.size === 0) since = at;
      for (const thread of records) {
        if (told.has(thread.number)) continue;
        told.add(thread.number);
        last = Math.max(last, thread.number);
        yield* teller.tell(toThreadItem(thread, repository, facts));
        if (thread.isPull) yield* tellReviews(ctx, { repository, thread, teller }, tools);
      }
    }
    total = told.size;
    const parts = new Set<string>();
    for await (const { records, at } of forge.comments(repository)) {
      since = Math.min(since, at);
      for (const part of records) {
        // One that was written meanwhile to a thread that is not told yet comes with the changes.
        if (parts.has(part.id) || !told.has(part.number)) continue;
        parts.add(part.id);
        yield* teller.tell(toPartItem(part, repository, facts));
      }
    }
  }
  yield* teller.flush();
  ctx.state.put(stateKey(repository.id), { ...shapeOf(repository), since, total, last } satisfies RepositoryState);
}

/** What a repository has that is new, or other than it was. */
async function* changesOf(ctx: Context, repository: ForgeRepository, tools: ForgeTools): AsyncGenerator<Event, void> {
  const state = RepositoryState.safeParse(await ctx.state.get(stateKey(repository.id))).data;
  const shape = shapeOf(repository);
  const isSame = state && (Object.keys(shape) as (keyof typeof shape)[]).every((key) => state[key] === shape[key]);
  if (!state || !isSame) {
    yield* listRepository(ctx, repository, tools);
    return;
  }
  if (!hasThreads(repository)) return;
  const { forge, facts } = tools;
  const from = state.since - OVERLAP_MS;
  const teller = makeTeller(ctx);
  let [since, last, created] = [state.since, state.last, 0];
  const told = new Set<number>();
  for await (const { records, at } of forge.threads(repository, from)) {
    if (told.size === 0) since = Math.max(since, at);
    for (const thread of records) {
      if (told.has(thread.number)) continue;
      told.add(thread.number);
      if (thread.number > state.last) created += 1;
      last = Math.max(last, thread.number);
      yield* teller.tell(toThreadItem(thread, repository, facts));
      if (thread.isPull) yield* tellReviews(ctx, { repository, thread, teller }, tools);
    }
  }
  for await (const { records } of forge.comments(repository, from)) {
    for (const part of records) yield* teller.tell(toPartItem(part, repository, facts));
  }
  yield* teller.flush();
  const expected = state.total + created;
  const total = Math.min(expected, await forge.count(repository));
  if (total < expected) yield* deleteGone(ctx, repository, forge);
  ctx.state.put(stateKey(repository.id), { ...shape, since, total, last } satisfies RepositoryState);
}

/** There are fewer than there should be: which ones are gone, only a listing tells. */
async function* deleteGone(ctx: Context, repository: ForgeRepository, forge: Forge): AsyncGenerator<Event, void> {
  const living = new Set<string>();
  for await (const { records } of forge.threads(repository)) {
    for (const { number } of records) living.add(threadId(repository, number));
  }
  const gone: string[] = [];
  for await (const { externalId } of ctx.stored.list(repositoryRef(repository))) {
    const id = parseId(externalId);
    const thread = id && id.type !== "file" ? threadId({ id: id.repository }, id.number) : undefined;
    if (thread !== undefined && !living.has(thread)) gone.push(externalId);
  }
  for (const externalId of gone) yield { t: "delete", externalId };
}

async function* tellReviews(
  ctx: Context,
  { repository, thread, teller }: { repository: ForgeRepository; thread: ForgeThread; teller: Teller },
  { forge, facts }: ForgeTools,
): AsyncGenerator<Event, void> {
  const { number } = thread;
  let parts: ForgePart[];
  try {
    parts = await forge.reviews(repository, number);
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    yield* teller.flush();
    // Deleted a moment ago, or this one alone is closed; the next listing tells. What is said about it is hidden with it.
    const thread = threadId(repository, number);
    for await (const { externalId } of ctx.stored.list(repositoryRef(repository)))
      if (externalId.startsWith(`${thread}.`)) yield* teller.name(externalId);
    yield { t: "refused", what: { externalId: thread }, code };
    return;
  }
  for (const part of parts) yield* teller.tell(toPartItem(part, repository, facts));
}

type Teller = ReturnType<typeof makeTeller>;

/** Says of items that are stored as they are only that they are there. */
function makeTeller({ stored }: Pick<Context, "stored">) {
  let same: string[] = [];
  function* flush(): Generator<Event, void> {
    if (same.length > 0) yield { t: "seen", externalIds: same };
    same = [];
  }
  function* name(externalId: string): Generator<Event, void> {
    same.push(externalId);
    if (same.length >= SEEN_IDS) yield* flush();
  }
  return {
    flush,
    name,
    async *tell(item: SourceItem): AsyncGenerator<Event, void> {
      if ((await stored.version(item.externalId)) === item.version) yield* name(item.externalId);
      else yield { t: "upsert", item };
    },
  };
}

/** What is told of a repository, until it is refused: then it alone is hidden. */
async function* orRefused(
  { state }: Context,
  repository: ForgeRepository,
  read: () => AsyncGenerator<Event, void>,
): AsyncGenerator<Event, void> {
  try {
    yield* read();
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    state.put(stateKey(repository.id), undefined);
    yield { t: "refused", what: { container: repositoryRef(repository) }, code };
  }
}

function* refuseClosed(
  closed: readonly { fullName: string; code: RefusalCode }[],
  idOf: (fullName: string) => string | undefined,
): Generator<Event, void> {
  for (const { fullName, code } of closed) {
    const id = idOf(fullName);
    if (id !== undefined) yield { t: "refused", what: { container: repositoryRef({ id }) }, code };
  }
}

async function* readItems(
  ctx: Context,
  { scope, externalIds = [] }: Run,
  tools: ForgeTools,
): AsyncGenerator<Event, void> {
  const repositories = new Map<string, ForgeRepository | RefusalCode>();
  for (const externalId of externalIds) {
    if (ctx.signal.aborted) return;
    const id = parseId(externalId);
    if (!id) {
      yield { t: "delete", externalId };
      continue;
    }
    const repository = repositories.get(id.repository) ?? (await orCode(() => tools.forge.repository(id.repository)));
    repositories.set(id.repository, repository);
    if (typeof repository === "string") {
      yield { t: "refused", what: { externalId }, code: repository };
      continue;
    }
    const item = isRepositoryInScope(scope, repository)
      ? await orCode(() => readItem(repository, id, tools))
      : "source_not_found";
    if (typeof item !== "string") yield { t: "upsert", item };
    else if (item === "source_forbidden") yield { t: "refused", what: { externalId }, code: item };
    else yield { t: "delete", externalId };
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

async function readItem(
  repository: ForgeRepository,
  id: NonNullable<ReturnType<typeof parseId>>,
  { forge, facts }: ForgeTools,
): Promise<SourceItem | RefusalCode> {
  if (id.type === "file") return "source_not_found";
  const { number } = id;
  if (id.type === "part") return toPartItem(await forge.part(repository, id), repository, facts);
  const thread = await forge.thread(repository, number);
  return repository.content.has(thread.isPull ? "pulls" : "issues")
    ? toThreadItem(thread, repository, facts)
    : "source_not_found";
}

async function orCode<T>(read: () => Promise<T>): Promise<T | RefusalCode> {
  try {
    return await read();
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    return code;
  }
}

async function listInScope({ forge }: ForgeTools, scope: Scope) {
  const { repositories, closed } = await forge.list();
  const inScope = repositories.filter((repository) => isRepositoryInScope(scope, repository));
  const there = new Set(repositories.map(({ id }) => id));
  return { closed, there, repositories: inScope.sort((a, b) => compareIds(a.id, b.id)) };
}

/** Numbers as text, by their value. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function hasThreads({ content }: ForgeRepository): boolean {
  return content.has("issues") || content.has("pulls");
}

function shapeOf({ fullName, owner, content }: ForgeRepository) {
  return { fullName, owner: `${owner.id} ${owner.login}`, content: [...content].sort().join() };
}

/** An unreadable cursor is ignored: everything is listed again, and nothing is lost. */
const StoredCursor = z.union([
  z.object({ type: z.literal("changes") }),
  z.object({ type: z.literal("listing"), runId: z.string().nullable(), after: z.string().nullable() }),
]);
