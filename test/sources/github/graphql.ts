import type { FakeGithub, FakeIssue, FakeRepository } from "./fake.ts";

/** The few queries that are asked for here, as GitHub's GraphQL API answers them. */
export function answerGraphql(
  fake: FakeGithub,
  body: string,
  { reads, administers }: Record<"reads" | "administers", (repository: FakeRepository) => boolean>,
): unknown {
  // As the source sends it.
  const { query, variables } = JSON.parse(body) as { query: string; variables: { ids: string[] } };
  const nodes = variables.ids.map((node) => {
    const [kind, id, number] = node.split("_");
    const repository = fake.repositories.get(Number(id));
    if (!repository || !reads(repository)) return null;
    if (kind === "PR") {
      const pull = repository.issues.get(Number(number));
      return pull?.isPull ? { reviews: reviewsOf(fake, repository, pull) } : null;
    }
    if (query.includes("collaborators(")) {
      if (!administers(repository)) return { collaborators: null };
      const ids = query.includes("DIRECT") ? repository.direct : fake.readersOf(repository);
      const people = [...ids].flatMap((each) => fake.users.get(each) ?? []);
      const told = people.map(({ id: databaseId, login }) => ({ databaseId, login }));
      return { collaborators: { pageInfo: { hasNextPage: false }, nodes: told } };
    }
    const issues = [...repository.issues.values()];
    const head = repository.head?.();
    return {
      isEmpty: head === undefined,
      issues: { totalCount: issues.filter(({ isPull }) => !isPull).length },
      pullRequests: { totalCount: issues.filter(({ isPull }) => isPull).length },
      defaultBranchRef: head === undefined ? null : { target: { oid: head } },
    };
  });
  return { data: { nodes } };
}

function reviewsOf(fake: FakeGithub, { name }: FakeRepository, { number, reviews }: FakeIssue) {
  const nodes = reviews.map(({ id, user, state, body }) => ({
    url: `https://github.com/acme/${name}/pull/${number}#pullrequestreview-${id}`,
    body,
    state,
    submittedAt: "2026-01-02T00:00:00Z",
    author: { kind: "User", login: fake.users.get(user)?.login ?? "ghost", databaseId: user },
  }));
  return { pageInfo: { hasNextPage: false }, nodes };
}
