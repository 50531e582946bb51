import type { ContainerRef } from "#sources/item.ts";

/** The parsed external id. An issue's number never changes, even if its project does. */
export interface JiraId {
  issue: string;
  part?: { type: "comment" | "attachment"; id: string };
}

export function partId(issue: string, part: "c" | "a", id: string): string {
  return `${issue}.${part}${id}`;
}

/** Parses an external id. Undefined for an id that this source didn't create. */
export function parseId(externalId: string): JiraId | undefined {
  const [, issue, type, id] = /^(\d{1,19})(?:\.([ca])(\d{1,19}))?$/.exec(externalId) ?? [];
  if (issue === undefined) return undefined;
  return { issue, ...(id !== undefined && { part: { type: type === "c" ? "comment" : "attachment", id } }) };
}

export function projectRef(id: string): ContainerRef {
  return { type: "project", id };
}
