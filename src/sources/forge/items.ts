import type { RefusalCode, SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import type { ForgeListing, ForgeRepository } from "./contract.ts";
import { type ForgeId, parseId } from "./ids.ts";
import { makeKnown } from "./known.ts";
import { toPartItem, toThreadItem } from "./map.ts";
import { refusalOf } from "#sources/failures.ts";
import { type ForgeTools, orRefused } from "./repository.ts";
import { isRepositoryInScope } from "./scope.ts";

type Context = SyncContext<unknown>;
type Event = SyncEvent<never>;

/** Only these, as they are now. */
export async function* readItems(
  ctx: Context,
  { scope, externalIds = [] }: Pick<SyncRequest<unknown>, "scope" | "externalIds">,
  tools: ForgeTools,
): AsyncGenerator<Event, void> {
  const repositories = new Map<string, ForgeRepository | RefusalCode>();
  const paths = new Map<string, string[]>();
  const known = new Set((await makeKnown(ctx.state)).ids);
  let listed: Promise<Set<string>> | undefined;
  // A notification can be about any repository that the credential reads.
  const isAsked = async (id: string) => known.has(id) || (await (listed ??= tools.forge.list().then(toIds))).has(id);
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
    } else if (!isRepositoryInScope(scope, repository) || !(await isAsked(id.repository))) {
      yield { t: "delete", externalId };
    } else if (id.type === "file") {
      paths.set(id.repository, [...(paths.get(id.repository) ?? []), id.path]);
    } else {
      const item = await orCode(() => readItem(repository, id, tools));
      if (typeof item !== "string") yield { t: "upsert", item };
      else if (item === "source_forbidden") yield { t: "refused", what: { externalId }, code: item };
      else yield { t: "delete", externalId };
    }
  }
  for (const [id, some] of paths) {
    const repository = repositories.get(id);
    if (typeof repository !== "object" || !repository.content.has("files")) continue;
    const { facts, forge } = tools;
    yield* orRefused(ctx, repository, () =>
      withoutResult(tools.files.tell(ctx, repository, { facts, forge, paths: some })),
    );
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

function toIds({ repositories }: ForgeListing): Set<string> {
  return new Set(repositories.map(({ id }) => id));
}

async function* withoutResult(events: AsyncGenerator<Event, unknown>): AsyncGenerator<Event, void> {
  yield* events;
}

async function readItem(
  repository: ForgeRepository,
  id: Exclude<ForgeId, { type: "file" }>,
  { forge, facts }: ForgeTools,
): Promise<SourceItem | RefusalCode> {
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
