import { ApiError } from "#api/errors.ts";
import type { BrowseNode } from "#server/ports/source.ts";
import type { JudgeOptions } from "./judge.ts";
import { isCleanRelativePath } from "./root.ts";
import { listPlaces } from "./walk.ts";

/** Nodes of one answer. */
export const BROWSE_PAGE = 200;

/**
 * The folders and files directly below `parent` (an id as it came from here; `null` = the root) that a sync would enter
 * or take, by name; either may stand in a scope. `query` keeps those whose name holds it, in any case. `cursor` is the last id of the page before.
 *
 * @throws ApiError `source_not_found` for a parent that is no such folder, climbs out, or is never entered
 */
export async function browseFolder(
  options: JudgeOptions,
  at: { parent: string | null; query?: string; cursor?: string },
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const parent = at.parent ?? "";
  if (parent !== "" && !isCleanRelativePath(parent)) {
    throw new ApiError("source_not_found", {
      message: `${JSON.stringify(parent.slice(0, 200))} is no folder below the root. Take an id that browsing gave.`,
      field: "parent",
    });
  }
  const wanted = at.query?.toLowerCase();
  const found = (await listPlaces(options, parent)).filter(({ rel }) => {
    const isAfter = at.cursor === undefined || rel > at.cursor;
    return isAfter && (wanted === undefined || nameOf(rel).toLowerCase().includes(wanted));
  });
  const page = found.slice(0, BROWSE_PAGE);
  const nodes = page.map(({ rel, kind }): BrowseNode => {
    const title = nameOf(rel).normalize("NFC");
    return { id: rel, parent: at.parent, title, kind, selectable: true, expandable: kind === "folder" };
  });
  return { nodes, nextCursor: found.length > page.length ? (page.at(-1)?.rel ?? null) : null };
}

function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}
