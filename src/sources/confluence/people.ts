import { defined } from "#core/defined.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import { makeNames, type Names } from "#sources/atlassian/names.ts";
import { reportGroup, reportUser, type Left, reportSite } from "#sources/atlassian/people.ts";
import { makeFailures, orNothing } from "#sources/failures.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { type ConfluenceClient, type ConfluenceContext, makeConfluenceClient } from "./client.ts";
import { groupIds, LICENSED } from "./ids.ts";
import type { SpaceReader } from "./reader.ts";
import type { GroupRecord, UserRecord } from "./records.ts";
import { spacesOf } from "./spaces.ts";

type Event = IdentityEvent<null>;

/**
 * Syncs users, groups, and the readers of each space. Only users who may use Confluence have access; other users read
 * nothing, even if they are still members of groups. Confluence has no change feed, so every run reads everything.
 */
export function syncConfluencePeople(ctx: ConfluenceContext, run: IdentityRun): AsyncGenerator<Event, void> {
  return reportSite(run, (left) => reportAll(ctx, left));
}

async function* reportAll(ctx: ConfluenceContext, left: Left): AsyncGenerator<Event, void> {
  const client = makeConfluenceClient(ctx);
  const names = makeNames(ctx, "confluence");
  // An unauthenticated request sees no users. That must not remove everyone.
  await client.whoAmI();
  const directory = await readDirectory(client);
  for (const user of directory.users.values()) yield* reportUser(user, names);
  yield* reportGroup(
    names,
    LICENSED,
    [...directory.users.values()].flatMap(({ id, isGuest }) => (isGuest ? [] : (names.user(id) ?? []))),
  );
  const met = new Set<Principal>();
  const known = new Set([...directory.users.keys()].map((id) => names.user(id)));
  const meet = (principals: readonly Principal[]) => {
    for (const each of principals) if (each.startsWith("user:") && !known.has(each)) met.add(each);
  };
  const failures = makeFailures(() => client.whoAmI());
  /** Reads one group. If the server fails for the group, its members stay until the last reading expires. */
  async function* alone(groupId: string, read: () => Promise<readonly Principal[] | undefined>): AsyncGenerator<Event> {
    const group = names.group(groupId);
    if (group === undefined) return;
    try {
      const members = (await read()) ?? [];
      meet(members);
      yield* reportGroup(names, groupId, members);
      failures.well();
    } catch (error) {
      await failures.requireOfOne(error);
      left.groups.push(group);
    }
  }

  const open = await openSpaces(client);
  const { known: spaces, odd, isWhole } = await spacesOf(client, ctx.config);
  for (const space of spaces) {
    yield* alone(groupIds.space(space.id), async () => {
      const readers = await orNothing(() => client.readersOf(space));
      const members = (readers ?? []).flatMap((reader) => principalOf(reader, names) ?? []);
      return [...members, ...(open.has(space.id) ? (["everyone"] as const) : [])];
    });
  }
  for (const record of (await orNothing(() => client.groups())) ?? []) {
    const id = idOf(record, client);
    if (id === undefined) continue;
    yield* alone(groupIds.group(id), async () => {
      const members = directory.members.get(id) ?? (await orNothing(() => client.groupMembers(id)));
      // A guest can read only the space that names them, regardless of their groups.
      return (members ?? []).flatMap((user) =>
        user.isGuest || directory.users.get(user.id ?? "")?.isGuest === true ? [] : (names.user(user.id) ?? []),
      );
    });
  }
  // These users are still in a group or a space, but have no access.
  for (const principal of met) yield { t: "identity", principal, state: "suspended" };
  // The groups of a space that could not be parsed are unknown.
  left.isWhole = isWhole && odd.length === 0;
}

function idOf({ id, name }: GroupRecord, { cloud }: Pick<ConfluenceClient, "cloud">): string | undefined {
  const found = cloud ? id : name;
  return found === "" ? undefined : found;
}

function principalOf(reader: SpaceReader, names: Names): Principal | undefined {
  if (reader.type === "licensed") return names.group(LICENSED);
  return reader.type === "user" ? names.user(reader.id) : names.group(groupIds.group(reader.id));
}

/** Returns the users of Confluence: the members of the groups that may use it. @throws if these groups can't be read */
async function readDirectory(client: ConfluenceClient) {
  const users = new Map<string, UserRecord & { active: boolean }>();
  const members = new Map<string, UserRecord[]>();
  const refused = await orNothing(async () => {
    for (const record of await client.groups("access")) {
      const id = idOf(record, client);
      if (id !== undefined) members.set(id, (await orNothing(() => client.groupMembers(id))) ?? []);
    }
    return false;
  });
  if (refused === undefined) members.clear();
  for (const user of [...members.values()].flat()) {
    if (user.id !== undefined) users.set(user.id, { ...user, active: isCurrent(user) });
  }
  if (!client.cloud) return { users, members };
  const reported = new Map((await client.users([...users.keys()])).map((user) => [user.id, user]));
  for (const [id, user] of users) {
    const more = reported.get(id);
    // Apps, customers of a service portal, and unknown accounts can't read anything.
    if (more?.accountType !== "atlassian") users.delete(id);
    else users.set(id, { ...user, ...namesOf(more), isGuest: user.isGuest || more.isGuest, active: isCurrent(more) });
  }
  return { users, members };
}

function namesOf({ displayName, emailAddress }: UserRecord) {
  return { ...defined({ displayName, emailAddress }) };
}

function isCurrent({ status }: UserRecord): boolean {
  return ["active", "current"].includes(status?.toLowerCase() ?? "");
}

/** Returns the spaces that everyone can see. If they can't be read, no space counts as open. */
export async function openSpaces(client: Pick<ConfluenceClient, "openSpaces">): Promise<ReadonlySet<string>> {
  try {
    return await client.openSpaces();
  } catch (error) {
    if (!(error instanceof ApiError) || isApiError(error, "source_rate_limited")) throw error;
    return new Set();
  }
}
