import { z } from "zod";
import { isApiError } from "#api/errors.ts";
import type { Scope } from "#core/scope.ts";
import type { SyncContext, SyncEvent, SyncRequest, What } from "#sources/contract.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { makeWaits } from "#sources/waits.ts";
import { listingOf, NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { ForgeListing, ForgeRepository } from "./contract.ts";
import { repositoryRef } from "./ids.ts";
import { readItems } from "./items.ts";
import { type KnownRepositories, makeKnown } from "./known.ts";
import { changesOf, listRepository, orRefused, type RepositoryEvent, stateKey } from "./repository.ts";
import { isRepositoryInScope } from "./scope.ts";
import type { ForgeTools } from "./tools.ts";

/** How far the listing of everything came, or that it came to its end. What is known of each repository is state. */
export type ForgeCursor =
  | { type: "listing"; runId: string | null; after: string | null; failed: string[] }
  | { type: "changes" };

type Context = SyncContext<unknown>;
type Event = SyncEvent<ForgeCursor>;
type Run = SyncRequest<ForgeCursor>;

/**
 * One run. `full`: every repository in the order of its id, each as a whole. `incremental`: of each what changed since it
 * was read, and as a whole what is new here or has another name. Who may read what is a group's matter, so no change of a
 * permission is missed by reading little.
 */
export async function* syncForge(
  ctx: Context,
  run: Run,
  given: Omit<ForgeTools, "failures" | "waits">,
): AsyncGenerator<Event, void> {
  const tools = { ...given, failures: makeFailures(() => given.forge.probe()), waits: makeWaits(ctx) };
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
  const { repositories, closed, there, odd, isWhole } = await listInScope(tools, run.scope);
  const known = await makeKnown(ctx.state);
  yield* refuseClosed(ctx, closed, known, there);
  const failures = makeFailed(tools, isResumed ? cursor.failed : []);
  for (const id of odd) yield failures.add(ctx, id);
  let done = 0;
  for (const [at, repository] of repositories.entries()) {
    if (ctx.signal.aborted) return;
    if (after !== null && compareIds(repository.id, after) <= 0) continue;
    const here = { type: "listing", runId, after, failed: failures.ids() } as const;
    const read = () => orRefused(ctx, repository, () => listRepository(ctx, repository, tools, runId ?? undefined));
    for await (const event of inPieces(failures.orFailed(repository, read), tools.batch)) {
      if (event.t !== "piece") {
        yield event;
        continue;
      }
      done += event.count;
      yield { t: "checkpoint", cursor: here };
      yield { t: "progress", done, note: repository.fullName };
    }
    if (ctx.signal.aborted) return;
    after = repository.id;
    yield { t: "progress", done, note: `${at + 1} of ${repositories.length} repositories` };
    yield { t: "checkpoint", cursor: { type: "listing", runId, after, failed: failures.ids() } };
  }
  known.keep(repositories, closed, isWhole ? odd : known.ids);
  await tools.files.keepOnly(
    ctx.connector.id,
    new Set([...repositories.map(({ id }) => id), ...(isWhole ? odd : known.ids)]),
  );
  const notLookedAt = failures.ids().map((id): What => ({ container: repositoryRef({ id }) }));
  yield { t: "checkpoint", cursor: { type: "changes" } };
  yield {
    t: "end",
    ...listingOf(isWhole, "the list of repositories"),
    permissions: "current",
    ...(notLookedAt.length > 0 && { notLookedAt }),
  };
}

async function* readChanges(ctx: Context, run: Run, tools: ForgeTools): AsyncGenerator<Event, void> {
  const { repositories, closed, there, odd, isWhole } = await listInScope(tools, run.scope);
  const known = await makeKnown(ctx.state);
  yield* refuseClosed(ctx, closed, known, there);
  const unknown = isWhole ? odd : known.ids;
  const isSettled = new Set([...repositories.map(({ id }) => id), ...closedIds(closed, known, there), ...unknown]);
  for (const id of known.ids) {
    if (isSettled.has(id)) continue;
    // Whatever becomes of it, it is read as a whole when it is here again.
    ctx.state.put(stateKey(id), undefined);
    if (there.has(id)) continue;
    // Deleted, or closed to this credential: until a listing of everything says which, nobody reads it.
    yield { t: "refused", what: { container: repositoryRef({ id }) }, code: "source_not_found" };
  }
  const failures = makeFailed(tools, []);
  for (const id of odd) yield failures.add(ctx, id);
  for (const repository of repositories) {
    if (ctx.signal.aborted) return;
    let hasNews = false;
    const read = () => orRefused(ctx, repository, () => changesOf(ctx, repository, tools, run.runId));
    for await (const event of inPieces(failures.orFailed(repository, read), tools.batch)) {
      hasNews = true;
      if (event.t === "piece") yield { t: "checkpoint", cursor: { type: "changes" } };
      else yield event;
    }
    if (hasNews) yield { t: "checkpoint", cursor: { type: "changes" } };
  }
  if (ctx.signal.aborted) return;
  known.keep(repositories, closed, unknown);
  yield { t: "checkpoint", cursor: { type: "changes" } };
  yield { t: "end", listing: "partial", permissions: "current" };
}

/** Items between two checkpoints. */
const BATCH = 500;

/** With the moments at which enough was told to be handed over: where an attempt can go on, or after many changed items. */
async function* inPieces(
  events: AsyncIterable<RepositoryEvent>,
  batch = BATCH,
): AsyncGenerator<SyncEvent<never> | { t: "piece"; count: number }, void> {
  let [named, changed] = [0, 0];
  for await (const event of events) {
    if (event.t !== "place") yield event;
    if (event.t === "seen") named += event.externalIds.length;
    if (event.t === "upsert") [named, changed] = [named + 1, changed + 1];
    const isDue = event.t === "place" ? named >= batch : event.t === "upsert" && changed >= batch;
    if (!isDue) continue;
    yield { t: "piece", count: named };
    [named, changed] = [0, 0];
  }
}

/** Repositories at which the server fails: each stays as it is, and the others are read. */
function makeFailed({ failures }: ForgeTools, before: readonly string[]) {
  const failed = new Set(before);
  return {
    ids: () => [...failed],
    /** One that was listed and isn't understood. It is read as a whole when it is. */
    add({ state }: Context, id: string): SyncEvent<never> {
      failed.add(id);
      state.put(stateKey(id), undefined);
      return failedSkip(repositoryRef({ id }).id, NOT_UNDERSTOOD);
    },
    async *orFailed<E>(
      repository: ForgeRepository,
      read: () => AsyncGenerator<E, void>,
    ): AsyncGenerator<E | SyncEvent<never>, void> {
      try {
        yield* read();
        failures.well();
      } catch (error) {
        await failures.requireOfOne(error);
        failed.add(repository.id);
        yield failedSkip(repositoryRef(repository).id, isApiError(error) ? error.message : NOT_UNDERSTOOD);
      }
    },
  };
}

/** What the config names and this credential does not see: it stays, and nobody reads it. */
function* refuseClosed(
  { state }: Context,
  closed: ForgeListing["closed"],
  known: KnownRepositories,
  there: ReadonlySet<string>,
): Generator<Event, void> {
  for (const each of closed) {
    const why = each.reason === undefined ? "" : `: ${each.reason}`;
    yield failedSkip(each.name, `${each.name} doesn't exist, or this credential can't read it${why}.`);
    for (const id of closedIds([each], known, there)) {
      state.put(stateKey(id), undefined);
      yield { t: "refused", what: { container: repositoryRef({ id }) }, code: each.code };
    }
  }
}

/** What names that are closed meant. What is there by another name is open. */
function closedIds(closed: ForgeListing["closed"], known: KnownRepositories, there: ReadonlySet<string>): string[] {
  const ids = closed.flatMap(({ name, ownerId }) =>
    ownerId === undefined ? known.idsOf(name) : known.idsOfOwner(ownerId),
  );
  return ids.filter((id) => !there.has(id));
}

async function listInScope({ forge }: ForgeTools, scope: Scope) {
  const { repositories, closed, odd, isWhole } = await forge.list();
  const inScope = repositories.filter((repository) => isRepositoryInScope(scope, repository));
  const there = new Set(repositories.map(({ id }) => id));
  const all = repositories.map(({ id }) => id);
  return {
    closed,
    there,
    // Whose it is isn't known: a scope that names only owners has it.
    odd: odd.filter((id) => !all.includes(id)),
    isWhole,
    repositories: inScope.sort((a, b) => compareIds(a.id, b.id)),
  };
}

/** Numbers as text, by their value. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** An unreadable cursor is ignored: everything is listed again, and nothing is lost. */
const StoredCursor = z.union([
  z.object({ type: z.literal("changes") }),
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    after: z.string().nullable(),
    failed: z.array(z.string()),
  }),
]);
