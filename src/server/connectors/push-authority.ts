import {
  type JudgedAccess,
  authorityOf,
  judgeAccess,
  mayName,
  parsePrincipal,
  type Authority,
  type Principal,
  type SourceAccess,
} from "#core/principals.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import type { PushedLine } from "#sources/push/events.ts";
import type { SourceItem, SourcePerson } from "#sources/item.ts";
import { withoutUnknownPeople } from "./authority.ts";
import type { ConnectorDeps } from "./deps.ts";

/** The principals that a push may name. Source: S2. */
export type PushAuthority = Awaited<ReturnType<typeof makeAuthority>>;

/**
 * Makes the authority of a connector over the principals in these lines: its own groups, its own users
 * (`user:push:<connector>:<id>`), `workspace`, `everyone`, and the existing members and groups of its workspace.
 */
export async function makeAuthority({ store }: ConnectorDeps, caller: ConnectorCaller, named: Iterable<Principal>) {
  const ids = { user: new Set<string>(), group: new Set<string>() };
  for (const principal of named) {
    const parsed = parsePrincipal(principal);
    if (parsed?.type === "user") ids.user.add(parsed.userId);
    if (parsed?.type === "group") ids.group.add(parsed.groupId);
  }
  const workspace = store.in(caller.workspaceId);
  const users = ids.user.size === 0 ? new Set<string>() : await workspace.members.whichOf([...ids.user]);
  const groups = ids.group.size === 0 ? new Set<string>() : await workspace.groups.whichOf([...ids.group]);
  const there = new Set([...[...users].map((id) => `user:${id}`), ...[...groups].map((id) => `group:${id}`)]);
  const { connectorId } = caller;
  const naming = { connectorId, providerId: "push", instance: connectorId };
  const authority = authorityOf({ ...naming, named: ["workspace", ...there] });
  return {
    judge: (access: SourceAccess): JudgedAccess => judgeAccess(access, authority),
    /** Whether the connector may define who belongs to this principal: one of the connector's own groups or users. */
    owns: (principal: Principal, type: "source_group" | "source_user"): boolean =>
      parsePrincipal(principal)?.type === type && mayName(principal, authority),
    /** Whether the principal may be a member of a group. */
    mayBelong: (principal: Principal): boolean => mayName(principal, authority),
    /** Whether the principal is a member of the workspace. */
    isMember: (principal: Principal): boolean => parsePrincipal(principal)?.type === "user" && there.has(principal),
    /** Returns the item with its people. If a person's principal may not be named, the person becomes a claim. */
    judgePeople: (item: SourceItem): { item: SourceItem; notes: string[] } => judgePeople(item, authority),
  };
}

/** Returns every principal that these lines name. */
export function* principalsOf(lines: readonly PushedLine[]): Generator<Principal> {
  for (const line of lines) {
    if (!line.ok) continue;
    const { event } = line;
    switch (event.t) {
      case "upsert":
        if (event.item.access) yield* listed(event.item.access);
        for (const person of peopleOf(event.item)) if (person.principal !== undefined) yield person.principal;
        break;
      case "access":
        yield* listed(event.access);
        break;
      case "identity":
        if (event.member !== null) yield event.member;
        break;
      case "member":
        yield event.member;
        break;
      case "group":
        yield* event.members;
        break;
      default:
    }
  }
}

function listed(access: SourceAccess): Principal[] {
  return access.known ? access.all.flat() : [];
}

function peopleOf({ author, assignees = [], people = [] }: SourceItem): SourcePerson[] {
  return [...(author ? [author] : []), ...assignees, ...people];
}

function judgePeople(item: SourceItem, authority: Authority): { item: SourceItem; notes: string[] } {
  const claimed = withoutUnknownPeople(item, authority);
  if (claimed === item) return { item, notes: [] };
  return {
    item: claimed,
    notes: [
      "a person's principal was left out: this connector may not name people, so the name is stored as claimed, not as confirmed",
    ],
  };
}
