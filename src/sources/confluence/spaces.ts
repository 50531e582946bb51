import { isNamedIn } from "#sources/in-scope.ts";
import { EVERYTHING, type Scope } from "#core/scope.ts";
import { byNumber, type ContainerList } from "#sources/containers.ts";
import type { ConfluenceClient } from "./client.ts";
import type { ConfluenceConfig } from "./config.ts";
import type { SpaceRecord } from "./records.ts";

export type Spaces = ContainerList<SpaceRecord>;

/** Lists the spaces that the config includes, in the order of their ids. */
export async function spacesOf(
  client: Pick<ConfluenceClient, "spaces" | "odd">,
  { personalSpaces }: Pick<ConfluenceConfig, "personalSpaces">,
  scope: Scope = EVERYTHING,
): Promise<Spaces> {
  const { found, ids, nameless } = await client.odd.of(() => client.spaces());
  const all = new Map(found.map((space) => [space.id, space]));
  const spaces = [...all.values()]
    .filter(({ status }) => status === undefined || status.toLowerCase() === "current")
    .filter((space) => (personalSpaces || !isPersonal(space)) && isNamedIn(scope, space.id))
    .sort((a, b) => byNumber(a.id, b.id));
  return { known: spaces, odd: ids.filter((id) => isNamedIn(scope, id)), isWhole: nameless === 0 };
}

export function isPersonal({ key, type }: SpaceRecord): boolean {
  return type === "personal" || key.startsWith("~");
}
