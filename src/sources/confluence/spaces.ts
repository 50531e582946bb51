import type { Scope } from "#core/scope.ts";
import { compareIds, isPlaceInScope } from "#sources/atlassian/tell.ts";
import type { ConfluenceClient } from "./client.ts";
import type { ConfluenceConfig } from "./config.ts";
import type { SpaceRecord } from "./records.ts";

/** Spaces to read. */
export interface Spaces {
  spaces: SpaceRecord[];
  /** Ids of those that aren't understood. */
  odd: string[];
  /** There are no others, whose ids aren't understood either. */
  isWhole: boolean;
}

/** The spaces that the config is about, in the order of their ids. */
export async function spacesOf(
  client: Pick<ConfluenceClient, "spaces" | "odd">,
  { personalSpaces }: Pick<ConfluenceConfig, "personalSpaces">,
  scope: Scope = { include: [], exclude: [] },
): Promise<Spaces> {
  client.odd.take();
  const all = new Map((await client.spaces()).map((space) => [space.id, space]));
  const { ids, nameless } = client.odd.take();
  const spaces = [...all.values()]
    .filter(({ status }) => status === undefined || status.toLowerCase() === "current")
    .filter((space) => (personalSpaces || !isPersonal(space)) && isPlaceInScope(scope, space.id))
    .sort((a, b) => compareIds(a.id, b.id));
  return { spaces, odd: ids.filter((id) => isPlaceInScope(scope, id)), isWhole: nameless === 0 };
}

export function isPersonal({ key, type }: SpaceRecord): boolean {
  return type === "personal" || key.startsWith("~");
}
