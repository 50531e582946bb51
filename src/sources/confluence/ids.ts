import type { ContainerRef } from "#sources/item.ts";

/**
 * The target of an external id: a page or blog post by its number, which never changes, or a comment or attachment of
 * one.
 */
export interface ConfluenceId {
  type: "page" | "comment" | "attachment";
  id: string;
}

const MARKS = { page: "", comment: "c", attachment: "a" } as const;

export function formatId({ type, id }: ConfluenceId): string {
  return `${MARKS[type]}${id}`;
}

/** The external id of the site's content: everything that is neither comment nor attachment counts as a page. */
export function externalIdOf({ id, type }: { id: string; type: string }): string {
  return formatId({ id, type: type === "comment" || type === "attachment" ? type : "page" });
}

/** Undefined for an id that isn't ours. */
export function parseId(externalId: string): ConfluenceId | undefined {
  const [, mark, id] = /^([ca]?)(\d{1,19})$/.exec(externalId) ?? [];
  if (id === undefined) return undefined;
  return { type: mark === "c" ? "comment" : mark === "a" ? "attachment" : "page", id };
}

export function spaceRef(id: string): ContainerRef {
  return { type: "space", id };
}

/** Ids of groups at the source. */
export const groupIds = {
  /** Cloud identifies groups by id, Data Center only by name. */
  group: (id: string) => `g:${id}`,
  space: (spaceId: string) => `s${spaceId}.read`,
  restriction: (contentId: string) => `r${contentId}`,
};

/** Everyone who may use Confluence. */
export const LICENSED = "licensed";
