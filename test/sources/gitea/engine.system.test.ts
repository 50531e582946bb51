import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import type { WebhookRequest } from "#sources/webhook.ts";
import { type KitEngine, openEngine } from "../../kit/engine.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { startProxy } from "../proxy.ts";
import { makeGiteaFixture, places } from "./fixture.ts";
import { startGitea, whyNoGitea } from "./server.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
const HOUR = 3_600_000;

/** The server with a connector to the world, and everything between them counted. */
async function connect() {
  const proxy = await startProxy(world.server.port);
  onTestFinished(() => proxy.stop());
  const fixture = await makeGiteaFixture(world, proxy);
  const engine = await openEngine(fixture);
  return { proxy, fixture, engine };
}

/** What somebody finds here in each way there is: lists, counts, search, content. */
async function found(engine: KitEngine, client: ReturnType<KitEngine["kb"]["as"]>) {
  const externalIds = new Map((await engine.rows()).map(({ kbId, externalId }) => [kbId, externalId]));
  const names = (records: readonly { kbId: string }[]) =>
    records.map(({ kbId }) => externalIds.get(kbId) ?? kbId).sort();
  const { files } = (await client.get("/api/connectors/all-files?limit=200")).json;
  const { counts } = (await client.get("/api/connectors/file-counts-by-source")).json;
  const hits = new Set<string>();
  for (const word of WORDS) {
    const { results } = (await client.get(`/api/connectors/search?limit=20&query=${word}`)).json;
    for (const name of names(results)) hits.add(name);
  }
  const readable: string[] = [];
  for (const [kbId, externalId] of externalIds) {
    const { status } = await client.get(`/api/connectors/files/${kbId}/content`);
    // What has no text says so to those alone who may know of it.
    if (status !== 404) readable.push(externalId);
  }
  const counted = counts.reduce(
    (sum: number, each: { indexed: number; unsearchable: number }) => sum + each.indexed + each.unsearchable,
    0,
  );
  return { listed: names(files), counted, hits: [...hits].sort(), readable: readable.sort() };
}

/** Words of items of each kind. */
const WORDS = ["about", "login", "slow", "review", "typo", "edit"];

/** For each person: what is found here is what Gitea answers with their own token. */
async function expectSame(engine: KitEngine, fixture: Awaited<ReturnType<typeof connect>>["fixture"], what: string) {
  const rows = (await engine.rows()).map(({ externalId }) => externalId);
  const sees = new Map<string, string[]>();
  for (const externalId of rows)
    for (const id of await fixture.whoSees(externalId)) sees.set(id, [...(sees.get(id) ?? []), externalId]);
  // Who administers the site sees everything.
  const [admin] = await fixture.people();
  const all = new Set((await found(engine, engine.kb.as(engine.memberOf(admin?.id ?? "")))).hits);
  expect(all.size).toBeGreaterThan(6);
  for (const { id } of await fixture.people()) {
    const there = (sees.get(id) ?? []).sort();
    const here = await found(engine, engine.kb.as(engine.memberOf(id)));
    const hits = there.filter((each) => all.has(each));
    expect({ what, id, ...here }).toEqual({ what, id, listed: there, counted: there.length, hits, readable: there });
  }
  return sees;
}

describe.skipIf(whyNoGitea() !== undefined)("gitea in the engine, with a real server", { timeout: 240_000 }, () => {
  beforeAll(async () => {
    const server = await startGitea();
    world = await makeWorld(server);
    return () => server.stop();
  }, 120_000);

  test("everyone finds what Gitea shows them, in every way, at any time", async () => {
    const { engine, fixture } = await connect();
    const { people, ids, api, organization } = world;
    await engine.readPeople();
    // In the first run, and where nothing of it is finished: never more than there.
    await engine.work();
    const sees = await expectSame(engine, fixture, "after the first run");
    expect(new Set([...sees.values()].map((each) => each.join())).size).toBeGreaterThan(3);

    // Somebody of another workspace finds nothing.
    const stranger = await engine.kb.addOwner();
    expect((await engine.kb.as(stranger).get("/api/connectors/all-files")).json.files).toEqual([]);

    // A change of permissions alone: one leaves the team, one is no collaborator any more, a repository is closed.
    await api("DELETE", `/teams/${world.team}/members/${people.tim.login}`);
    await api("DELETE", `/repos/${organization}/web/collaborators/${people.carl.login}`, undefined, people.olga.token);
    await api("PATCH", `/repos/${ids.site.fullName}`, { private: true });
    await engine.readPeople();
    const narrower = await expectSame(engine, fixture, "after a change of permissions alone");
    expect(narrower.get(String(people.tim.id))).toBeUndefined();
    expect(narrower.get(String(people.carl.id))).toBeUndefined();
    await api("PATCH", `/repos/${ids.site.fullName}`, { private: false });

    // More than a day of increments.
    for (let hours = 0; hours < 26; hours += 2) await engine.pass(2 * HOUR);
    await expectSame(engine, fixture, "after 26 hours of increments");
  });

  test("an increment without news makes at most 5 requests a repository", async () => {
    const { engine, proxy } = await connect();
    await engine.readPeople();
    await engine.work();
    proxy.requests.length = 0;
    await engine.increment();
    const asked = proxy.requests.map(({ method, path }) => `${method} ${path.replace(/\?.*/, "")}`);
    process.stderr.write(`Gitea: an increment without news over 3 repositories: ${asked.length} requests\n`);
    expect(asked.length).toBeLessThanOrEqual(5 * 3);
  });

  test("issues, comments and repositories that are edited, deleted and renamed keep or lose their items", async () => {
    const proxy = await startProxy(world.server.port);
    onTestFinished(() => proxy.stop());
    const fixture = await makeGiteaFixture(world, proxy);
    const { api, ids, organization, people } = world;
    const replica = makeReplica();
    const issue = await world.issue("api", "Short life");
    const number = Number(issue.split("#")[1]);
    const comment = `${issue}.c${await world.comment("api", number, "Soon gone.")}`;
    await runInto(fixture, replica);
    const task = replica.items.get(`r${ids.api.id}#${world.first}`);
    expect(task).toMatchObject({
      kind: "task",
      subkind: "issue",
      key: "acme/api#1",
      status: "open",
      title: "Login fails",
    });
    expect(replica.items.get(comment)).toMatchObject({ partOf: issue, kind: "message" });
    expect(replica.items.get(`r${ids.web.id}#${world.pull}`)).toMatchObject({ subkind: "pull_request" });
    expect(replica.items.get(`r${ids.web.id}#${world.pull}.r${world.reviewId}`)).toMatchObject({
      fields: { verdict: "approved" },
      partOf: `r${ids.web.id}#${world.pull}`,
    });

    // What is said of an issue comes with the next increment.
    const at = `/repos/${organization}/api`;
    const { id: label } = await api<{ id: number }>("POST", `${at}/labels`, { name: "bug", color: "#ff0000" });
    await api("PATCH", `${at}/issues/${number}`, {
      title: "Longer life",
      state: "closed",
      assignees: [people.olga.login],
      due_date: "2030-01-02T00:00:00Z",
    });
    await api("POST", `${at}/issues/${number}/labels`, { labels: [label] });
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.get(issue)).toMatchObject({
      title: "Longer life",
      status: "done",
      labels: ["bug"],
      assignees: [{ login: "olga", claimed: false }],
    });
    expect(new Date(replica.items.get(issue)?.dueAt ?? 0).toISOString()).toMatch(/^2030-01-0[123]/);

    // Its deletion is seen by the count of what is left.
    await api("DELETE", `${at}/issues/${number}`);
    await runInto(fixture, replica, { mode: "incremental" });
    expect([replica.items.has(issue), replica.items.has(comment)]).toEqual([false, false]);

    // A new name is no new repository.
    const before = [...replica.items.keys()].sort();
    await api("PATCH", `/repos/${ids.site.fullName}`, { name: "homepage" });
    await runInto(fixture, replica, { mode: "incremental" });
    expect([...replica.items.keys()].sort()).toEqual(before);
    expect(replica.items.get(`r${ids.site.id}#1`)).toMatchObject({ key: "acme/homepage#1", place: "acme/homepage" });
    await api("PATCH", `/repos/${organization}/homepage`, { name: "site" });

    // One that is not there any more is hidden by the next increment, and gone with the next full run.
    await api("POST", `/orgs/${organization}/repos`, { name: "brief", private: true }, people.olga.token);
    await api("POST", `/repos/${organization}/brief/issues`, { title: "Ends soon" }, people.olga.token);
    await runInto(fixture, replica, { mode: "incremental" });
    const [lastId] = [...replica.items.keys()].filter((id) => !before.includes(id));
    await api("DELETE", `/repos/${organization}/brief`, undefined, people.olga.token);
    const { events } = await runInto(fixture, replica, { mode: "incremental" });
    const container = { type: "repository", id: lastId?.split("#")[0] };
    expect(events).toContainEqual({ t: "refused", what: { container }, code: "source_not_found" });
    await runInto(fixture, replica);
    expect(replica.items.has(lastId ?? "")).toBe(false);
  });

  test("a repository, or an owner, that the config names and the server hides is hidden alone, and stays", async () => {
    const proxy = await startProxy(world.server.port);
    onTestFinished(() => proxy.stop());
    const whole = await makeGiteaFixture(world, proxy);
    const { ids, organization } = world;
    for (const [repositories, path] of [
      [[ids.api.fullName, ids.web.fullName], `/repos/${ids.web.fullName}`],
      [[organization], `/users/${organization}/repos`],
    ] as const) {
      const fixture = { ...whole, config: { ...whole.config, repositories: [...repositories] } };
      const replica = makeReplica();
      await runInto(fixture, replica);
      const before = [...replica.items.keys()].sort();
      proxy.instead = (passed, response) =>
        passed.path.startsWith(`/api/v1${path}`) && (response.writeHead(404).end("{}"), true);
      const refused = { t: "refused", what: { container: { type: "repository", id: `r${ids.web.id}` } } };
      for (const mode of ["incremental", "full"] as const) {
        const { events } = await runInto(fixture, replica, { mode });
        expect(events).toContainEqual({ ...refused, code: "source_not_found" });
        expect([...replica.items.keys()].sort()).toEqual(before);
      }
      proxy.instead = undefined;
      // What was hidden is named again by the next increment, each item of it.
      const { events } = await runInto(fixture, replica, { mode: "incremental" });
      const named = events.flatMap((event) => (event.t === "seen" ? event.externalIds : []));
      const ofWeb = before.filter((id) => id.startsWith(`r${ids.web.id}`));
      expect(named).toEqual(expect.arrayContaining(ofWeb));
    }
  });

  test("Gitea's own webhooks are believed with the right secret alone", async () => {
    const got: WebhookRequest[] = [];
    const receiver = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        got.push({
          headers: { get: (name) => request.headers[name.toLowerCase()]?.toString() ?? null },
          rawBody: Buffer.concat(pieces),
          receivedAt: 0,
        });
        response.end();
        heard?.();
      });
    });
    let heard: (() => void) | undefined;
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());
    // A server that listens over TCP has such an address.
    const { port } = receiver.address() as AddressInfo;
    const { api, ids } = world;
    const hook = { url: `http://127.0.0.1:${port}/`, content_type: "json", secret: "s3cret" };
    await api("POST", `/repos/${ids.api.fullName}/hooks`, {
      type: "gitea",
      active: true,
      events: ["issues", "issue_comment"],
      config: hook,
    });
    const { webhook } = makeGiteaSource(places());
    const next = async (act: () => Promise<unknown>) => {
      const arrived = new Promise<void>((resolve) => (heard = resolve));
      const result = await act();
      await arrived;
      const request = got.at(-1);
      if (!request) throw new Error("Nothing came.");
      return { result, request };
    };
    const opened = await next(async () => world.issue("api", "Told by a webhook"));
    const issue = opened.result as string;
    expect(webhook?.verify("s3cret", opened.request)).toMatchObject({
      changes: [{ t: "items", externalIds: [issue] }],
    });
    expect(webhook?.verify("s3cre", opened.request)).toBe("refused");
    const forged = { ...opened.request, rawBody: Buffer.from(`${Buffer.from(opened.request.rawBody).toString()} `) };
    expect(webhook?.verify("s3cret", forged)).toBe("refused");
    const commented = await next(async () => world.comment("api", Number(issue.split("#")[1]), "Me too."));
    expect(webhook?.verify("s3cret", commented.request)).toMatchObject({
      changes: [{ t: "items", externalIds: [`${issue}.c${String(commented.result)}`] }],
    });
    const deleted = await next(async () => world.restore());
    expect(webhook?.verify("s3cret", deleted.request)).toMatchObject({ changes: [{ t: "delta" }] });
  });
});
