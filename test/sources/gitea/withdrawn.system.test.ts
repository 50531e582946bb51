import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import type { Source } from "#sources/contract.ts";
import { openEngine } from "../../kit/engine.ts";
import { startProxy } from "../proxy.ts";
import { all, countFound, syncNow } from "../withdrawn.ts";
import { places } from "./fixture.ts";
import { type GiteaServer, startGitea, whyNoGitea } from "./server.ts";

let server: GiteaServer;
type Person = Awaited<ReturnType<GiteaServer["addPerson"]>>;
let people: { ann: Person; ben: Person; cid: Person };
const MINUTE_MS = 60_000;
const ISSUES = 6;
let count = 0;

/**
 * A private repository with six issues, a team with ann and ben that it is given to, and cid, who is nobody there; in a
 * server where each of them is a member, and everything was read.
 */
async function open({ isPrivate = true } = {}) {
  const { api } = server;
  const organization = `crew${++count}`;
  await api("POST", "/orgs", { username: organization, visibility: "public" });
  const repository = { name: "vault", private: isPrivate };
  const { id } = await api<{ id: number }>("POST", `/orgs/${organization}/repos`, repository);
  for (let i = 1; i <= ISSUES; i++)
    await api("POST", `/repos/${organization}/vault/issues`, { title: `Secret ${i}`, body: `About the vault, ${i}.` });
  const units = { permission: "read", units: ["repo.issues"], units_map: { "repo.issues": "read" } };
  const team = await api<{ id: number }>("POST", `/orgs/${organization}/teams`, { name: "keepers", ...units });
  await api("PUT", `/teams/${team.id}/repos/${organization}/vault`);
  for (const { login } of [people.ann, people.ben]) await api("PUT", `/teams/${team.id}/members/${login}`);
  const proxy = await startProxy(server.port);
  onTestFinished(() => proxy.stop());
  const source = makeGiteaSource(places());
  const config = source.spec.config.parse({
    url: `http://127.0.0.1:${proxy.port}`,
    repositories: [organization],
    content: ["issues"],
  });
  const engine = await openEngine({
    source: source as unknown as Source,
    config,
    credentials: { token: server.token },
    people: async () => Object.values(people).map(({ id: user }) => ({ id: String(user) })),
  });
  await engine.readPeople();
  await engine.work();
  engine.kb.clock.advance(MINUTE_MS);
  const isIssue = (externalId: string) => externalId.startsWith(`r${id}#`);
  return {
    engine,
    proxy,
    team: team.id,
    at: `/repos/${organization}/vault`,
    finds: (who: keyof typeof people) => countFound(engine, String(people[who].id), isIssue),
  };
}

describe.skipIf(whyNoGitea() !== undefined)("what is withdrawn on a real Gitea", { timeout: 240_000 }, () => {
  beforeAll(async () => {
    server = await startGitea();
    const [ann, ben, cid] = [
      await server.addPerson("ann"),
      await server.addPerson("ben"),
      await server.addPerson("cid"),
    ];
    people = { ann, ben, cid };
    return () => server.stop();
  }, 120_000);

  test("is found by no one once Sync now has ended, and what is given is found", async () => {
    const { engine, team, at, finds } = await open();
    expect([await finds("ann"), await finds("ben"), await finds("cid")]).toEqual([all(ISSUES), all(ISSUES), all(0)]);
    await server.api("DELETE", `/teams/${team}/members/${people.ben.login}`);
    await server.api("PUT", `${at}/collaborators/${people.cid.login}`, { permission: "read" });
    expect(await syncNow(engine)).toMatchObject({ state: "succeeded", people: { state: "read" } });
    expect([await finds("ann"), await finds("ben"), await finds("cid")]).toEqual([all(ISSUES), all(0), all(ISSUES)]);

    engine.kb.clock.advance(MINUTE_MS);
    await server.api("DELETE", `${at}/collaborators/${people.cid.login}`);
    await server.api("DELETE", `/teams/${team}/repos${at.replace("/repos", "")}`);
    await syncNow(engine, { mode: "identities" });
    expect([await finds("ann"), await finds("cid")]).toEqual([all(0), all(0)]);
  });

  test("is closed to everyone but its readers once a repository is made private", async () => {
    const { engine, at, finds } = await open({ isPrivate: false });
    expect(await finds("cid")).toEqual(all(ISSUES));
    await server.api("PATCH", at, { private: true });
    expect(await syncNow(engine)).toMatchObject({ people: { state: "read" } });
    expect([await finds("ann"), await finds("cid")]).toEqual([all(ISSUES), all(0)]);
  });

  test("is found by no one within 10 seconds of a notification, whose word alone changes nothing", async () => {
    const { engine, team, finds } = await open();
    const { kb, owner, connectorId } = engine;
    const { secret } = (await kb.as(owner).post(`/api/connectors/${connectorId}/webhook`)).json;
    const tell = async (payload: object, key = secret) => {
      const raw = JSON.stringify(payload);
      const signature = createHmac("sha256", key).update(raw).digest("hex");
      const headers = { "x-gitea-event": "membership", "x-gitea-signature": signature };
      const answer = await kb.anyone().request("POST", `/hooks/gitea/${connectorId}`, { raw, headers });
      await engine.pass(9_000);
      return answer.status;
    };
    const joined = { action: "added", team: { id: team }, member: { id: people.cid.id } };
    expect(await tell(joined)).toBe(200);
    expect(await finds("cid")).toEqual(all(0));
    const left = { action: "removed", team: { id: team }, member: { id: people.ben.id } };
    expect(await tell(left)).toBe(200);
    expect(await finds("ben")).toEqual(all(ISSUES));
    await server.api("DELETE", `/teams/${team}/members/${people.ben.login}`);
    expect(await tell({ ...left, at: 1 }, "another-secret")).toBe(404);
    expect(await finds("ben")).toEqual(all(ISSUES));
    expect(await tell({ ...left, at: 2 })).toBe(200);
    expect([await finds("ann"), await finds("ben")]).toEqual([all(ISSUES), all(0)]);
  });

  test("costs few requests where nothing was: those of a reading of people, and of an increment", async () => {
    const { engine, proxy } = await open();
    await syncNow(engine);
    const requestsOf = async (body: object) => {
      engine.kb.clock.advance(MINUTE_MS);
      proxy.requests.length = 0;
      await syncNow(engine, body);
      return proxy.requests.length;
    };
    const people = await requestsOf({ mode: "identities" });
    const both = await requestsOf({});
    process.stderr.write(`Gitea: Sync now without news: ${both} requests, ${people} of them for people and groups\n`);
    expect(both - people).toBeLessThanOrEqual(5);
    expect(people).toBeLessThanOrEqual(15);
  });
});
