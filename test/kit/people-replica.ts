import { type Authority, mayName, parsePrincipal, type Principal } from "#core/principals.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { authorityIn } from "./authority.ts";
import { contextOf, type KitFixture } from "./fixture.ts";

/** What is known of groups and users. */
export interface PeopleReplica {
  groups: Map<Principal, ReadonlySet<Principal>>;
  active: Set<Principal>;
  cursor: unknown;
}

export function makePeopleReplica(): PeopleReplica {
  return { groups: new Map(), active: new Set(), cursor: null };
}

export function copyPeople({ groups, active, cursor }: PeopleReplica): PeopleReplica {
  return { groups: new Map(groups), active: new Set(active), cursor };
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
  const authority = await authorityIn(fixture);
  let pending: IdentityEvent[] = [];
  const run: IdentityRun = {
    mode,
    cursor: people.cursor,
    async *due() {},
    async *groupsReported() {
      yield* people.groups.keys();
    },
    ...(groups && { groups }),
  };
  for await (const event of fixture.source.syncIdentities?.(contextOf(fixture), run) ?? []) {
    events.push(event);
    pending.push(event);
    if (event.t === "checkpoint" || event.t === "end") {
      for (const settled of pending) applyTold(people, settled, named, authority);
      pending = [];
    }
    if (event.t === "end" && event.listing === "complete" && mode === "whole") {
      endUnnamed(people, new Set([...named, ...(event.notLookedAt ?? [])]));
    }
    if (killAfter !== undefined && events.length >= killAfter) break;
  }
  return events;
}

/** What a complete listing did not name is over. */
export function endUnnamed({ groups, active }: PeopleReplica, named: ReadonlySet<Principal>): void {
  for (const group of groups.keys()) if (!named.has(group)) groups.delete(group);
  for (const user of active) if (!named.has(user)) active.delete(user);
}

/** What an event of a group or user changes, in a run of its own or between items; as the connector's authority allows it. */
export function applyTold(
  people: PeopleReplica,
  event: IdentityEvent,
  named: Set<Principal>,
  authority: Authority,
): void {
  const isOwn = (group: Principal) => parsePrincipal(group)?.type === "source_group" && mayName(group, authority);
  switch (event.t) {
    case "group": {
      if (!isOwn(event.group)) return;
      // The pages of one group follow each other.
      const before = named.has(event.group) ? (people.groups.get(event.group) ?? []) : [];
      const members = event.members.filter((member) => mayName(member, authority));
      people.groups.set(event.group, new Set([...before, ...members]));
      named.add(event.group);
      return;
    }
    case "group_same":
      for (const group of event.groups) named.add(group);
      return;
    case "member": {
      // A group that was never read whole has members that nobody told.
      const members = people.groups.get(event.group);
      if (!members || !(event.removed || mayName(event.member, authority))) return;
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
