import type { ContainerRef } from "#sources/item.ts";

/** What an external id names. An issue's number never changes, in whatever project it is. */
export interface JiraId {
  issue: string;
  part?: { type: "comment" | "attachment"; id: string };
}

export function partId(issue: string, part: "c" | "a", id: string): string {
  return `${issue}.${part}${id}`;
}

/** Undefined for what is no id of ours. */
export function parseId(externalId: string): JiraId | undefined {
  const [, issue, type, id] = /^(\d{1,19})(?:\.([ca])(\d{1,19}))?$/.exec(externalId) ?? [];
  if (issue === undefined) return undefined;
  return { issue, ...(id !== undefined && { part: { type: type === "c" ? "comment" : "attachment", id } }) };
}

export function projectRef(id: string): ContainerRef {
  return { type: "project", id };
}
