/** A fake of ours: what GitHub keeps, and who may read it, from its published documentation. */

export interface FakeUser {
  id: number;
  login: string;
  type: "User" | "Bot";
  suspended_at: string | null;
}

export interface FakeIssue {
  number: number;
  title: string;
  body: string;
  user: number;
  isPull: boolean;
  state: "open" | "closed";
  labels: string[];
  updatedAt: number;
  /** Of a pull request. */
  reviews: { id: number; user: number; state: string; body: string }[];
}

export interface FakeComment {
  id: number;
  number: number;
  isReview: boolean;
  body: string;
  user: number;
  updatedAt: number;
}

export interface FakeRepository {
  id: number;
  owner: number;
  name: string;
  visibility: "public" | "internal" | "private";
  hasIssues: boolean;
  direct: Set<number>;
  issues: Map<number, FakeIssue>;
  /** The number given last. */
  last: number;
  comments: Map<number, FakeComment>;
  /** Where issues were transferred to. */
  moved: Map<number, string>;
  /** The newest commit, where there is one. */
  head: (() => string | undefined) | undefined;
}

export interface FakeTeam {
  id: number;
  parent: number | undefined;
  members: Set<number>;
  repositories: Set<number>;
}

export type FakeGithub = ReturnType<typeof makeFakeGithub>;

/** One organization with everything that it has. */
export function makeFakeGithub() {
  let last = 100;
  const nextId = () => ++last;
  const users = new Map<number, FakeUser>();
  const repositories = new Map<number, FakeRepository>();
  const teams = new Map<number, FakeTeam>();
  const organization = {
    id: nextId(),
    login: "acme",
    base: "none" as "none" | "read",
    owners: new Set<number>(),
    members: new Set<number>(),
    publicMembers: new Set<number>(),
  };

  function seconds(): number {
    return Math.floor(Date.now() / 1_000) * 1_000;
  }

  const fake = {
    users,
    repositories,
    teams,
    organization,
    /** Whose a token is. */
    tokens: new Map<string, number>(),
    /** Tokens of an app that is installed on these. */
    installed: new Map<string, ReadonlySet<number>>(),
    nextId,
    addUser(login: string): number {
      const id = nextId();
      users.set(id, { id, login, type: "User", suspended_at: null });
      fake.tokens.set(`token-${login}`, id);
      return id;
    },
    removeUser(id: number): void {
      users.delete(id);
      for (const each of [organization.owners, organization.members, organization.publicMembers]) each.delete(id);
      for (const { members } of teams.values()) members.delete(id);
      for (const { direct } of repositories.values()) direct.delete(id);
    },
    addRepository(name: string, visibility: FakeRepository["visibility"], owner = organization.id): FakeRepository {
      const repository: FakeRepository = {
        id: nextId(),
        owner,
        name,
        visibility,
        hasIssues: true,
        direct: new Set(),
        issues: new Map(),
        last: 0,
        comments: new Map(),
        moved: new Map(),
        head: undefined,
      };
      repositories.set(repository.id, repository);
      return repository;
    },
    addTeam(parent?: number): FakeTeam {
      const team: FakeTeam = { id: nextId(), parent, members: new Set(), repositories: new Set() };
      teams.set(team.id, team);
      return team;
    },
    addIssue(repository: FakeRepository, title: string, more: Partial<FakeIssue> = {}): FakeIssue {
      const number = ++repository.last;
      const [user = 0] = organization.owners;
      const issue: FakeIssue = {
        number,
        title,
        body: `About ${title}.`,
        user,
        isPull: false,
        state: "open",
        labels: [],
        updatedAt: seconds(),
        reviews: [],
        ...more,
      };
      repository.issues.set(number, issue);
      return issue;
    },
    change(issue: FakeIssue, change: Partial<FakeIssue>): void {
      Object.assign(issue, change, { updatedAt: seconds() });
    },
    addComment(repository: FakeRepository, issue: FakeIssue, body: string, isReview = false): FakeComment {
      const comment = { id: nextId(), number: issue.number, isReview, body, user: issue.user, updatedAt: seconds() };
      repository.comments.set(comment.id, comment);
      fake.change(issue, {});
      return comment;
    },
    /** An issue goes to another repository, with everything said about it. */
    transfer(from: FakeRepository, number: number, to: FakeRepository): FakeIssue {
      const issue = from.issues.get(number);
      if (!issue) throw new Error("There is no such issue.");
      fake.removeIssue(from, number);
      const { number: _number, ...rest } = issue;
      const moved = fake.addIssue(to, issue.title, rest);
      from.moved.set(number, `/repositories/${to.id}/issues/${moved.number}`);
      return moved;
    },
    removeIssue(repository: FakeRepository, number: number): void {
      repository.issues.delete(number);
      for (const comment of repository.comments.values())
        if (comment.number === number) repository.comments.delete(comment.id);
    },
    teamsAbove(id: number): FakeTeam[] {
      const team = teams.get(id);
      return team ? [team, ...(team.parent === undefined ? [] : fake.teamsAbove(team.parent))] : [];
    },
    membersOf(id: number): Set<number> {
      const below = [...teams.values()].filter((team) => fake.teamsAbove(team.id).some((above) => above.id === id));
      return new Set(below.flatMap((team) => [...team.members]));
    },
    isMember: (user: number) => organization.members.has(user) || organization.owners.has(user),
    /** Everybody whom something lets in, besides the world. */
    readersOf(repository: FakeRepository): Set<number> {
      const { direct, visibility, owner, id } = repository;
      if (owner !== organization.id) return new Set([owner, ...direct]);
      const isForMembers = visibility !== "private" || organization.base !== "none";
      const byTeam = [...teams.values()].filter(({ repositories: some }) => some.has(id));
      return new Set([
        ...organization.owners,
        ...direct,
        ...byTeam.flatMap((team) => [...fake.membersOf(team.id)]),
        ...(isForMembers ? organization.members : []),
      ]);
    },
    reads(user: number | undefined, repository: FakeRepository): boolean {
      if (repository.visibility === "public") return true;
      return user !== undefined && fake.readersOf(repository).has(user);
    },
  };
  return fake;
}
