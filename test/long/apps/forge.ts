/** GitHub as a fake of ours has it, with as many issues as a busy organization. */
import { makeFakeGithub } from "../../sources/github/fake.ts";
import { startGithub } from "../../sources/github/server.ts";

export type Forge = Awaited<ReturnType<typeof startForge>>;

const FIRST = Date.parse("2026-01-01T00:00:00Z");

/** An organization of Olga, Tim and Mia; a repository for each number, with so many issues, every twentieth with a comment. */
export async function startForge(folder: string, sizes: readonly number[]) {
  const fake = makeFakeGithub();
  const [olga, tim, mia] = ["olga", "tim", "mia"].map((login) => fake.addUser(login)) as [number, number, number];
  fake.organization.owners.add(olga);
  for (const id of [tim, mia]) fake.organization.members.add(id);
  const repositories = sizes.map((size, at) => {
    const repository = fake.addRepository(`repository-${at}`, at % 3 === 2 ? "internal" : "private");
    const team = fake.addTeam();
    team.members.add(at % 2 === 0 ? tim : mia);
    team.repositories.add(repository.id);
    for (let i = 0; i < size; i++) {
      const issue = fake.addIssue(repository, `Issue ${i} of ${at}`, {
        body: `About issue ${i}: ${"some words of it ".repeat(4 + (i % 30))}`,
      });
      const comment = i % 20 === 0 ? fake.addComment(repository, issue, `Seen in issue ${i}.`) : undefined;
      for (const each of [issue, comment]) if (each) each.updatedAt = FIRST + i * 60_000;
    }
    return repository;
  });
  const server = await startGithub(fake, folder);
  server.page = 100;
  return {
    fake,
    server,
    repositories,
    apiUrl: `http://127.0.0.1:${server.port}/api/v3`,
    token: "token-olga",
    /** Of requests, with those of git. */
    get sent() {
      return server.requests.length;
    },
  };
}
