import type { Scope } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import type { ScopeAddition } from "#sources/contract.ts";
import type { GitConfig } from "#sources/git-repository/config.ts";
import type { GitEnvironment } from "#sources/git-repository/mirror.ts";
import { listTree } from "#sources/git-repository/tree.ts";
import { withNewest } from "./newest.ts";

/** The most files that are counted. With more, a person would wait too long for the answer. */
const MOST_FILES = 1_000_000;

/**
 * Counts files of the newest commit that a run of scope `to` includes and a run of `from` doesn't, with one fetch of
 * names without files. Commits aren't counted, since they are items of any scope.
 */
export async function countAdded(
  environment: GitEnvironment,
  ctx: SourceContext<GitConfig>,
  { to, isBefore, name }: { to: Scope; isBefore: (path: string) => boolean; name: string },
): Promise<ScopeAddition | undefined> {
  const items = await withNewest(environment, ctx, { name, scope: to }, async ({ view, commit, place }) => {
    let [files, added] = [0, 0];
    for await (const entry of listTree(place, commit)) {
      if (++files > MOST_FILES) return "too_many";
      if (view.judge(entry).type === "take" && !isBefore(entry.shown)) added++;
    }
    return added;
  });
  // One fetch downloads all of these files.
  return items === "too_many" ? undefined : { items: items ?? 0, calls: 1 };
}
