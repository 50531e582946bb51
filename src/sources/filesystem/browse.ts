import { shown } from "#sources/errors.ts";
import { ApiError } from "#api/errors.ts";
import type { BrowseNode } from "#sources/contract.ts";
import { type BrowseAt, toBrowsePage } from "#sources/file-scope/browse-page.ts";
import type { JudgeOptions } from "./judge.ts";
import { isCleanRelativePath } from "./root.ts";
import { listPlaces } from "./walk.ts";

/**
 * Lists the folders and files directly below `parent` that a sync would enter or include, by name. `parent` is an id
 * that this function returned, or `null` for the root. Each of them can be in a scope. `query` keeps those whose name
 * contains it, in any case.
 *
 * @throws ApiError `source_not_found` for a parent that isn't such a folder, that is outside the root, or that is never
 * entered
 */
export async function browseFolder(
  options: JudgeOptions,
  at: BrowseAt,
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const parent = at.parent ?? "";
  if (parent !== "" && !isCleanRelativePath(parent)) {
    throw new ApiError("source_not_found", {
      message: `${shown(parent)} is not a folder below the root. Use an ID that browsing returned.`,
      field: "parent",
    });
  }
  return toBrowsePage(await listPlaces(options, parent), at);
}
