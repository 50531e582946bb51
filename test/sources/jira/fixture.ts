import { createHmac } from "node:crypto";
import { onTestFinished } from "vitest";
import { makeJiraSource } from "#sources/jira/index.ts";
import { AT_EACH_PAGE, type Failing, type Failure, type KitFixture } from "../../kit/fixture.ts";
import { type Asked, type JiraServer, startJira } from "./server.ts";
import { makeWorld, OTHER_TOKEN, TOKEN, type World } from "./world.ts";

export type Deployment = "cloud" | "data_center";

/** A site of its own, with the kit's fixture over it. */
export async function openSite(deployment: Deployment = "cloud", world: World = makeWorld()) {
  const jira = await startJira(world, deployment);
  onTestFinished(() => jira.stop());
  return { world, jira, fixture: makeJiraFixture(world, jira, deployment) };
}

export function makeJiraFixture(world: World, jira: JiraServer, deployment: Deployment): KitFixture {
  const source = makeJiraSource({ limits: { perMinute: 1_000_000, burst: 10_000 }, batching: AT_EACH_PAGE });
  const url = `http://127.0.0.1:${jira.port}`;
  const config = source.spec.config.parse({ url, deployment });
  const credentials = (token: string) => ({ token, ...(deployment === "cloud" && { email: "bot@corp.example" }) });
  const { ids, made } = world;
  const partsOf = (project: string) =>
    world.issues
      .filter((issue) => issue.project === project)
      .flatMap((issue) => [
        issue.id,
        ...issue.comments.map(({ id }) => `${issue.id}.c${id}`),
        ...issue.attachments.map(({ id }) => `${issue.id}.a${id}`),
      ]);
  const ofRoles = () =>
    world.issues.flatMap(({ id: issue, comments }) =>
      comments.flatMap(({ id, visibility }) => (visibility?.type === "role" ? [`${issue}.c${id}`] : [])),
    );
  let count = 0;
  let isIn = true;
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
      { ...config, jql: "project = X ORDER BY created" },
      { ...config, jql: "no jql at all" },
      { ...config, projects: [] },
      { ...config, deployment: deployment === "cloud" ? "data_center" : "cloud" },
      { ...config, url: `${url}/nothing`, deployment: "data_center" },
    ],
    endMarks: { "search/jql": "nextPageToken" },
    minItems: 12,
    lists: [
      { at: /\/project\/\d+\/role/, has: (id) => ofRoles().includes(id) },
      { at: /\/group\/member\?.*(?:groupId=g-ops|groupname=ops)/, has: () => false, isOfNames: true },
    ],
    narrowerScope: { include: [], exclude: [world.project("OPS").id] },
    async add() {
      return world.add("LOBBY", `One more, ${++count}`).id;
    },
    async edit() {
      made.plan.text = `About the plan, ${++count}`;
      made.plan.updated = Date.now();
      return made.plan.id;
    },
    async remove() {
      world.issues.splice(world.issues.indexOf(made.lunch), 1);
      return made.lunch.id;
    },
    async addOdd() {
      const titles = ["", "   ", "日本語 🗂️ עברית", "🗂️".repeat(200), "x".repeat(3_000), "\n\nsecond\u0000line"];
      return titles.map((title) => world.add("LOBBY", title).id);
    },
    async moveItem() {
      const isInOps = made.outage.project === world.project("OPS").id;
      const to = world.project(isInOps ? "ENG" : "OPS");
      Object.assign(made.outage, { project: to.id, key: `${to.key}-${900 + ++count}`, updated: Date.now() });
      return made.outage.id;
    },
    async changeAccess() {
      isIn = !isIn;
      world.setDevelopers(isIn ? ids.dan : ids.cid);
      return made.plan.id;
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
      [ids.ann, ids.ben, ids.cid, ids.dan, ids.eve].filter((id) => world.users.get(id)?.active).map((id) => ({ id })),
    // Data Center does not tell who is in a level: what has one is for nobody here.
    whoSees: async (externalId) =>
      deployment === "data_center" && world.issue(externalId)?.security !== undefined ? [] : world.whoSees(externalId),
    swapAccount: async () => ({
      credentials: credentials(OTHER_TOKEN),
      externalIds: partsOf(world.project("LOBBY").id),
    }),
    async notification() {
      const rawBody = Buffer.from(
        JSON.stringify({ timestamp: ++count, webhookEvent: "jira:issue_updated", issue: { id: made.plan.id } }),
      );
      const signature = `sha256=${createHmac("sha256", "hook").update(rawBody).digest("hex")}`;
      const headers = new Headers({ "x-hub-signature": signature });
      return { secret: "hook", request: { headers, rawBody, receivedAt: Date.now() } };
    },
    async leadAway(origin) {
      jira.mediaAt = origin;
    },
    requests: () => jira.requests.length,
    fail: async (kind) => fail(world, jira, kind, partsOf),
  };
}

function fail(world: World, jira: JiraServer, kind: Failure, partsOf: (project: string) => string[]): Failing {
  const heal = () => void (jira.instead = undefined);
  const answer =
    (status: number, headers: Record<string, string> = {}): NonNullable<JiraServer["instead"]> =>
    (_asked, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end('{"errorMessages":[]}');
      return true;
    };
  const about = ({ path, body }: Asked, key: string) => {
    const { id } = world.project(key);
    return path.includes(`/project/${id}/`) || body.includes(`project = ${id}`);
  };
  const at = (test: (asked: Asked) => boolean, how: NonNullable<JiraServer["instead"]>) => {
    const before = jira.instead;
    jira.instead = (asked, response) => (test(asked) ? how(asked, response) : (before?.(asked, response) ?? false));
  };
  const ops = partsOf(world.project("OPS").id);
  switch (kind) {
    case "unreachable":
      jira.instead = (_asked, response) => (response.destroy(), true);
      return { externalIds: [], heal };
    case "unauthorized":
      jira.instead = answer(401);
      return { externalIds: [], heal };
    case "rate_limited":
      jira.instead = answer(429, { "retry-after": "3600", "ratelimit-reason": "jira-quota-global-based" });
      return { externalIds: [], heal };
    case "hang":
      jira.instead = () => true;
      return { externalIds: [], heal };
    case "one_container":
      at((asked) => about(asked, "OPS"), answer(403));
      return { externalIds: ops, heal };
    case "two_containers":
      at((asked) => about(asked, "OPS"), answer(403));
      at((asked) => about(asked, "LOBBY"), answer(500));
      return { externalIds: [...ops, ...partsOf(world.project("LOBBY").id)], heal };
    case "one_item":
      at(({ path }) => path.includes("/attachment/"), answer(403));
      return { externalIds: [`${world.made.plan.id}.a${world.made.file.id}`], heal };
  }
}
