import { factsFor, requireWhole } from "#sources/forge/people.ts";
import { type Failures, makeFailures, orNothing } from "#sources/failures.ts";
import { isApiError } from "#api/errors.ts";
import { type Principal } from "#core/principals.ts";
import { FORGE_CONTENT } from "#sources/forge/contract.ts";
import { readersGroup } from "#sources/forge/ids.ts";
import type { PeopleFact, PeopleReader } from "#sources/forge/people.ts";
import { type GithubContext, makeGithubClient } from "./client.ts";
import { isHosted } from "./config.ts";
import { makeGraphql } from "./graphql.ts";
import { isMirrored, openOrganization, type Organization, readMembers } from "./organization.ts";
import type { RepositoryRecord, UserRecord } from "./records.ts";
import { listRecords, toRepository } from "./repositories.ts";

/** The number of repositories in one GraphQL query. */
const TOGETHER = 100;

/**
 * The name of a temporary private fork for a security advisory. Membership in teams or in the organization gives no
 * access to it.
 */
const ADVISORY = /-ghsa(?:-[a-z0-9]{4}){3}$/i;

type Who = Pick<UserRecord, "id" | "login">;

/**
 * Makes the reader of repositories' readers. If an organization shows its members, teams and base permission, a
 * repository names only its own collaborators. Otherwise GitHub is queried for all readers of a repository. Data that a
 * token can't see grants no access. Groups: readers of a repository (`r1.issues`), teams (`t1`), members (`o1`) and
 * owners (`o1.owners`) of an organization.
 */
export function makeGithubPeople(ctx: GithubContext): PeopleReader {
  const client = makeGithubClient(ctx);
  const graphql = makeGraphql(ctx);
  const { config } = ctx;
  const { user, group, report: fact, reportUsers } = factsFor(ctx, "github");

  /** Whether public repositories are visible without signing in. */
  async function isOpen(): Promise<boolean> {
    const hosted = isHosted(config);
    return hosted === undefined ? client.isOpen() : hosted === "public";
  }

  /**
   * Yields the collaborators of repositories, or all of their readers. Empty if the token can't see them; undefined if
   * GitHub fails.
   */
  async function* collaboratorsOf(
    records: readonly RepositoryRecord[],
    affiliation: "direct" | "all",
    failures: Failures,
  ): AsyncGenerator<{ record: RepositoryRecord; people: readonly Who[] | undefined }, void> {
    for (let at = 0; at < records.length; at += TOGETHER) {
      const some = records.slice(at, at + TOGETHER);
      const collaborators = await graphql.collaborators(
        some.flatMap(({ node_id: node }) => node ?? []),
        affiliation,
      );
      for (const record of some) {
        try {
          const people =
            collaborators.get(record.node_id ?? "") ??
            (await orNothing(() => client.collaborators(String(record.id), affiliation)));
          yield { record, people: people ?? [] };
        } catch (error) {
          await failures.requireOfOne(error);
          yield { record, people: undefined };
        }
      }
    }
  }

  /**
   * Reports the groups of one repository. Content that is turned off in it has no readers, even if it was read before.
   */
  function reportReaders(record: RepositoryRecord, readers: readonly Principal[]): PeopleFact[] {
    const { content: there } = toRepository(record, config);
    return FORGE_CONTENT.map((each) => fact(readersGroup(String(record.id), each), there.has(each) ? readers : []));
  }

  /** Returns the repository's readers besides its collaborators. */
  function readersBy(record: RepositoryRecord, organization: Organization | undefined, isPublicOpen: boolean) {
    const { id, owner } = record;
    const visibility = visibilityOf(record);
    if (visibility === "public" && isPublicOpen) return ["everyone" as const];
    const isPerson = owner.type === "User";
    const isForMembers =
      // The other members of the enterprise, or the users of the server, are unknown here.
      visibility !== "private" || (isMirrored(organization) && organization.isOpenToMembers === true);
    return [
      ...(isPerson ? [user(owner.id)] : []),
      ...(!isPerson && isForMembers ? [group(`o${owner.id}`)] : []),
      ...(isMirrored(organization) ? [group(`o${owner.id}.owners`)] : []),
      ...(isMirrored(organization) ? (organization.teams ?? []) : [])
        .filter(({ repositories }) => repositories.has(id))
        .map((team) => group(`t${team.id}`)),
    ];
  }

  async function identityOf({ id, login }: Who): Promise<PeopleFact | undefined> {
    const principal = user(id);
    if (isHosted(config) !== undefined) return { t: "identity", principal, state: "active", login };
    // A self-hosted server reports suspended users only individually.
    try {
      const { name, suspended_at: suspendedAt } = await client.person(String(id));
      const state = suspendedAt ? "suspended" : "active";
      return { t: "identity", principal, state, login, ...(name && { name }) };
    } catch (error) {
      if (isApiError(error, "source_forbidden")) return { t: "identity", principal, state: "active", login };
      if (isApiError(error, "source_not_found") || isApiError(error, "source_gone")) return undefined;
      throw error;
    }
  }

  return {
    async isGone(id) {
      try {
        await client.person(id);
        return false;
      } catch (error) {
        if (isApiError(error, "source_not_found") || isApiError(error, "source_gone")) return true;
        if (isApiError(error, "source_forbidden")) return false;
        throw error;
      }
    },
    async *all() {
      const isPublicOpen = await isOpen();
      const { records } = requireWhole(await listRecords(client, config));
      const people = new Map<number, Who>();
      const add = (users: readonly Who[] = []) => users.forEach((each) => people.set(each.id, each));
      const organizations = new Map<number, Organization>();
      const failures = makeFailures(() => client.me());
      async function* reportOrganization({ id: ownerId, login }: UserRecord): AsyncGenerator<PeopleFact, void> {
        const organization = await openOrganization(client, login);
        if (!organization || organization.id !== ownerId) return;
        organizations.set(ownerId, organization);
        const { id, owners = [], members = [], teams = [] } = organization;
        add(members);
        yield reportUsers(`o${id}`, members);
        yield reportUsers(`o${id}.owners`, owners);
        for (const team of teams) {
          add(team.members);
          yield reportUsers(`t${team.id}`, team.members);
        }
      }
      // If GitHub fails for one of these organizations, the others are still read.
      const asked = new Set<number>();
      const unread = new Set<number>();
      for (const { owner } of records) {
        if (owner.type === "User") add([owner]);
        if (owner.type === "User" || asked.has(owner.id)) continue;
        asked.add(owner.id);
        if (yield* failures.alone(reportOrganization(owner))) unread.add(owner.id);
      }
      const mirrorOf = (record: RepositoryRecord) =>
        ADVISORY.test(record.full_name) ? undefined : organizations.get(record.owner.id);
      const closed = { direct: [] as RepositoryRecord[], all: [] as RepositoryRecord[] };
      for (const record of records) {
        if (unread.has(record.owner.id)) continue;
        const organization = mirrorOf(record);
        const known = readersBy(record, organization, isPublicOpen);
        if (known[0] === "everyone") yield* reportReaders(record, known);
        else closed[isMirrored(organization) ? "direct" : "all"].push(record);
      }
      for (const affiliation of ["direct", "all"] as const) {
        for await (const { record, people: named } of collaboratorsOf(closed[affiliation], affiliation, failures)) {
          if (!named) unread.add(record.id);
          if (!named) continue;
          add(named);
          const known = readersBy(record, mirrorOf(record), isPublicOpen);
          yield* reportReaders(record, [...known, ...named.map(({ id }) => user(id))]);
        }
      }
      async function* reportIdentity(who: Who): AsyncGenerator<PeopleFact, void> {
        const identity = await identityOf(who);
        if (identity) yield identity;
      }
      for (const each of people.values()) if (yield* failures.alone(reportIdentity(each))) unread.add(each.id);
      if (unread.size > 0) yield { t: "unread" };
    },
    async group(id) {
      const [, kind, digits = "", rest = ""] = /^([rto])(\d{1,16})(\.[a-z]+)?$/.exec(id) ?? [];
      if (kind === "r") {
        const record = await orNothing(() => client.repository(digits));
        if (!record) return undefined;
        const known = readersBy(record, undefined, await isOpen());
        // The list contains all readers of the repository, including those by teams and owners.
        const named = known[0] === "everyone" ? [] : await orNothing(() => client.collaborators(digits, "all"));
        const facts = reportReaders(record, [...known, ...(named ?? []).map((each) => user(each.id))]);
        return facts.find((fact) => fact.t === "group" && fact.group === group(id));
      }
      if (kind === "o") {
        const { owners = [], members = [] } = await readMembers(client, Number(digits));
        return reportUsers(id, rest === ".owners" ? owners : members);
      }
      if (kind !== "t") return undefined;
      const { records } = requireWhole(await listRecords(client, config));
      for (const organization of new Set(records.map(({ owner }) => (owner.type === "User" ? 0 : owner.id)))) {
        const members = organization && (await orNothing(() => client.teamMembers(organization, Number(digits))));
        if (members) return reportUsers(id, members);
      }
      return undefined;
    },
  };
}

/** Returns the visibility of a repository. A repository that isn't marked as open is private. */
function visibilityOf({ private: isPrivate, visibility }: RepositoryRecord): "public" | "internal" | "private" {
  if (visibility === "internal") return "internal";
  return isPrivate || (visibility !== undefined && visibility !== null && visibility !== "public")
    ? "private"
    : "public";
}
