import type { ContainerRef } from "#sources/item.ts";

/**
 * The parsed external id: a page or blog post by its number, which never changes, or a comment or attachment of such a
 * page.
 */
export interface ConfluenceId {
  type: "page" | "comment" | "attachment";
  id: string;
}

const MARKS = { page: "", comment: "c", attachment: "a" } as const;

export function formatId({ type, id }: ConfluenceId): string {
  return `${MARKS[type]}${id}`;
}

/**
 * Returns the external id of a content of the site. Every content that is neither a comment nor an attachment counts as
 * a page.
 */
export function externalIdOf({ id, type }: { id: string; type: string }): string {
  return formatId({ id, type: type === "comment" || type === "attachment" ? type : "page" });
}

/** Parses an external id. Undefined for an id that this source didn't create. */
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

/** The group of everyone who may use Confluence. */
export const LICENSED = "licensed";
