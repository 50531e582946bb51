import type { ServerResponse } from "node:http";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import type { KitFixture } from "../../kit/fixture.ts";
import type { TestProxy } from "../proxy.ts";
import type { World } from "./world.ts";

/** The kit's fixture over an organization of a real Gitea, as it was in the beginning. */
export async function makeGiteaFixture(world: World, proxy: TestProxy) {
  await world.restore();
  const { server, api, people, organization, ids, team, first, pull, gone, reviewId } = world;
  const source = makeGiteaSource({ batch: 2 });
  const url = `http://127.0.0.1:${proxy.port}`;
  const config = source.spec.config.parse({ url, repositories: [organization] });
  const { id: adminId } = await api<{ id: number }>("GET", "/user");
  const tokens = new Map([
    [adminId, server.token],
    ...Object.values(people).map(({ id, token }) => [id, token] as const),
  ]);
  const names = new Map(Object.values(ids).map(({ id, fullName }) => [String(id), fullName]));
  let [count, isInTeam] = [0, true];
  const instead = (matches: RegExp | undefined, answer: (response: ServerResponse) => void) => {
    proxy.instead = ({ path }, response) => {
      if (matches && !matches.test(path)) return false;
      answer(response);
      return true;
    };
    return { externalIds: [], heal: () => void (proxy.instead = undefined) };
  };
  const below = (name: string, rest = "/(issues|pulls)") => new RegExp(`^/api/v1/repos/${organization}/${name}${rest}`);
  const fixture = {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: { token: server.token },
    badCredentials: { token: "kb-canary-no-such-token" },
    badConfigs: [
      {},
      { url: "" },
      { url: "relative/path" },
      { url: "http://anna:secret@127.0.0.1/" },
      { ...config, depth: 1 },
      { ...config, content: [] },
      { ...config, repositories: ["a/b/c"] },
      { ...config, repositories: [`${organization}/none`] },
    ],
    minItems: 9,
    narrowerScope: { include: [], exclude: [`r${ids.web.id}`] },
    add: async () => world.issue("api", `New ${++count}`),
    async edit() {
      // As long as before.
      const body = `Edit ${String(++count).padStart(3, "0")}`;
      await api("PATCH", `/repos/${ids.api.fullName}/issues/${first}`, { body });
      return `r${ids.api.id}#${first}`;
    },
    async remove() {
      await api("DELETE", `/repos/${ids.web.fullName}/issues/${gone}`);
      return `r${ids.web.id}#${gone}`;
    },
    async addOdd() {
      const titles = ["日本語 🗂️ עברית", "x".repeat(255), "<b>&amp;", "🗂️".repeat(60), "-"];
      return Promise.all(titles.map(async (title) => world.issue("api", title)));
    },
    async changeAccess() {
      isInTeam = !isInTeam;
      await api(isInTeam ? "PUT" : "DELETE", `/teams/${team}/members/${people.tim.login}`);
      return `r${ids.api.id}#${first}`;
    },
    people: async () => [...tokens.keys()].map((id) => ({ id: String(id) })),
    /** What the server itself answers each of them. */
    async whoSees(externalId) {
      const [, repository = "", number = ""] = /^r(\d+)#(\d+)/.exec(externalId) ?? [];
      const sees: string[] = [];
      for (const [id, token] of tokens) {
        if ((await server.status(`/repos/${names.get(repository)}/issues/${number}`, token)) === 200)
          sees.push(String(id));
      }
      return sees;
    },
    /** What it answers somebody without a token. */
    async isPublic(externalId) {
      const [, repository = "", number = ""] = /^r(\d+)#(\d+)/.exec(externalId) ?? [];
      return (await fetch(`http://127.0.0.1:${server.port}/api/v1/repos/${names.get(repository)}/issues/${number}`)).ok;
    },
    async removePerson() {
      const { id, login } = people.carl;
      await api("DELETE", `/admin/users/${login}?purge=true`);
      tokens.delete(id);
      return String(id);
    },
    async removeGroup() {
      await api("DELETE", `/teams/${team}`);
      return [String(people.tim.id)];
    },
    leadAway: async (origin) => {
      instead(below("api"), (response) => response.writeHead(302, { location: `${origin}/elsewhere` }).end());
    },
    requests: () => proxy.requests.length,
    async fail(kind) {
      switch (kind) {
        case "unreachable":
          return instead(undefined, (response) => response.destroy());
        case "unauthorized":
          return instead(undefined, (response) => response.writeHead(401).end("{}"));
        case "rate_limited":
          return instead(undefined, (response) => response.writeHead(429, { "retry-after": "3600" }).end());
        case "hang":
          return instead(undefined, () => undefined);
        case "one_container": {
          const failing = instead(below("api"), (response) => response.writeHead(403).end("{}"));
          const issue = `r${ids.api.id}#${first}`;
          return { ...failing, externalIds: [issue, `${issue}.c${world.commentId}`, `r${ids.api.id}#${first + 1}`] };
        }
        case "one_item": {
          const failing = instead(below("web", `/pulls/${pull}/reviews`), (response) =>
            response.writeHead(403).end("{}"),
          );
          const request = `r${ids.web.id}#${pull}`;
          return { ...failing, externalIds: [request, `${request}.r${reviewId}`] };
        }
      }
    },
  } satisfies KitFixture;

  return fixture;
}
