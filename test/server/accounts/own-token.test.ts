/** Accounts where a provider has no sign-in for kb: a token of the person's own says who they are. */
import { describe, test } from "vitest";
import type { TestUser } from "../../helpers.ts";
import { openSite as openConfluence } from "../../sources/confluence/fixture.ts";
import { openSite as openJira } from "../../sources/jira/fixture.ts";
import { TOKEN } from "../../sources/jira/world.ts";
import { makeAccountServer } from "./server.ts";

const DAY = 24 * 3_600_000;

/** A Jira Data Center that is registered, with people's tokens, and a connector of an admin that has read it. */
async function makeJira() {
  const { world, jira, fixture } = await openJira("data_center");
  const { ids } = world;
  for (const name of ["ann", "ben", "eve"] as const) world.tokens.set(`kb-canary-${name}`, ids[name]);
  const baseUrl = `http://127.0.0.1:${jira.port}`;
  const kb = await makeAccountServer({}, { sources: [fixture.source], hosts: [`127.0.0.1:${jira.port}`] });
  await kb.as(kb.owner).patch("/api/workspace", { instances: [{ providerId: "jira", baseUrl }] });
  const made = await kb.as(kb.owner).post("/api/connectors", {
    providerId: "jira",
    name: "Tickets",
    config: fixture.config,
    credentials: { token: TOKEN },
    access: { visibility: "source" },
  });
  if (made.status !== 201) throw new Error(made.text);
  await kb.worker.runUntilIdle();
  const found = async (user: TestUser) => {
    const { json } = await kb.as(user).get("/api/connectors/all-files?limit=100");
    return json.files.map(({ title }: { title: string }) => title) as string[];
  };
  const add = (user: TestUser, token: string, more: Record<string, unknown> = {}) =>
    kb.as(user).post("/api/accounts", { providerId: "jira", credentials: { token }, ...more });
  return { kb, world, jira, ids, baseUrl, found, add, connectorId: made.json.connector.id as string };
}

describe("a token of one's own", () => {
  test("links its person in every connector of the instance at once, and no one else", async ({ expect }) => {
    const { kb, world, ids, baseUrl, found, add } = await makeJira();
    expect([await found(kb.anna), await found(kb.ben)]).toEqual([[], []]);
    const { status, json, text } = await add(kb.anna, "kb-canary-ann");
    expect(status).toBe(201);
    expect(json.account).toMatchObject({
      providerName: "Jira",
      baseUrl,
      principal: `user:jira:${encodeURIComponent(baseUrl)}:${encodeURIComponent(ids.ann)}`,
      login: "ann",
      way: "token",
      isLinked: true,
    });
    expect((await add(kb.ben, "kb-canary-ben", { baseUrl })).status).toBe(201);
    const titlesFor = (id: string) =>
      world.issues.filter((issue) => issue.security === undefined && world.whoSees(issue.id).includes(id));
    for (const [user, id] of [
      [kb.anna, ids.ann],
      [kb.ben, ids.ben],
    ] as const) {
      const titles = await found(user);
      const all = world.issues.map((issue) => issue.summary);
      const expected = titlesFor(id).map(({ summary }) => summary);
      expect(all.filter((title) => titles.some((each) => each.includes(title))).sort()).toEqual(expected.sort());
      expect(expected).not.toEqual([]);
    }
    // The token is nowhere to be read.
    const rows = JSON.stringify(await kb.database.read.selectFrom("provider_accounts").selectAll().execute());
    const listed = (await kb.as(kb.anna).get("/api/accounts")).text;
    const audit = (await kb.as(kb.owner).get("/api/audit")).text;
    expect(`${text}${rows}${listed}${audit}${JSON.stringify(kb.log.lines)}`).not.toContain("kb-canary");
    // Disconnected, it opens nothing.
    await kb.as(kb.anna).delete(`/api/accounts/${json.account.id}`);
    expect([await found(kb.anna), (await found(kb.ben)).length > 0]).toEqual([[], true]);
  });

  test("is one person's: a second one is refused, and another account never takes its place", async ({ expect }) => {
    const { kb, add } = await makeJira();
    const { id } = (await add(kb.anna, "kb-canary-ann")).json.account;
    expect(await add(kb.ben, "kb-canary-ann")).toMatchObject({ status: 409, json: { code: "account_taken" } });
    expect(await add(kb.anna, "kb-canary-ben", { accountId: id })).toMatchObject({
      status: 409,
      json: { code: "account_differs", field: "token" },
    });
    expect(await kb.accountsOf(kb.anna)).toMatchObject([{ id, login: "ann" }]);
    expect((await add(kb.ben, "kb-canary-ben", { accountId: id })).status).toBe(404);
    expect(await add(kb.anna, "kb-canary-ann", { accountId: id })).toMatchObject({
      status: 201,
      json: { account: { id } },
    });
  });

  test("is asked again within maxAclAge: refused, its link ends, and the same account brings it back", async ({
    expect,
  }) => {
    const { kb, world, jira, ids, found, add } = await makeJira();
    const { id } = (await add(kb.anna, "kb-canary-ann")).json.account;
    const asked = () =>
      jira.requests.filter(({ path, token }) => path.endsWith("/myself") && token === "kb-canary-ann");
    const before = asked().length;
    kb.clock.advance(DAY / 2 + 1);
    await kb.worker.runUntilIdle();
    expect(asked().length).toBe(before + 1);
    // Jira answers a token that was taken back as if nobody had signed in.
    world.tokens.delete("kb-canary-ann");
    kb.clock.advance(DAY / 2 + 1);
    await kb.worker.runUntilIdle();
    expect(await kb.accountsOf(kb.anna)).toMatchObject([{ id, state: "needs_reauth", isLinked: true }]);
    kb.clock.advance(DAY / 2 + 1);
    await kb.worker.runUntilIdle();
    expect(await kb.accountsOf(kb.anna)).toMatchObject([{ id, state: "needs_reauth", isLinked: false }]);
    expect(await found(kb.anna)).toEqual([]);
    world.tokens.set("kb-canary-ann-2", ids.ann);
    expect((await add(kb.anna, "kb-canary-ann-2", { accountId: id })).json.account).toMatchObject({
      id,
      state: "active",
      isLinked: true,
    });
    await kb.worker.runUntilIdle();
    expect((await found(kb.anna)).length).toBeGreaterThan(0);
  });

  test("goes with its member, and the next one can be that user", async ({ expect }) => {
    const { kb, found, add } = await makeJira();
    const { id } = (await add(kb.anna, "kb-canary-ann")).json.account;
    await kb.as(kb.owner).delete(`/api/workspace/members/${kb.anna.userId}`);
    await kb.worker.runUntilIdle();
    expect(await kb.store.in(kb.owner.workspaceId).accounts.find(id)).toBeUndefined();
    expect((await add(kb.ben, "kb-canary-ann")).status).toBe(201);
    expect((await found(kb.ben)).length).toBeGreaterThan(0);
  });

  test("links no one again whom an admin has unlinked, until an admin links them", async ({ expect }) => {
    const { kb, found, add, connectorId } = await makeJira();
    const { id, principal } = (await add(kb.anna, "kb-canary-ann")).json.account;
    const link = (userId: string | null) =>
      kb
        .as(kb.owner)
        .request("PUT", `/api/connectors/${connectorId}/people`, { body: { links: [{ principal, userId }] } });
    const links = async () => (await kb.as(kb.owner).get("/api/audit?action=person.linked")).json.entries.length;
    const before = await links();
    expect((await found(kb.anna)).length).toBeGreaterThan(0);
    expect((await link(null)).status).toBe(200);
    expect(await found(kb.anna)).toEqual([]);
    for (let half = 0; half < 3; half++) {
      kb.clock.advance(DAY / 2 + 1);
      await kb.worker.runUntilIdle();
      expect(await found(kb.anna)).toEqual([]);
    }
    // Nor by proving again who they are there: that was not in doubt.
    expect((await add(kb.anna, "kb-canary-ann", { accountId: id })).json.account).toMatchObject({ isLinked: false });
    expect([await found(kb.anna), await links()]).toEqual([[], before]);
    await link(kb.anna.userId);
    expect((await found(kb.anna)).length).toBeGreaterThan(0);
  });

  test("counts for no one from the moment at which its instance is no longer registered", async ({ expect }) => {
    const { kb, baseUrl, found, add } = await makeJira();
    await add(kb.anna, "kb-canary-ann");
    const setInstances = (instances: unknown[]) => kb.as(kb.owner).patch("/api/workspace", { instances });
    expect((await found(kb.anna)).length).toBeGreaterThan(0);
    await setInstances([]);
    expect(await found(kb.anna)).toEqual([]);
    expect(await kb.accountsOf(kb.anna)).toMatchObject([{ isLinked: false }]);
    for (let hour = 0; hour < 26; hour++) {
      kb.clock.advance(DAY / 24);
      await kb.worker.runUntilIdle();
    }
    expect(await found(kb.anna)).toEqual([]);
    await setInstances([{ providerId: "jira", baseUrl }]);
    for (let hour = 0; hour < 13; hour++) {
      kb.clock.advance(DAY / 24);
      await kb.worker.runUntilIdle();
    }
    expect((await found(kb.anna)).length).toBeGreaterThan(0);
  });

  test("opens nothing to who has no access there any more", async ({ expect }) => {
    const { kb, found, add } = await makeJira();
    expect((await add(kb.anna, "kb-canary-eve")).status).toBe(201);
    expect(await found(kb.anna)).toEqual([]);
  });

  test("goes to a registered instance alone, and not to Cloud", async ({ expect }) => {
    const { kb, jira, baseUrl, add } = await makeJira();
    const cloud = "https://acme.atlassian.net";
    const instances = [baseUrl, cloud].map((each) => ({ providerId: "jira", baseUrl: each }));
    const asked = jira.requests.length;
    for (const elsewhere of [`${baseUrl}/people/eve`, "https://evil.test", baseUrl.replace("127.0.0.1", "localhost")]) {
      expect(await add(kb.anna, "kb-canary-ann", { baseUrl: elsewhere })).toMatchObject({
        status: 422,
        json: { code: "instance_not_trusted", field: "baseUrl" },
      });
    }
    await kb.as(kb.owner).patch("/api/workspace", { instances });
    expect(await add(kb.anna, "kb-canary-ann", { baseUrl: cloud })).toMatchObject({
      status: 422,
      json: { code: "provider_unavailable", field: "baseUrl" },
    });
    expect(jira.requests.length).toBe(asked);
    const { providers } = (await kb.as(kb.anna).get("/api/accounts")).json;
    expect(providers.find((each: { providerId: string }) => each.providerId === "jira")).toMatchObject({
      configured: false,
      setUp: null,
      ownTokens: { instances: [{ baseUrl, url: expect.stringContaining(`${baseUrl}/secure/ViewProfile.jspa`) }] },
    });
    // The only one with such tokens needs no name; where there are two, one has to be told.
    expect((await add(kb.anna, "kb-canary-ann")).status).toBe(201);
    const two = [...instances, { providerId: "jira", baseUrl: "https://jira.test" }];
    await kb.as(kb.owner).patch("/api/workspace", { instances: two });
    expect(await add(kb.anna, "kb-canary-ann")).toMatchObject({ status: 400, json: { field: "baseUrl" } });
  });

  test("is the only way there: no one is sent to it", async ({ expect }) => {
    const { kb } = await makeJira();
    expect(await kb.as(kb.anna).post("/api/accounts/jira/authorize", {})).toMatchObject({
      status: 422,
      json: { code: "account_provider_not_configured", hint: "kb accounts connect jira --token" },
    });
    expect((await kb.as(kb.anna).get("/api/accounts/jira/status")).json).toMatchObject({
      configured: false,
      redirectUrl: null,
    });
    const page = await kb.go(kb.anna, "/api/accounts/jira/authorize", { "sec-fetch-site": "same-origin" });
    expect(page.location).toBe("/settings/accounts?connect=jira");
    const back = await kb.go(kb.anna, "/api/accounts/jira/callback?state=x&code=y");
    expect(back.location).toContain("reason=expired");
  });

  test("of Confluence is its user's, and never no one's", async ({ expect }) => {
    const { world, site, fixture } = await openConfluence("data_center");
    world.tokens.set("kb-canary-ann", world.ids.ann);
    const baseUrl = `http://127.0.0.1:${site.port}`;
    const kb = await makeAccountServer({}, { sources: [fixture.source], hosts: [`127.0.0.1:${site.port}`] });
    await kb.as(kb.owner).patch("/api/workspace", { instances: [{ providerId: "confluence", baseUrl }] });
    const add = (token: string) =>
      kb.as(kb.anna).post("/api/accounts", { providerId: "confluence", credentials: { token } });
    // It answers a request of nobody, too.
    expect((await add("kb-canary-nobody")).status).toBe(502);
    expect(await kb.accountsOf(kb.anna)).toEqual([]);
    const { json } = await add("kb-canary-ann");
    const id = encodeURIComponent(world.ids.ann);
    expect(json.account.principal).toBe(`user:confluence:${encodeURIComponent(baseUrl)}:${id}`);
  });
});
