import type { ContainerRef } from "#sources/item.ts";

/** What an external id names: a page or blog post by its number, which never changes, or what stands at one. */
export interface ConfluenceId {
  type: "page" | "comment" | "attachment";
  id: string;
}

const MARKS = { page: "", comment: "c", attachment: "a" } as const;

export function formatId({ type, id }: ConfluenceId): string {
  return `${MARKS[type]}${id}`;
}

/** Of content as the site names it: all that is neither comment nor attachment counts as a page. */
export function externalIdOf({ id, type }: { id: string; type: string }): string {
  return formatId({ id, type: type === "comment" || type === "attachment" ? type : "page" });
}

/** Undefined for what is no id of ours. */
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
  /** Of Cloud by its id, of Data Center by its name, where groups have nothing else. */
  group: (id: string) => `g:${id}`,
  space: (spaceId: string) => `s${spaceId}.read`,
  restriction: (contentId: string) => `r${contentId}`,
};

/** Everybody who may use Confluence. */
export const LICENSED = "licensed";
