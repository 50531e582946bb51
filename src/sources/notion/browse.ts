import type { BrowseNode } from "#sources/contract.ts";
import type { NotionClient } from "./client.ts";
import { cleanName } from "./names.ts";
import { titleOf } from "./properties.ts";

/** The most requests for one response. Rows of databases aren't shown, and there may be many of them. */
const MOST_ASKED = 5;

/** Lists databases, and then pages that aren't rows, the most recently edited first. */
export async function browseNotion(
  client: NotionClient,
  { parent, query = "", cursor }: { parent: string | null; query?: string; cursor?: string },
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const nodes: BrowseNode[] = [];
  if (parent !== null) return { nodes, nextCursor: null };
  let [kind, from] = splitCursor(cursor);
  for (let asked = 0; asked < MOST_ASKED; asked++) {
    const { pages, dataSources, next } = await client.find(kind, query.trim(), from);
    for (const { id, title, in_trash: isTrashed } of dataSources)
      if (isTrashed !== true) nodes.push(toNode(id, cleanName(title), "database"));
    for (const page of pages)
      if (page.in_trash !== true && page.parent.type !== "data_source_id")
        nodes.push(toNode(page.id, titleOf(page), "page"));
    if (next === undefined && kind === "page") return { nodes, nextCursor: null };
    [kind, from] = next === undefined ? ["page", ""] : [kind, next];
    if (nodes.length > 0) break;
  }
  return { nodes, nextCursor: `${kind} ${from}` };
}

function splitCursor(cursor: string | undefined): ["page" | "data_source", string] {
  const [kind, from = ""] = cursor?.split(" ") ?? [];
  return kind === "page" ? ["page", from] : ["data_source", from];
}

function toNode(id: string, title: string, kind: string): BrowseNode {
  return { id, parent: null, title, kind, selectable: true, expandable: false };
}
