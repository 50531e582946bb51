import { parsePrincipal, type Principal } from "#core/principals.ts";
import { reportGroup, reportUser, type Left, reportSite } from "#sources/atlassian/people.ts";
import { makeFailures, orNothing } from "#sources/failures.ts";
import { makeNames, type Names } from "#sources/atlassian/names.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { type GroupRef, type JiraClient, type JiraContext, makeJiraClient } from "./client.ts";
import { makeRulesReader } from "./projects.ts";
import { type Grant, groupIds, isPerson, principalsOf, SIGNED_IN } from "./readers.ts";
import type { ActorRecord, ProjectRecord, UserRecord } from "./records.ts";

type Event = IdentityEvent<null>;

/**
 * Syncs users, groups, roles, and the readers of each project. Only users with access to the application can read
 * anything; other users can't, even if they still have roles. Jira has no change feed, so every run reads everything.
 */
export function syncJiraPeople(ctx: JiraContext, run: IdentityRun): AsyncGenerator<Event, void> {
  return reportSite(run, (left) => reportAll(ctx, left));
}

/** Reports everything. If a project can't be read, the groups that it has or names are unknown. */
async function* reportAll(ctx: JiraContext, left: Left): AsyncGenerator<Event, void> {
  const client = makeJiraClient(ctx);
  const names = makeNames(ctx, "jira");
  // An unauthenticated request sees no users. That must not remove everyone.
  await client.whoAmI();
  const directory = makeDirectory(client, names);
  yield* reportApplications(client, names, directory);
  for (const user of directory.people.values()) yield* reportUser(user, names);
  const rules = makeRulesReader(client);
  const projects = await client.projects();
  const { ids, nameless } = client.odd.take();
  left.isWhole = ids.length === 0 && nameless === 0;
  const failures = makeFailures(() => client.whoAmI());
  async function* reportReaders(project: ProjectRecord): AsyncGenerator<Event, void> {
    const { browse, levels } = await rules.rulesOf(project);
    for (const [levelId, grant] of levels) {
      yield* reportGroup(names, groupIds.level(project.id, levelId), directory.membersBy(grant, project.id));
    }
    yield* reportGroup(names, groupIds.browse(project.id), browse ? directory.membersBy(browse, project.id) : []);
  }
  async function* reportMembers(ref: GroupRef): AsyncGenerator<Event, void> {
    const members = await directory.membersOf(ref);
    const users = members.flatMap(({ id }) => names.user(id) ?? []);
    directory.meet(users);
    yield* reportGroup(names, groupIds.group(ref), users);
  }
  // If the server fails for one of these projects, the project's groups stay until the last reading expires.
  for (const project of projects) {
    for (const list of [reportReaders(project), reportRoles(client, names, directory, project)])
      if (yield* failures.alone(list)) left.isWhole = false;
  }
  for (const ref of directory.needed()) if (yield* failures.alone(reportMembers(ref))) left.isWhole = false;
  // These users are still in a group or a role, but have no access.
  for (const principal of directory.strangers()) yield { t: "identity", principal, state: "suspended" };
}

/** Reports the users who can sign in to Jira: members of a group that has access to an application. */
async function* reportApplications(
  client: JiraClient,
  names: Names,
  directory: Directory,
): AsyncGenerator<Event, void> {
  const everybody = new Set<Principal>();
  for (const { key, groups = [], groupDetails = [] } of (await orNothing(client.applicationRoles)) ?? []) {
    const ids = client.cloud ? groupDetails.map(({ groupId }) => groupId) : groups;
    const members = new Set<Principal>();
    for (const id of ids) {
      if (id === undefined || id === "") continue;
      directory.need({ id });
      const group = names.group(groupIds.group({ id }));
      if (group !== undefined) members.add(group);
      directory.admit(await directory.membersOf({ id }));
    }
    for (const each of members) everybody.add(each);
    yield* reportGroup(names, groupIds.application(key), [...members]);
  }
  yield* reportGroup(names, SIGNED_IN, [...everybody]);
}

async function* reportRoles(
  client: JiraClient,
  names: Names,
  directory: Directory,
  project: ProjectRecord,
): AsyncGenerator<Event, void> {
  const roles = await orNothing(() => client.roles(project.id));
  for (const roleId of roles?.values() ?? []) {
    const actors = (await orNothing(() => client.roleActors(project.id, roleId))) ?? [];
    const members = actors.flatMap((actor) => directory.principalOf(actor) ?? []);
    directory.meet(members);
    yield* reportGroup(names, groupIds.role(project.id, roleId), [...new Set(members)]);
  }
}

/** Makes the directory of the known users and of the groups that are named, each of which is read once. */
function makeDirectory(client: JiraClient, names: Names) {
  const people = new Map<string, UserRecord>();
  const idsByName = new Map<string, string>();
  const met = new Set<Principal>();
  const needed = new Map<string, GroupRef>();
  const read = new Map<string, Promise<UserRecord[]>>();
  return {
    people,
    needed: () => [...needed.values()],
    need: (ref: GroupRef) => void needed.set(ref.id, ref),
    /** Returns the readers according to a grant, for all issues, and loads their groups. */
    membersBy(grant: Grant, projectId: string): Principal[] {
      for (const to of grant.ids) if (to.type === "group") needed.set(to.ref.id, to.ref);
      const members = principalsOf(grant, projectId, names);
      for (const member of members) met.add(member);
      return members;
    },
    meet: (principals: readonly Principal[]) => principals.forEach((principal) => met.add(principal)),
    /** Returns the users who were found and have no access. */
    strangers(): Principal[] {
      const known = new Set([...people.keys()].map((id) => names.user(id)));
      return [...met].filter((principal) => !known.has(principal) && parsePrincipal(principal)?.type === "source_user");
    },
    /** Returns the members of a group; none if the group no longer exists or this credential can't see it. */
    membersOf(ref: GroupRef): Promise<UserRecord[]> {
      const members = read.get(ref.id) ?? orNothing(() => client.groupMembers(ref)).then((found) => found ?? []);
      read.set(ref.id, members);
      return members;
    },
    admit(users: readonly UserRecord[]): void {
      for (const user of users) {
        if (user.id === undefined || !isPerson(user)) continue;
        people.set(user.id, user);
        if (user.name !== undefined) idsByName.set(user.name, user.id);
      }
    },
    principalOf({ type, name, actorUser, actorGroup }: ActorRecord): Principal | undefined {
      if (type === "atlassian-user-role-actor") {
        const login = actorUser?.name ?? name;
        // Data Center identifies the users of roles by a login name that may later belong to another person, so the
        // name is resolved now.
        const id = client.cloud
          ? actorUser?.accountId
          : (actorUser?.key ?? (login === undefined ? undefined : idsByName.get(login)));
        return names.user(id);
      }
      if (type !== "atlassian-group-role-actor") return undefined;
      const id = client.cloud ? actorGroup?.groupId : (actorGroup?.name ?? name);
      if (id === undefined || id === "") return undefined;
      needed.set(id, { id });
      return names.group(groupIds.group({ id }));
    },
  };
}
type Directory = ReturnType<typeof makeDirectory>;
