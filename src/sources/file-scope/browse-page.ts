import type { BrowseNode } from "#sources/contract.ts";
import { lastSegmentOf, readableSegment } from "./paths.ts";

/** A folder or file. Its id is the path below the root. */
export interface Place {
  rel: string;
  kind: "folder" | "file";
}

/** A browse request. `cursor` is the last id of the previous page, and `query` is a part of the name. */
export interface BrowseAt {
  parent: string | null;
  query?: string;
  cursor?: string;
}

/** The most nodes in one response. */
export const BROWSE_PAGE = 200;

/** Returns a page of the places directly below a place, in the given order. */
export function toBrowsePage(
  places: readonly Place[],
  { parent, query, cursor }: BrowseAt,
): { nodes: BrowseNode[]; nextCursor: string | null } {
  const wanted = query?.toLowerCase();
  const found = places.filter(({ rel }) => {
    const isAfter = cursor === undefined || rel > cursor;
    return isAfter && (wanted === undefined || nameOf(rel).toLowerCase().includes(wanted));
  });
  const page = found.slice(0, BROWSE_PAGE);
  const nodes = page.map(({ rel, kind }): BrowseNode => {
    const title = nameOf(rel).normalize("NFC");
    return { id: rel, parent, title, kind, selectable: true, expandable: kind === "folder" };
  });
  return { nodes, nextCursor: found.length > page.length ? (page.at(-1)?.rel ?? null) : null };
}

function nameOf(id: string): string {
  return readableSegment(lastSegmentOf(id));
}
