import { type SourcePerson } from "#sources/item.ts";
import { defined } from "#core/defined.ts";
import { parsePrincipal, type Principal } from "#core/principals.ts";
import { groupPages } from "#sources/group-pages.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import type { Names } from "./names.ts";

type Event = IdentityEvent<null>;

/**
 * A user. A Cloud user has an account id that never changes; a Data Center user has a key. `name` is the login name.
 */
export interface AtlassianUser {
  id?: string | undefined;
  active: boolean;
  displayName?: string | undefined;
  name?: string | undefined;
  emailAddress?: string | undefined;
}

/** Returns a user as the author of something. */
export function personOf(user: Partial<AtlassianUser> | undefined, id: string | undefined, names: Names): SourcePerson {
  const { displayName, name, emailAddress } = user ?? {};
  const principal = names.user(id);
  return {
    name: [displayName, name, id].find((each) => each?.trim()) ?? "Someone",
    ...defined({ principal, login: name, email: emailAddress }),
    // A person whose id no longer exists is only a name.
    claimed: principal === undefined,
  };
}

/** Reports the complete group with an id at the source. */
export function* reportGroup(
  names: Names,
  id: string,
  members: readonly Principal[],
): Generator<Extract<Event, { t: "group" }>> {
  const group = names.group(id);
  if (group !== undefined) yield* groupPages(group, members);
}

export function* reportUser(
  { id, active, displayName, name, emailAddress }: AtlassianUser,
  names: Names,
): Generator<Event, void> {
  const principal = names.user(id);
  if (principal === undefined) return;
  const [shown, login, address] = [displayName, name, emailAddress].map((each) => each?.trim());
  yield {
    t: "identity",
    principal,
    // A deactivated account can be reactivated.
    state: active ? "active" : "suspended",
    ...(shown && { name: shown }),
    ...(login && { login }),
    // Atlassian doesn't report whether the address is verified.
    ...(address && { email: { address, isVerified: false } }),
  };
}

/** The groups of a site that could not be read. */
export interface Left {
  groups: Principal[];
  /** False if there may be further unreadable groups whose ids are unknown. */
  isWhole: boolean;
}

/** The limit for `due`, greater than the number of groups and users that earlier runs can have reported. */
const MOST_DUE = 1_000_000;

/**
 * Runs the sync of a site's people and groups. A site has no change feed, so each run reads everything. Groups that
 * could not be read keep the members from their last reading until that reading expires. Groups and users that were
 * reported before and no longer exist end.
 */
export async function* reportSite(
  { mode, groups = [], due, groupsReported }: IdentityRun,
  read: (left: Left) => AsyncIterable<Event>,
): AsyncGenerator<Event, void> {
  const wanted = mode === "groups" ? new Set(groups) : undefined;
  const reported = new Set<Principal>();
  const left: Left = { groups: [], isWhole: true };
  for await (const event of read(left)) {
    if (event.t === "group") reported.add(event.group);
    if (event.t === "identity") reported.add(event.principal);
    if (!wanted || (event.t === "group" && wanted.has(event.group))) yield event;
  }
  if (!left.isWhole) for await (const group of groupsReported()) if (!reported.has(group)) left.groups.push(group);
  for (const group of left.groups) reported.add(group);
  yield* reportGone(wanted ?? (mode === "changes" ? due(MOST_DUE) : []), reported);
  yield { t: "checkpoint", cursor: null };
  const notLookedAt = left.groups.length > 0 ? left.groups : undefined;
  yield { t: "end", listing: wanted ? "partial" : "complete", ...defined({ notLookedAt }) };
}

/**
 * Reports the groups and users that were reported before and no longer exist, since a run of mode `changes` doesn't end
 * what it doesn't name.
 */
async function* reportGone(
  before: Iterable<Principal> | AsyncIterable<Principal>,
  reported: ReadonlySet<Principal>,
): AsyncGenerator<Event, void> {
  for await (const principal of before) {
    if (reported.has(principal)) continue;
    const type = parsePrincipal(principal)?.type;
    if (type === "source_group") yield { t: "group", group: principal, members: [] };
    if (type === "source_user") yield { t: "identity", principal, state: "suspended" };
  }
}
