import { loadAuthority } from "#server/connectors/authority.ts";
import { type Authority, formatPrincipal, narrowAccess, type Principal } from "#core/principals.ts";
import type { SourceItem } from "#sources/contract.ts";
import { meetsEvery } from "#storage/access/decision.ts";
import { contextOf, INSTANCE, type KitFixture } from "./fixture.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import type { Replica } from "./replica.ts";

/** What is known of groups and users. */
export interface PeopleReplica {
  groups: Map<Principal, ReadonlySet<Principal>>;
  active: Set<Principal>;
  cursor: unknown;
}

export function makePeopleReplica(): PeopleReplica {
  return { groups: new Map(), active: new Set(), cursor: null };
}

export interface PeopleOptions {
  mode?: IdentityRun["mode"];
  groups?: readonly Principal[];
  /** Stops after so many events, as a crash would. */
  killAfter?: number;
}

/** One identity run of the fixture's source; a source without them tells nothing. Gives the events. */
export async function runPeopleInto(
  fixture: KitFixture,
  people: PeopleReplica,
  { mode = "whole", groups, killAfter }: PeopleOptions = {},
): Promise<IdentityEvent[]> {
  const events: IdentityEvent[] = [];
  const named = new Set<Principal>();
  let pending: IdentityEvent[] = [];
  const run: IdentityRun = { mode, cursor: people.cursor, async *due() {}, ...(groups && { groups }) };
  for await (const event of fixture.source.syncIdentities?.(contextOf(fixture), run) ?? []) {
    events.push(event);
    pending.push(event);
    if (event.t === "checkpoint" || event.t === "end") {
      for (const settled of pending) apply(people, settled, named);
      pending = [];
    }
    if (event.t === "end" && event.listing === "complete" && mode === "whole") {
      const kept = new Set([...named, ...(event.notLookedAt ?? [])]);
      for (const group of people.groups.keys()) if (!kept.has(group)) people.groups.delete(group);
      for (const user of people.active) if (!kept.has(user)) people.active.delete(user);
    }
    if (killAfter !== undefined && events.length >= killAfter) break;
  }
  return events;
}

function apply(people: PeopleReplica, event: IdentityEvent, named: Set<Principal>): void {
  switch (event.t) {
    case "group": {
      // The pages of one group follow each other.
      const before = named.has(event.group) ? (people.groups.get(event.group) ?? []) : [];
      people.groups.set(event.group, new Set([...before, ...event.members]));
      named.add(event.group);
      return;
    }
    case "group_same":
      for (const group of event.groups) named.add(group);
      return;
    case "member": {
      // A group that was never read whole has members that nobody told.
      const members = people.groups.get(event.group);
      if (!members) return;
      const others = [...members].filter((member) => member !== event.member);
      people.groups.set(event.group, new Set(event.removed ? others : [...others, event.member]));
      return;
    }
    case "identity":
      named.add(event.principal);
      if (event.state === "active") people.active.add(event.principal);
      else people.active.delete(event.principal);
      return;
    case "checkpoint":
      people.cursor = JSON.parse(JSON.stringify(event.cursor));
      return;
    case "end":
      return;
  }
}

/** What is known, in a form that can be compared; a group without members is the same as none. */
export function peopleSnapshot({ groups, active }: PeopleReplica): string[] {
  const full = [...groups].filter(([, members]) => members.size > 0);
  return [...full.map(([group, members]) => `${group}: ${[...members].sort().join(" ")}`), ...active].sort();
}

export function userOf({ source }: KitFixture, id: string): Principal {
  return formatPrincipal({ type: "source_user", providerId: source.spec.providerId, instance: INSTANCE, id });
}

/** What the connector of the fixture may name, as the engine finds it: every group that its config names is there. */
export async function authorityIn(fixture: KitFixture): Promise<Authority> {
  const { connector } = contextOf(fixture);
  const groups = { whichOf: async (ids: readonly string[]) => new Set(ids) };
  const record = {
    connectorId: connector.id,
    providerId: fixture.source.spec.providerId,
    ownerUserId: OWNER,
    // A parsed config of a strict object schema is one.
    config: fixture.config as Readonly<Record<string, unknown>>,
  };
  const instance = fixture.source.spec.hasPeople ? { name: INSTANCE, isRegistered: true } : undefined;
  return loadAuthority({ groups } as Parameters<typeof loadAuthority>[0], fixture.source, record, instance);
}

const OWNER = "usr_aaaaaaaaaaaaaaaa";

/** Everything that somebody stands for: a user of the source, or any member of the workspace. */
export function heldBy({ groups, active }: PeopleReplica, user: Principal | undefined): Set<Principal> {
  const held = new Set<Principal>(["everyone", "workspace"]);
  if (user !== undefined && active.has(user)) held.add(user);
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
