import type { BrowseNode } from "#sources/contract.ts";
import type { ForgeRepository } from "./contract.ts";
import { ownerRef, repositoryRef } from "./ids.ts";

/** The most nodes in one response. */
const PAGE = 200;

/**
 * Lists owners, and below each owner its repositories. With a query, lists all repositories whose name contains it, in
 * one list. The cursor is the last name of the previous page, so nothing is stored between two pages.
 */
export function browseRepositories(
  repositories: readonly ForgeRepository[],
  { parent, query, cursor }: { parent: string | null; query?: string; cursor?: string },
): { nodes: BrowseNode[]; nextCursor: string | null } {
  const wanted = query?.trim().toLowerCase() ?? "";
  const below = repositories.filter((repository) => parent === null || ownerRef(repository).id === parent);
  const nodes =
    parent === null && wanted === ""
      ? owners(below)
      : below
          .filter(({ fullName }) => fullName.toLowerCase().includes(wanted))
          .map((repository): BrowseNode => ({
            id: repositoryRef(repository).id,
            parent: ownerRef(repository).id,
            title: parent === null ? repository.fullName : repository.fullName.slice(repository.owner.login.length + 1),
            kind: "repository",
            selectable: true,
            expandable: false,
          }));
  const key = ({ title, id }: BrowseNode) => `${title.toLowerCase()} ${id}`;
  const sorted = nodes.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const found = cursor === undefined ? sorted : sorted.filter((node) => key(node) > cursor);
  const page = found.slice(0, PAGE);
  const last = page.at(-1);
  return { nodes: page, nextCursor: found.length > page.length && last ? key(last) : null };
}

function owners(repositories: readonly ForgeRepository[]): BrowseNode[] {
  const found = new Map<string, BrowseNode>();
  for (const repository of repositories) {
    const { id } = ownerRef(repository);
    const node = found.get(id);
    found.set(id, {
      id,
      parent: null,
      title: repository.owner.login,
      kind: "owner",
      selectable: true,
      expandable: true,
      count: (node?.count ?? 0) + 1,
    });
  }
  return [...found.values()];
}
