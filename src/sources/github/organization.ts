import { orNothing } from "#sources/failures.ts";
import type { GithubClient } from "./client.ts";
import type { TeamRecord, UserRecord } from "./records.ts";

/** A team with the repositories that it can read. */
export interface Team extends TeamRecord {
  members: UserRecord[];
  repositories: ReadonlySet<number>;
}

/** The parts of an organization that this token can see. */
export interface Organization {
  id: number;
  login: string;
  /** Whether every member can read every repository; undefined if the token can't see that. */
  isOpenToMembers: boolean | undefined;
  owners: UserRecord[] | undefined;
  /** All members, including owners. */
  members: UserRecord[] | undefined;
  teams: Team[] | undefined;
}

/** Returns the visible parts of an organization; undefined for a person, or if nothing is visible. */
export async function openOrganization(client: GithubClient, login: string): Promise<Organization | undefined> {
  const record = await orNothing(() => client.organization(login));
  if (!record) return undefined;
  const { id, default_repository_permission: base } = record;
  return {
    id,
    login,
    isOpenToMembers: typeof base === "string" ? READS.has(base) : undefined,
    ...(await readMembers(client, id)),
    teams: await readTeams(client, id),
  };
}

/** Base permissions with which every member can read. */
const READS: ReadonlySet<string> = new Set(["read", "write", "admin"]);

/**
 * Returns true if the organization's groups determine all readers of a repository, except those that the repository
 * itself names.
 */
export function isMirrored(organization: Organization | undefined): organization is Organization {
  if (!organization) return false;
  const { isOpenToMembers, owners, members, teams } = organization;
  return isOpenToMembers !== undefined && owners !== undefined && members !== undefined && teams !== undefined;
}

export async function readMembers(client: GithubClient, id: number): Promise<Pick<Organization, "owners" | "members">> {
  const owners = await orNothing(() => client.members(id, "admin"));
  const others = await orNothing(() => client.members(id, "member"));
  const ids = new Set(owners?.map((owner) => owner.id));
  // If GitHub shows only public members, it doesn't show their roles. In this case no member is treated as an owner.
  const isApart = owners && others && !others.some((other) => ids.has(other.id));
  return isApart ? { owners, members: [...owners, ...others] } : { owners: undefined, members: others };
}

async function readTeams(client: GithubClient, id: number): Promise<Team[] | undefined> {
  return orNothing(async () => {
    const teams: Team[] = [];
    for (const team of await client.teams(id)) {
      const repositories = await client.teamRepositories(id, team.id);
      teams.push({
        ...team,
        // The list includes the members of nested teams.
        members: await client.teamMembers(id, team.id),
        repositories: new Set(repositories.flatMap((each) => (each.permissions?.pull === true ? [each.id] : []))),
      });
    }
    return teams;
  });
}
