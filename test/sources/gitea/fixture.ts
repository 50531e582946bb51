import type { ServerResponse } from "node:http";
import type { GiteaConfig } from "#sources/gitea/config.ts";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import { AT_EACH_PAGE, type KitFixture } from "../../kit/fixture.ts";
import { thisMachine } from "../../kit/network.ts";
import { tempDir } from "../../temp-dir.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import type { TestProxy } from "../proxy.ts";
import type { World } from "./world.ts";

/** No two edits of a file are the same, in whichever fixture. */
let edits = 0;

/** What reading files needs of the server. */
export function places() {
  const dataFolder = tempDir();
  return { dataFolder, guard: thisMachine, searchPath: process.env["PATH"] ?? "", allowedRoots: async () => [] };
}

type Fixture = KitFixture & Required<Pick<KitFixture, "people" | "whoSees">> & { config: GiteaConfig };

/** The kit's fixture over an organization of a real Gitea, as it was in the beginning. */
export async function makeGiteaFixture(world: World, proxy: TestProxy) {
  await world.restore();
  const { server, api, people, organization, ids, team, first, pull, gone, reviewId } = world;
  const source = makeGiteaSource({ ...places(), checkpoints: AT_EACH_PAGE });
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
  const listOf = (rest: string) => new RegExp(`/repos/${organization}/api/${rest}\\?`);
  const pathOf = (externalId: string) => {
    const [, repository = "", mark, rest = ""] = /^r(\d+)([#:])(.+)$/.exec(externalId) ?? [];
    const path = mark === ":" ? `contents/${rest}` : `issues/${rest.replace(/\..*/, "")}`;
    return `/repos/${names.get(repository)}/${path}`;
  };
  /** Every item there is. */
  async function allIds(): Promise<string[]> {
    const replica = makeReplica();
    await runInto(fixture, replica);
    return [...replica.items.keys()];
  }
  const fixture: Fixture = {
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
    minItems: 10,
    narrowerScope: { include: [], exclude: [`r${ids.web.id}`] },
    add: async () => world.issue("api", `New ${++count}`),
    async edit() {
      // As long as before.
      await world.write("web", "README.md", `Edit ${String(++edits).padStart(4, "0")}`);
      return `r${ids.web.id}:README.md`;
    },
    async remove() {
      await api("DELETE", `/repos/${ids.web.fullName}/issues/${gone}`);
      return `r${ids.web.id}#${gone}`;
    },
    async addOdd() {
      const titles = ["日本語 🗂️ עברית", "x".repeat(255), "<b>&amp;", "🗂️".repeat(60), "-"];
      return Promise.all(titles.map(async (title) => world.issue("api", title)));
    },
    async renameItem() {
      const { from, to } = await world.rename();
      return { from: `r${ids.web.id}:${from}`, to: `r${ids.web.id}:${to}` };
    },
    /** Tim reads issues and code of one repository, and what is public. */
    async swapAccount() {
      const externalIds: string[] = [];
      for (const id of await allIds()) {
        if ((await server.status(pathOf(id), people.tim.token)) === 200) externalIds.push(id);
      }
      return { credentials: { token: people.tim.token }, externalIds };
    },
    notification: async () => ({ secret: world.hookSecret, request: await world.lastPush() }),
    async changeAccess() {
      isInTeam = !isInTeam;
      await api(isInTeam ? "PUT" : "DELETE", `/teams/${team}/members/${people.tim.login}`);
      return `r${ids.api.id}#${first}`;
    },
    people: async () => [...tokens.keys()].map((id) => ({ id: String(id) })),
    /** What the server itself answers each of them. */
    async whoSees(externalId) {
      const sees: string[] = [];
      for (const [id, token] of tokens) {
        if ((await server.status(pathOf(externalId), token)) === 200) sees.push(String(id));
      }
      return sees;
    },
    /** What it answers somebody without a token. */
    async isPublic(externalId) {
      return (await fetch(`http://127.0.0.1:${server.port}/api/v1${pathOf(externalId)}`)).ok;
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
    lists: [
      { at: listOf("issues"), has: (id) => id.startsWith(`r${ids.api.id}#`) },
      { at: listOf("issues/comments"), has: (id) => id.startsWith(`r${ids.api.id}#`) && id.includes(".c") },
      { at: listOf("collaborators"), has: () => false, isOfNames: true },
      { at: /\/orgs\/[^/]+\/teams\?/, has: () => false, isOfNames: true },
    ],
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
        case "two_containers": {
          const [refused, failing] = [below("api"), below("site")];
          const isOfBoth = (id: string) => /^r(\d+)/.exec(id)?.[1] !== String(ids.web.id);
          const before = await allIds();
          proxy.instead = ({ path }, response) => {
            const status = refused.test(path) ? 403 : failing.test(path) ? 500 : undefined;
            if (status !== undefined) response.writeHead(status).end("{}");
            return status !== undefined;
          };
          return { externalIds: before.filter(isOfBoth), heal: () => void (proxy.instead = undefined) };
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
  };

  return fixture;
}
