import type { ServerResponse } from "node:http";
import type { GithubConfig } from "#sources/github/config.ts";
import { LIMITS, makeGithubSource } from "#sources/github/index.ts";
import { AT_EACH_PAGE, type KitFixture } from "../../kit/fixture.ts";
import { thisMachine } from "../../kit/network.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { tempDir } from "../../temp-dir.ts";
import type { Asked } from "./server.ts";
import { hookOf, idOf, SECRET, type World } from "./world.ts";

/** What reading files needs of the server. */
export function places() {
  const dataFolder = tempDir();
  return { dataFolder, guard: thisMachine, searchPath: process.env["PATH"] ?? "", allowedRoots: async () => [] };
}

export type GithubFixture = KitFixture & Required<Pick<KitFixture, "people" | "whoSees">> & { config: GithubConfig };

/** The kit's fixture over the fake. */
export async function makeGithubFixture(
  world: World,
  { content = ["issues", "pulls"] }: { content?: GithubConfig["content"] } = {},
): Promise<GithubFixture> {
  const { fake, server, people, repositories, teams, issues, review, remark } = world;
  const { api, web, site } = repositories;
  const source = makeGithubSource({
    ...places(),
    checkpoints: AT_EACH_PAGE,
    limits: { ...LIMITS, perMinute: 1_000_000, burst: 100_000 },
  });
  const config = source.spec.config.parse({ apiUrl: world.apiUrl, repositories: ["acme"], content });
  let [count, isInTeam] = [0, true];
  const repositoryOf = (externalId: string) => fake.repositories.get(Number(/^r(\d+)/.exec(externalId)?.[1]));
  const instead = (matches: RegExp | undefined, answer: (response: ServerResponse) => void) => {
    server.instead = ({ path }, response) => {
      if (matches && !matches.test(path)) return false;
      answer(response);
      return true;
    };
    return { externalIds: [] as string[], heal: () => void (server.instead = undefined) };
  };
  const below = (id: number, rest = "/(issues|pulls)") => new RegExp(`/repositories/${id}${rest}`);
  async function allIds(): Promise<string[]> {
    const replica = makeReplica();
    await runInto(fixture, replica);
    return [...replica.items.keys()];
  }
  const isOf =
    (...some: { id: number }[]) =>
    (externalId: string) =>
      some.some(({ id }) => externalId.startsWith(`r${id}#`));
  const fixture: GithubFixture = {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: { token: "token-olga" },
    badCredentials: { token: "kb-canary-no-such-token" },
    badConfigs: [
      { apiUrl: "" },
      { apiUrl: "relative/path" },
      { apiUrl: "http://anna:secret@127.0.0.1/" },
      { ...config, apiUrl: `${world.apiUrl}/nothing` },
      { ...config, depth: 1 },
      { ...config, content: [] },
      { ...config, repositories: ["a/b/c"] },
      { ...config, repositories: ["acme/none"] },
    ],
    minItems: 10,
    narrowerScope: { include: [], exclude: [`r${web.id}`] },
    add: async () => idOf(api, fake.addIssue(api, `New ${++count}`)),
    async edit() {
      // As long as before.
      fake.change(issues.first, { body: `Edit ${String(++count).padStart(8, "0")}` });
      return idOf(api, issues.first);
    },
    async remove() {
      fake.removeIssue(web, issues.gone.number);
      return idOf(web, issues.gone);
    },
    async addOdd() {
      const titles = ["日本語 🗂️ עברית", "x".repeat(255), "<b>&amp;", "🗂️".repeat(60), "-", " "];
      return titles.map((title) => idOf(api, fake.addIssue(api, title)));
    },
    /** Carl reads one repository, and what is public. */
    async swapAccount() {
      return { credentials: { token: "token-carl" }, externalIds: (await allIds()).filter(isOf(web, site)) };
    },
    async notification() {
      const payload = {
        action: "edited",
        changes: ++count,
        repository: { id: api.id },
        issue: { number: issues.first.number },
      };
      return { secret: SECRET, request: hookOf("issues", payload) };
    },
    async changeAccess() {
      isInTeam = !isInTeam;
      if (isInTeam) teams.kids.members.add(people.tim);
      else teams.kids.members.delete(people.tim);
      return idOf(api, issues.first);
    },
    people: async () => [...fake.users.keys()].map((id) => ({ id: String(id) })),
    async whoSees(externalId) {
      const repository = repositoryOf(externalId);
      return [...fake.users.keys()].filter((id) => repository && fake.reads(id, repository)).map(String);
    },
    isPublic: async (externalId) => repositoryOf(externalId)?.visibility === "public",
    async removePerson() {
      fake.removeUser(people.carl);
      return String(people.carl);
    },
    async removeGroup() {
      for (const { id } of Object.values(teams)) fake.teams.delete(id);
      // He reads what is public, and internal, all the same.
      fake.organization.members.delete(people.tim);
      site.visibility = "private";
      return [String(people.tim)];
    },
    leadAway: async (origin) => {
      instead(below(api.id), (response) => response.writeHead(302, { location: `${origin}/elsewhere` }).end());
    },
    lists: [
      { at: below(api.id, "/issues\\?"), has: isOf(api) },
      { at: below(api.id, "/issues/comments\\?"), has: (id) => isOf(api)(id) && id.includes(".c") },
      { at: below(web.id, "/pulls/comments\\?"), has: (id) => isOf(web)(id) && id.includes(".v") },
      { at: below(web.id, "/collaborators"), has: () => false, isOfNames: true },
      { at: /\/organizations\/\d+\/teams/, has: () => false, isOfNames: true },
    ],
    requests: () => server.requests.length,
    async fail(kind) {
      switch (kind) {
        case "unreachable":
          return instead(undefined, (response) => response.destroy());
        case "unauthorized":
          return instead(undefined, (response) => response.writeHead(401).end("{}"));
        case "rate_limited":
          return instead(undefined, (response) => response.writeHead(403, { "retry-after": "3600" }).end("{}"));
        case "hang":
          return instead(undefined, () => undefined);
        case "one_container": {
          const before = await allIds();
          const failing = instead(below(api.id), (response) => response.writeHead(403).end("{}"));
          return { ...failing, externalIds: before.filter(isOf(api)) };
        }
        case "two_containers": {
          const before = await allIds();
          server.instead = ({ path }: Asked, response) => {
            const status = below(api.id).test(path) ? 403 : below(site.id).test(path) ? 500 : undefined;
            if (status !== undefined) response.writeHead(status).end("{}");
            return status !== undefined;
          };
          return { externalIds: before.filter(isOf(api, site)), heal: () => void (server.instead = undefined) };
        }
        case "one_item": {
          server.hasGraphql = false;
          const failing = instead(below(web.id, `/pulls/${issues.pull.number}/reviews`), (response) =>
            response.writeHead(403).end("{}"),
          );
          const request = idOf(web, issues.pull);
          return { ...failing, externalIds: [request, `${request}.r${review.id}`, `${request}.v${remark.id}`] };
        }
      }
    },
  };
  return fixture;
}
