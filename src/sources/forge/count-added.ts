import type { ScopeAddition } from "#sources/contract.ts";
import type { Scope } from "#core/scope.ts";
import type { Forge } from "./contract.ts";
import { hasThreads } from "./repository.ts";
import { isRepositoryInScope } from "./scope.ts";

/**
 * The most repositories that are counted. With more, a person would wait too long, and the forge would get too many
 * requests.
 */
const MOST_REPOSITORIES = 100;
/** Records of a page. */
const PAGE = 50;
/** Further requests for a repository, besides the pages of its issues: comments, the count, and its newest commit. */
const OTHER_CALLS = 3;

/** Counts the issues and pull requests of the repositories that a scope adds. */
export async function countAdded(
  forge: Pick<Forge, "list" | "count">,
  { from, to }: { from: Scope; to: Scope },
): Promise<ScopeAddition | undefined> {
  const { repositories } = await forge.list();
  const added = repositories.filter((each) => isRepositoryInScope(to, each) && !isRepositoryInScope(from, each));
  if (added.length > MOST_REPOSITORIES) return undefined;
  let [items, calls] = [0, 0];
  for (const repository of added) {
    const threads = hasThreads(repository) ? await forge.count(repository) : 0;
    items += threads;
    calls += Math.ceil(threads / PAGE) + OTHER_CALLS;
  }
  return { items, calls };
}
