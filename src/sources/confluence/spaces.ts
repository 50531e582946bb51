import type { Scope } from "#core/scope.ts";
import { compareIds, isPlaceInScope } from "#sources/atlassian/tell.ts";
import type { ConfluenceClient } from "./client.ts";
import type { ConfluenceConfig } from "./config.ts";
import type { SpaceRecord } from "./records.ts";

/** The spaces that the config is about, in the order of their ids. */
export async function spacesOf(
  client: Pick<ConfluenceClient, "spaces">,
  { personalSpaces }: Pick<ConfluenceConfig, "personalSpaces">,
  scope: Scope = { include: [], exclude: [] },
): Promise<SpaceRecord[]> {
  const all = new Map((await client.spaces()).map((space) => [space.id, space]));
  return [...all.values()]
    .filter(({ status }) => status === undefined || status.toLowerCase() === "current")
    .filter((space) => (personalSpaces || !isPersonal(space)) && isPlaceInScope(scope, space.id))
    .sort((a, b) => compareIds(a.id, b.id));
}

export function isPersonal({ key, type }: SpaceRecord): boolean {
  return type === "personal" || key.startsWith("~");
}
