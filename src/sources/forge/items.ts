import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Scope } from "#core/scope.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import { reportSeen } from "#sources/seen.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { failedSkip, refusalOf, refusedContainer } from "#sources/failures.ts";
import type { ForgeListing, ForgeRepository } from "./contract.ts";
import { fileId, type ForgeId, parseId, repositoryRef } from "./ids.ts";
import { makeKnown } from "./known.ts";
import { toPartItem, toThreadItem } from "./map.ts";
import { isRepositoryInScope } from "./scope.ts";
import type { ForgeTools } from "./tools.ts";

/** Reads the present state of these items alone. */
export async function* readItems(
  tools: ForgeTools,
  scope: Scope,
  externalIds: readonly string[],
): AsyncGenerator<Outcome, void> {
  const repositories = await makeRepositories(tools.ctx, scope, tools);
  const files = new Map<ForgeRepository, string[]>();
  yield* readEach<Outcome>(tools, externalIds, async (externalId) => {
    const id = parseId(externalId);
    const repository = id && (await repositories.find(id.repository));
    if (!id || !repository) return [];
    if (id.type !== "file") return readOne(repository, id, tools);
    if (!repository.content.has("files")) return [];
    // One fetch covers all of these files.
    files.set(repository, [...(files.get(repository) ?? []), id.path]);
    return "later";
  });
  for (const [repository, paths] of files) yield* readFiles(tools, repository, paths);
}

async function* readFiles(
  { ctx, facts, forge, files, failures, repositories }: ForgeTools,
  repository: ForgeRepository,
  paths: readonly string[],
): AsyncGenerator<Outcome, void> {
  try {
    yield* files.readPaths(ctx, repository, { facts, forge, paths });
  } catch (error) {
    const code = refusalOf(error);
    if (code !== undefined) {
      await repositories.forget(repository.id);
      yield refusedContainer(repositoryRef(repository), code);
      return yield* reportSeen(paths.map((path) => fileId(repository, path)));
    }
    await failures.requireOfOne(error);
    for (const path of paths)
      yield failedSkip(fileId(repository, path), "The files of its repository can't be read now.");
  }
}

/** Looks up repositories by their ids, each requested once. */
async function makeRepositories({ state }: SyncContext<unknown>, scope: Scope, { forge }: ForgeTools) {
  const asked = new Map<string, Promise<ForgeRepository>>();
  const known = new Set((await makeKnown(state)).ids);
  let listed: Promise<ForgeListing> | undefined;

  /**
   * Whether the config includes the repository. A notification can concern any repository that the credential can read.
   */
  async function isAsked(id: string): Promise<boolean> {
    if (known.has(id)) return true;
    const { repositories, odd, isWhole } = await (listed ??= forge.list());
    if (repositories.some((each) => each.id === id)) return true;
    if (!isWhole || odd.includes(id)) throw halfRead(NOT_UNDERSTOOD);
    return false;
  }

  return {
    /**
     * Returns a repository; undefined if it isn't read.
     * @throws ApiError if the repository is refused, or the request fails
     */
    async find(id: string): Promise<ForgeRepository | undefined> {
      const asking = asked.get(id) ?? forge.repository(id);
      asked.set(id, asking);
      const repository = await asking;
      return isRepositoryInScope(scope, repository) && (await isAsked(id)) ? repository : undefined;
    },
  };
}

async function readOne(
  repository: ForgeRepository,
  id: Exclude<ForgeId, { type: "file" }>,
  tools: ForgeTools,
): Promise<Outcome[]> {
  try {
    const item = await readItem(repository, id, tools);
    return item ? [{ t: "upsert", item }] : [];
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined || code === "source_forbidden") throw error;
    return [];
  }
}

async function readItem(
  repository: ForgeRepository,
  id: Exclude<ForgeId, { type: "file" }>,
  { forge, facts }: ForgeTools,
): Promise<SourceItem | undefined> {
  const { number } = id;
  if (id.type === "part") return toPartItem(await forge.part(repository, id), repository, facts);
  const thread = await forge.thread(repository, number);
  return repository.content.has(thread.isPull ? "pulls" : "issues")
    ? toThreadItem(thread, repository, facts)
    : undefined;
}
