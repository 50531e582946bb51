import { z } from "zod";
import type { Scope } from "#core/scope.ts";
import { placeSchema } from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip, refusedContainer } from "#sources/failures.ts";
import { completeOf } from "#sources/listed.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { readChanges } from "./changes.ts";
import type { ForgeListing } from "./contract.ts";
import { repositoryRef } from "./ids.ts";
import { readItems } from "./items.ts";
import { type KnownRepositories, makeKnown } from "./known.ts";
import { listRepository, Place } from "./repository.ts";
import { isRepositoryInScope } from "./scope.ts";
import { type ForgeTools, makeTools } from "./tools.ts";

/** The cursor after everything was listed once. The present knowledge about each repository is in the state. */
const Cursor = z.literal("listed");
type Cursor = z.infer<typeof Cursor>;

const Checkpoint = placeSchema(Place, Cursor);
type Checkpoint = z.infer<typeof Checkpoint>;

export function forgeSessions<Config>(
  connect: (ctx: SyncContext<Config>) => Pick<ForgeTools, "forge" | "facts" | "files">,
): SessionSpec<Config, Cursor, Checkpoint> {
  return {
    cursor: Cursor,
    checkpoint: Checkpoint,
    open(ctx, { scope }) {
      const tools = makeTools(ctx, connect(ctx));
      return Promise.resolve({
        walk: (run) => walk(tools, run),
        read: (ids) => tools.hand.page?.(ids) ?? readItems(tools, scope, ids),
      });
    },
  };
}

/**
 * Walks every repository in the order of its id: in full, or only its changes since it was read. Readers are members of
 * groups, so no permission change is missed if little is read.
 */
async function* walk(
  tools: ForgeTools,
  { scope, since, resume }: WalkRequest<Cursor, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>> {
  const { ctx, repositories } = tools;
  const list = await listInScope(tools, scope);
  const known = await makeKnown(ctx.state);
  yield* refuseClosed(tools, list, known);
  const unknown = list.isWhole ? list.odd : known.ids;
  if (since) yield* refuseGone(tools, list, known, unknown);
  yield* repositories.odd(list);
  const place = resume ?? { feed: "listed", after: "" };
  yield* repositories.walk(list.known, place, (repository, at) =>
    since ? readChanges(tools, repository, at) : listRepository(tools, repository, at),
  );
  known.keep(list.known, list.closed, unknown);
  if (since) return { complete: false, cursor: "listed", permissions: "current" };
  await tools.files.keepOnly(ctx.connector.id, new Set([...list.known.map(({ id }) => id), ...unknown]));
  return { ...completeOf(list.isWhole, "the list of repositories"), cursor: "listed", permissions: "current" };
}

type List = Awaited<ReturnType<typeof listInScope>>;

/**
 * Reports repositories of the last run that aren't in the list. Each of them is read in full when it is listed again.
 */
async function* refuseGone(
  { repositories }: ForgeTools,
  { known: here, closed, there }: List,
  known: KnownRepositories,
  unknown: readonly string[],
): AsyncGenerator<Outcome, void> {
  const isSettled = new Set([...here.map(({ id }) => id), ...closedIds(closed, known, there), ...unknown]);
  for (const id of known.ids) {
    if (isSettled.has(id)) continue;
    await repositories.forget(id);
    // The repository was deleted, or is hidden from this credential. No one can read its items until a complete listing
    // shows which is the case.
    if (!there.has(id)) yield refusedContainer(repositoryRef({ id }), "source_not_found");
  }
}

/**
 * Reports repositories that the config names and this credential can't see: their items stay, but no one can read them.
 */
async function* refuseClosed(
  { repositories }: ForgeTools,
  { closed, there }: List,
  known: KnownRepositories,
): AsyncGenerator<Outcome, void> {
  for (const each of closed) {
    const why = each.reason === undefined ? "" : `: ${each.reason}`;
    yield failedSkip(each.name, `${each.name} doesn't exist, or this credential can't read it${why}.`);
    for (const id of closedIds([each], known, there)) {
      await repositories.forget(id);
      yield refusedContainer(repositoryRef({ id }), each.code);
    }
  }
}

/** Returns the ids that hidden names referred to. A repository that is visible under another name isn't hidden. */
function closedIds(closed: ForgeListing["closed"], known: KnownRepositories, there: ReadonlySet<string>): string[] {
  const ids = closed.flatMap(({ name, ownerId }) =>
    ownerId === undefined ? known.idsOf(name) : known.idsOfOwner(ownerId),
  );
  return ids.filter((id) => !there.has(id));
}

async function listInScope({ forge }: ForgeTools, scope: Scope) {
  const { repositories, closed, odd, isWhole } = await forge.list();
  const there = new Set(repositories.map(({ id }) => id));
  return {
    closed,
    there,
    // The repository's owner is unknown, so a scope that names only owners includes it.
    odd: odd.filter((id) => !there.has(id)),
    isWhole,
    known: repositories.filter((repository) => isRepositoryInScope(scope, repository)),
  };
}
