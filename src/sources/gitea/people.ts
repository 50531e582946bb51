import { factsFor, requireWhole } from "#sources/forge/people.ts";
import { type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import { FORGE_CONTENT, type ForgeContent } from "#sources/forge/contract.ts";
import { readersGroup } from "#sources/forge/ids.ts";
import type { PeopleFact, PeopleReader } from "#sources/forge/people.ts";
import { makeFailures, orNothing } from "#sources/failures.ts";
import { makeGiteaClient, type RepositoryRecord, type TeamRecord, type UserRecord } from "./client.ts";
import type { GiteaConfig } from "./config.ts";
import { listRecords, toRepository } from "./forge.ts";

/**
 * The group of all signed-in users. The other groups are repositories (`r1.issues`), teams (`t1`) and organizations
 * (`o1`).
 */
const SIGNED_IN = "signed-in";
const ADMINS = "site-admins";

/**
 * The unit of a repository that each kind of content belongs to. A team may have access to one unit and not to another.
 */
const UNITS: Readonly<Record<ForgeContent, string>> = {
  issues: "repo.issues",
  pulls: "repo.pulls",
  files: "repo.code",
};

/** A team with its permissions. */
interface Team extends TeamRecord {
  /** Absent = all repositories of the team's organization. */
  repositories?: ReadonlySet<number>;
}

interface Organization {
  id: number;
  teams: Team[];
}

/**
 * Makes the reader of each repository's readers: by teams, collaborators and visibility. Data that this credential
 * can't see grants no access, so with a weak token the mirrored permissions are narrower than on the server, and never
 * wider.
 */
export function makeGiteaPeople(ctx: SourceContext<GiteaConfig>): PeopleReader {
  const client = makeGiteaClient(ctx);
  const { config } = ctx;
  const { user, group, report: fact, reportUsers } = factsFor(ctx, "gitea");

  async function openOrganization(login: string): Promise<Organization | undefined> {
    // If the owner isn't an organization, it is a person.
    const record = await orNothing(() => client.organization(login));
    if (!record) return undefined;
    const teams: Team[] = [];
    for (const team of (await orNothing(() => client.teams(login))) ?? []) {
      if (team.includes_all_repositories === true) {
        teams.push(team);
      } else {
        const some = (await orNothing(() => client.teamRepositories(team.id))) ?? [];
        teams.push({ ...team, repositories: new Set(some.map(({ id }) => id)) });
      }
    }
    return { id: record.id, teams };
  }

  /**
   * Reports an organization's members who can read its public repositories only because of their membership, if the
   * organization is private.
   */
  const reportOrganization = ({ id }: Organization, members: readonly UserRecord[]) =>
    reportUsers(`o${id}`, unrestricted(members));

  async function membersOf(team: number): Promise<UserRecord[]> {
    return (await orNothing(() => client.teamMembers(team))) ?? [];
  }

  /** Reads the groups of one repository, and the people in them. */
  async function readRepository(record: RepositoryRecord, organization: Organization | undefined, isOpen: boolean) {
    const collaborators = (await orNothing(() => client.collaborators(record.full_name))) ?? [];
    const named = organization ? collaborators : [...collaborators, record.owner];
    const everybody = publicOf(record, isOpen);
    const { content: there } = toRepository(record, config);
    const events = FORGE_CONTENT.map((content) => {
      // Content that is turned off in a repository has no readers, even if it was read before.
      if (!there.has(content)) return fact(readersGroup(String(record.id), content), []);
      const teams = (organization?.teams ?? []).filter((team) => mayRead(team, record.id, UNITS[content]));
      return fact(readersGroup(String(record.id), content), [
        ...everybody,
        group(ADMINS),
        ...teams.map(({ id }) => group(`t${id}`)),
        ...named.map(({ id }) => user(id)),
      ]);
    });
    return { events, named };
  }

  /** Returns the readers of a repository that isn't private, based on its owner's visibility. */
  function publicOf({ private: isPrivate, owner }: RepositoryRecord, isOpen: boolean): Principal[] {
    if (isPrivate) return [];
    if (owner.visibility === "private") return [group(`o${owner.id}`)];
    if (owner.visibility === "limited") return [group(SIGNED_IN)];
    // Anything not marked as public isn't public.
    if (owner.visibility !== "public") return [];
    return isOpen ? ["everyone"] : [group(SIGNED_IN)];
  }

  function identityOf(
    { id, login, full_name: name, email, active, prohibit_login: isProhibited }: UserRecord,
    isAdmin: boolean,
  ): PeopleFact {
    // Only a site administrator sees which users are inactive.
    const isSuspended = isAdmin && (active === false || isProhibited === true);
    const address = email && !/@noreply\./.test(email) ? email : undefined;
    return {
      t: "identity",
      principal: user(id),
      state: isSuspended ? "suspended" : "active",
      login,
      ...(name && { name }),
      // The API doesn't report whether the server has verified the address.
      ...(address !== undefined && { email: { address, isVerified: false } }),
    };
  }

  let everyone: Promise<ReadonlySet<string>> | undefined;

  return {
    async isGone(id) {
      // Only a site administrator can list everyone.
      if (!(await client.administers())) return false;
      everyone ??= client.everyUser().then((users) => new Set(users.map((each) => String(each.id))));
      return !(await everyone).has(id);
    },
    async *all() {
      const isAdmin = await client.administers();
      const isOpen = await client.isOpen();
      const { records } = requireWhole(await listRecords(client, config));
      const owners = new Map(records.map(({ owner }) => [owner.login, owner]));
      const people = new Map<number, UserRecord>();
      const add = (users: readonly UserRecord[]) => users.forEach((each) => people.set(each.id, each));
      const organizations = new Map<string, Organization | undefined>();
      const failures = makeFailures(() => client.me());
      async function* reportTeams(login: string): AsyncGenerator<PeopleFact, void> {
        const organization = await openOrganization(login);
        const all: UserRecord[] = [];
        for (const { id } of organization?.teams ?? []) {
          const members = await membersOf(id);
          add(members);
          all.push(...members);
          yield reportUsers(`t${id}`, members);
        }
        if (organization) yield reportOrganization(organization, all);
        organizations.set(login, organization);
      }
      async function* reportRepository(record: RepositoryRecord): AsyncGenerator<PeopleFact, void> {
        const { events, named } = await readRepository(record, organizations.get(record.owner.login), isOpen);
        add(named);
        yield* events;
      }
      // If the server fails for one of these organizations, the others are still read.
      let isWhole = true;
      for (const login of owners.keys()) if (yield* failures.alone(reportTeams(login))) isWhole = false;
      for (const record of records) {
        const isKnown = organizations.has(record.owner.login);
        if (!isKnown || (yield* failures.alone(reportRepository(record)))) isWhole = false;
      }
      if (!isWhole) yield { t: "unread" };
      const isForSignedIn = records.some((record) => publicOf(record, isOpen).includes(group(SIGNED_IN)));
      if (isAdmin) add(await client.everyUser());
      else if (isForSignedIn) add(await client.visibleUsers());
      for (const each of people.values()) yield identityOf(each, isAdmin);
      yield fact(
        ADMINS,
        isAdmin ? [...people.values()].filter((each) => each.is_admin === true).map(({ id }) => user(id)) : [],
      );
      if (isForSignedIn) yield reportUsers(SIGNED_IN, unrestricted(people.values()));
    },
    async group(id) {
      const [, kind, digits = ""] = /^([rto])(\d+)(?:\.|$)/.exec(id) ?? [];
      if (kind === "t") {
        const members = await membersOf(Number(digits));
        return reportUsers(id, members);
      }
      if (kind === "r") {
        const record = await orNothing(() => client.repositoryById(digits));
        if (!record) return undefined;
        const organization = await openOrganization(record.owner.login);
        const { events } = await readRepository(record, organization, await client.isOpen());
        return events.find((event) => event.t === "group" && event.group === group(id));
      }
      if (kind === "o") {
        const { records } = requireWhole(await listRecords(client, config));
        const owner = records.find((record) => String(record.owner.id) === digits)?.owner;
        const organization = owner && (await openOrganization(owner.login));
        if (!organization) return undefined;
        const members: UserRecord[] = [];
        for (const team of organization.teams) members.push(...(await membersOf(team.id)));
        return reportOrganization(organization, members);
      }
      const isAdmin = await client.administers();
      const people = isAdmin ? await client.everyUser() : await client.visibleUsers();
      if (id === SIGNED_IN) return reportUsers(id, unrestricted(people));
      return id === ADMINS && isAdmin
        ? reportUsers(
            id,
            people.filter((each) => each.is_admin === true),
          )
        : undefined;
    },
  };
}

/** Leaves out restricted users, who see only what they were explicitly granted. */
function unrestricted(people: Iterable<UserRecord>): UserRecord[] {
  return [...people].filter(({ restricted }) => restricted !== true);
}

function mayRead({ permission, repositories, units, units_map: map }: Team, repository: number, unit: string): boolean {
  if (repositories && !repositories.has(repository)) return false;
  if (permission === "owner" || permission === "admin") return true;
  if (map) return (map[unit] ?? "none") !== "none";
  return units?.includes(unit) === true;
}
