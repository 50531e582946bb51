import { type Authority, formatPrincipal, narrowAccess, type Principal } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import { meetsEvery } from "#storage/access/decision.ts";
import { INSTANCE, type KitFixture } from "./fixture.ts";
import type { PeopleReplica } from "./people-replica.ts";
import type { Replica } from "./replica.ts";

export function userOf({ source }: KitFixture, id: string): Principal {
  return formatPrincipal({ type: "source_user", providerId: source.spec.providerId, instance: INSTANCE, id });
}

/** Everything that somebody stands for: a user of the source, or any member of the workspace. */
export function heldBy(told: readonly PeopleReplica[], user: Principal | undefined): Set<Principal> {
  const isActive = user !== undefined && told.some(({ active }) => active.has(user));
  return withGroups(told, ["everyone", "workspace", ...(isActive ? [user] : [])]);
}

/** These principals, and the groups that let them in. */
export function withGroups(told: readonly PeopleReplica[], principals: readonly Principal[]): Set<Principal> {
  const held = new Set(principals);
  const groups = told.flatMap((each) => [...each.groups]);
  for (let before = -1; before < held.size;) {
    before = held.size;
    for (const [group, members] of groups) if ([...members].some((member) => held.has(member))) held.add(group);
  }
  return held;
}

/** Whether an item is open to somebody who stands for these: it, and all that it is a part of. */
export function isReadable(
  { items }: Pick<Replica, "items">,
  { access, partOf }: Pick<SourceItem, "access" | "partOf">,
  held: ReadonlySet<Principal>,
  authority: Authority,
  depth = 0,
): boolean {
  if (partOf !== undefined) {
    const parent = items.get(partOf);
    if (!parent || depth > 16 || !isReadable({ items }, parent, held, authority, depth + 1)) return false;
    if (access === undefined) return true;
  }
  const judged = access && narrowAccess(access, authority).access;
  return judged?.known === true && meetsEvery(judged.all, held);
}
