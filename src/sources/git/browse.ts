import { shown } from "#sources/errors.ts";
import { EVERYTHING } from "#core/scope.ts";
import { ApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { BrowseNode } from "#sources/contract.ts";
import { type BrowseAt, type Place, toBrowsePage } from "#sources/file-scope/browse-page.ts";
import type { GitConfig } from "#sources/git-repository/config.ts";
import { isItemPath } from "#sources/git-repository/judge.ts";
import type { GitEnvironment } from "#sources/git-repository/mirror.ts";
import { listFolder, type TreeEntry } from "#sources/git-repository/tree.ts";
import type { CommitView } from "#sources/git-repository/view.ts";
import { withNewest } from "./newest.ts";

/**
 * Lists the folders and files directly below `parent` in the configured branch or tag that a run would include.
 * `parent` is an id that this function returned, or `null` for the root. No connector exists yet, so a temporary mirror
 * without history and without files is created and later deleted; `name` is the mirror's name.
 *
 * @throws ApiError `source_not_found` for a parent that isn't a folder there; the errors of `withNewest`
 */
export async function browseRepository(
  environment: GitEnvironment,
  ctx: SourceContext<GitConfig>,
  at: BrowseAt,
  name: string,
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const { parent } = at;
  if (parent !== null && !isItemPath(parent)) throw notThere(parent);
  const nodes = await withNewest(environment, ctx, { name, scope: EVERYTHING }, async ({ view, commit, place }) => {
    const entries = await listFolder(place, commit, parent ?? "");
    if (parent !== null && entries.length === 0) throw notThere(parent);
    return toBrowsePage(entries.flatMap((entry) => toPlace(view, entry)).sort(byId), at);
  });
  return nodes ?? { nodes: [], nextCursor: null };
}

function toPlace(view: CommitView, entry: TreeEntry): Place[] {
  if (entry.path === undefined) return [];
  const isFolder = entry.mode === "040000";
  // A folder is shown if a file in it could be included.
  const path = isFolder ? `${entry.path}/file` : entry.path;
  const verdict = view.judge({ ...entry, mode: isFolder ? "100644" : entry.mode, path, shown: path });
  return verdict.type === "take" ? [{ rel: entry.path, kind: isFolder ? "folder" : "file" }] : [];
}

function byId(a: Place, b: Place): number {
  return a.rel < b.rel ? -1 : 1;
}

function notThere(parent: string): ApiError {
  return new ApiError("source_not_found", {
    message: `${shown(parent)} is not a folder of the repository. Use an ID that browsing returned.`,
    field: "parent",
  });
}
