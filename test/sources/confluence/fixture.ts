import { createHmac } from "node:crypto";
import { onTestFinished } from "vitest";
import { makeConfluenceSource } from "#sources/confluence/index.ts";
import { AT_EACH_PAGE, type Failing, type Failure, type KitFixture } from "../../kit/fixture.ts";
import { type Asked, type ConfluenceServer, startConfluence } from "./server.ts";
import { makeWorld, OTHER_TOKEN, TOKEN, type World } from "./world.ts";

export type Deployment = "cloud" | "data_center";

/** A site of its own, with the kit's fixture over it. */
export async function openSite(deployment: Deployment = "cloud", world: World = makeWorld()) {
  // Data Center has no guests, and no folders.
  if (deployment === "data_center") {
    world.leave("g-guests", world.ids.gus);
    world.leave("g-devs", world.ids.gus);
  }
  const site = await startConfluence(world, deployment);
  onTestFinished(() => site.stop());
  return { world, site, fixture: makeConfluenceFixture(world, site, deployment) };
}

export function makeConfluenceFixture(world: World, site: ConfluenceServer, deployment: Deployment): KitFixture {
  const source = makeConfluenceSource({ limits: { perMinute: 1_000_000, burst: 10_000 }, batching: AT_EACH_PAGE });
  const url = `http://127.0.0.1:${site.port}`;
  const config = source.spec.config.parse({ url, deployment });
  const credentials = (token: string) => ({ token, ...(deployment === "cloud" && { email: "bot@corp.example" }) });
  const { ids, made } = world;
  const idsIn = (...spaces: string[]) =>
    world.pages
      .filter(({ space, status }) => spaces.some((key) => world.space(key).id === space) && status === "current")
      .flatMap((page) => [page.id, ...page.parts.map(({ type, id }) => `${type === "comment" ? "c" : "a"}${id}`)]);
  const isIn = (externalId: string, wanted: (page: World["pages"][number]) => boolean) =>
    world.pages.some(
      (page) => wanted(page) && [page.id, ...page.parts.map(({ id }) => id)].includes(externalId.replace(/^[ca]/, "")),
    );
  let count = 0;
  let isDanIn = true;
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: credentials(TOKEN),
    badCredentials: credentials("kb-canary-wrong-token"),
    badConfigs: [
      {},
      { url: "" },
      { url: "acme.atlassian.net" },
      { ...config, spaces: [] },
      { ...config, deployment: deployment === "cloud" ? "data_center" : "cloud" },
      { ...config, url: `${url}/nothing`, deployment: "data_center" },
    ],
    endMarks: { "": "_links.next" },
    minItems: 14,
    lists: [
      { at: /\/blogposts\?|[?&]type=blogpost/, has: (id) => isIn(id, ({ type }) => type === "blogpost") },
      { at: /cql=type\+in\+%28comment/, has: (id) => /^[ca]/.test(id) },
    ],
    narrowerScope: { include: [], exclude: [world.space("OPS").id] },
    async add() {
      return world.add("LOBBY", `One more, ${++count}`).id;
    },
    async edit() {
      world.edit(made.blue, `About the plan, ${++count}`);
      return made.blue.id;
    },
    async remove() {
      made.lunch.status = "trashed";
      return made.lunch.id;
    },
    async addOdd() {
      const titles = ["", "   ", "日本語 🗂️ עברית", "🗂️".repeat(200), "x".repeat(3_000), "\n\nsecond\u0000line"];
      return titles.map((title) => world.add("LOBBY", title).id);
    },
    // Moved and edited: of a move alone only a listing tells.
    async moveItem() {
      const isInOps = made.outage.space === world.space("OPS").id;
      made.outage.space = world.space(isInOps ? "ENG" : "OPS").id;
      world.edit(made.outage, `Moved, ${++count}`);
      return made.outage.id;
    },
    async changeAccess() {
      isDanIn = !isDanIn;
      world.space("ENG").readers.users = [isDanIn ? ids.dan : ids.cid];
      return made.blue.id;
    },
    async removePerson() {
      world.leave("g-users", ids.ben);
      return ids.ben;
    },
    async removeGroup() {
      world.groups.delete("g-devs");
      return [ids.ann];
    },
    people: async () =>
      [ids.ann, ids.ben, ids.cid, ids.dan, ids.eve, ids.gus]
        .filter((id) => world.users.get(id)?.active)
        .map((id) => ({ id })),
    whoSees: async (externalId) => world.whoSees(externalId),
    isPublic: async (externalId) => {
      const page = world.pageOf(externalId);
      return page !== undefined && world.mayRead(undefined, page);
    },
    swapAccount: async () => ({
      credentials: credentials(OTHER_TOKEN),
      externalIds: idsIn("LOBBY", "OPEN").filter((id) => id !== made.board.id),
    }),
    async notification() {
      const rawBody = Buffer.from(
        JSON.stringify({ timestamp: ++count, event: "page_updated", page: { id: made.blue.id } }),
      );
      const signature = `sha256=${createHmac("sha256", "hook").update(rawBody).digest("hex")}`;
      const headers = new Headers({ "x-hub-signature": signature });
      return { secret: "hook", request: { headers, rawBody, receivedAt: Date.now() } };
    },
    async leadAway(origin) {
      site.mediaAt = origin;
    },
    requests: () => site.requests.length,
    fail: async (kind) => fail(world, site, kind, idsIn),
  };
}

function fail(world: World, site: ConfluenceServer, kind: Failure, idsIn: (...spaces: string[]) => string[]): Failing {
  const heal = () => void (site.instead = undefined);
  const answer =
    (status: number, headers: Record<string, string> = {}): NonNullable<ConfluenceServer["instead"]> =>
    (_asked, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end('{"message":"No."}');
      return true;
    };
  const about = ({ path, query }: Asked, key: string) =>
    path.includes(`/spaces/${world.space(key).id}/`) ||
    query.get("spaceKey") === key ||
    query.get("cql")?.includes(`"${key}"`) === true;
  const at = (test: (asked: Asked) => boolean, how: NonNullable<ConfluenceServer["instead"]>) => {
    const before = site.instead;
    site.instead = (asked, response) => (test(asked) ? how(asked, response) : (before?.(asked, response) ?? false));
  };
  switch (kind) {
    case "unreachable":
      site.instead = (_asked, response) => (response.destroy(), true);
      return { externalIds: [], heal };
    case "unauthorized":
      site.instead = answer(401);
      return { externalIds: [], heal };
    case "rate_limited":
      site.instead = answer(429, { "retry-after": "3600" });
      return { externalIds: [], heal };
    case "hang":
      site.instead = () => true;
      return { externalIds: [], heal };
    case "one_container":
      at((asked) => about(asked, "OPS"), answer(403));
      return { externalIds: idsIn("OPS"), heal };
    case "two_containers":
      at((asked) => about(asked, "OPS"), answer(403));
      at((asked) => about(asked, "LOBBY"), answer(500));
      return { externalIds: idsIn("OPS", "LOBBY"), heal };
    case "one_item":
      at(({ path }) => path.includes("/download"), answer(403));
      return { externalIds: [`a${world.made.file.id}`], heal };
  }
}
