import { describe, expect, test } from "vitest";
import { isWithin } from "#server/provider-servers/target.ts";
import { makeOAuthServer } from "./auth-server.ts";
import { makeProviderServer, URL_A } from "./server.ts";

const MINUTE_MS = 60_000;

test.each([
  ["https://a.test/mcp", "https://a.test/mcp", true],
  ["https://a.test/mcp", "https://A.test:443/mcp/", true],
  ["https://a.test/mcp/", "https://a.test/mcp", true],
  ["https://a.test/mcp", "https://a.test/mcp/team-1/v2.0", true],
  ["https://a.test/", "https://a.test/any/where", true],
  ["https://a.test/mcp", "https://a.test/mcp2", false],
  ["https://a.test/mcp", "https://a.test/", false],
  ["https://a.test/mcp", "https://a.test/other/mcp", false],
  ["https://a.test/mcp", "https://a.test/MCP", false],
  ["https://a.test/mcp", "https://a.test/mcp/../other", false],
  ["https://a.test/mcp", "https://a.test/mcp/%2e%2e/other", false],
  ["https://a.test/mcp", "https://a.test/mcp/..%2fother", false],
  ["https://a.test/mcp", "https://a.test/mcp/%252e%252e%252fother", false],
  ["https://a.test/mcp", "https://a.test/mcp/..%5cother", false],
  ["https://a.test/mcp", "https://a.test/mcp\\..\\other", false],
  ["https://a.test/mcp", "https://a.test/mcp/..;/other", false],
  ["https://a.test/mcp", "https://a.test/mcp/.../other", false],
  ["https://a.test/mcp", "https://a.test/mcp//other", false],
  ["https://a.test/mcp", "https://a.test/mc%70", false],
  ["https://a.test/mcp", "http://a.test/mcp", false],
  ["https://a.test/mcp", "https://a.test:8443/mcp", false],
  ["https://a.test/mcp", "https://b.test/mcp", false],
  ["https://a.test/mcp?tenant=1", "https://a.test/mcp?tenant=2", false],
])("what is for %s may go to %s: %s", (address, other, may) => {
  expect(isWithin(address, other)).toBe(may);
});

describe("a server", () => {
  const elsewhere = new URL("/other-tenant/mcp", URL_A).href;
  const below = `${URL_A}/v2`;

  test("doesn't move to another path while someone has connected it, and moves below it", async () => {
    const kb = await makeProviderServer();
    const { servers } = kb;
    for (const url of [elsewhere, below]) servers[url] = { seen: [] };
    const { id } = await kb.addServer();
    const { connection } = (await kb.connect(kb.anna, id)).json;
    const move = (url: string) => kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body: { url } });
    const refused = await move(elsewhere);
    expect([refused.status, refused.json.code]).toEqual([409, "server_has_connections"]);
    expect(refused.json.detail).toContain(URL_A);
    const { signal } = new AbortController();
    const session = () => kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connection.id, { signal });
    const before = await session();
    expect((await move(below)).status).toBe(200);
    await session();
    expect(servers[below]?.seen).toEqual([{ authorization: `Bearer good-${kb.anna.userId}` }]);
    // What began above goes on, and not from below to above.
    await before.ping();
    expect((await move(URL_A)).status).toBe(409);
    expect(servers[elsewhere]?.seen).toEqual([]);
  });

  test("at another path loses its secret, and the audit has both addresses", async () => {
    const kb = await makeProviderServer();
    kb.servers[elsewhere] = { seen: [] };
    const { id } = await kb.addServer({ auth: { kind: "bearer", secret: "good-secret" } });
    const move = (body: object) => kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body });
    expect((await move({ url: elsewhere })).json.server.auth.hasSecret).toBe(false);
    const auth = { kind: "bearer", secret: "good-again" };
    expect((await move({ url: URL_A, auth })).json.server.auth.hasSecret).toBe(true);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?limit=3")).json;
    expect(entries.map(({ action, details }: { action: string; details: object }) => [action, details])).toMatchObject([
      ["server.changed", { from: elsewhere, to: URL_A, hasMoved: true, secret: "given" }],
      ["server.changed", { from: URL_A, to: elsewhere, hasMoved: true, secret: "dropped" }],
      ["server.created", { url: URL_A }],
    ]);
  });
});

describe("someone who signs in late", () => {
  const EVIL = "https://evil.test/mcp";

  test("keeps the server in its place until their way back has ended", async () => {
    const kb = await makeOAuthServer();
    kb.servers[EVIL] = { seen: [] };
    const move = () => kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${kb.serverId}`, { body: { url: EVIL } });
    const wait = async (minutes: number) => {
      kb.clock.advance(minutes * MINUTE_MS);
      await kb.worker.runUntilIdle();
    };
    const { intent } = (await kb.intend(kb.anna)).json;
    await wait(9.5);
    const { url, cookie } = await kb.open(kb.anna, intent);
    // The intent alone would have ended.
    await wait(6);
    expect((await move()).json.code).toBe("server_has_connections");
    const location = await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
    await wait(9.5);
    expect((await move()).json.code).toBe("server_has_connections");
    expect((await kb.confirm(kb.anna, location)).json.connection.status).toBe("active");
    expect(kb.servers[EVIL]?.seen).toEqual([]);

    // Who doesn't come back keeps it for ten minutes more, and no longer.
    await kb.as(kb.anna).delete(`${kb.path}/${intent.connectionId}`);
    const second = (await kb.intend(kb.anna)).json.intent;
    await wait(9.5);
    await kb.open(kb.anna, second);
    await wait(9.5);
    expect((await move()).json.code).toBe("server_has_connections");
    await wait(1);
    expect((await move()).status).toBe(200);
  });

  test.each([
    ["before they go", "intent"],
    ["before they come back", "away"],
    ["before they say that it is them", "found"],
  ])("at a server that is another one %s is sent nowhere with what they have", async (_when, stage) => {
    const kb = await makeOAuthServer();
    kb.servers[EVIL] = { seen: [] };
    // However it came there.
    const move = () => kb.store.in(kb.owner.workspaceId).providerServers.update(kb.serverId, { url: EVIL });
    const asked = () => kb.there.asked.map(({ path }: { path: string }) => path);
    const { intent } = (await kb.intend(kb.anna)).json;
    if (stage === "intent") {
      await move();
      const opened = await kb.open(kb.anna, intent);
      expect([opened.status, opened.json.code]).toEqual([422, "connection_failed"]);
      expect(asked()).toEqual([]);
    } else {
      const { url, cookie } = await kb.open(kb.anna, intent);
      if (stage === "away") await move();
      const location = await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
      if (stage === "away") {
        expect(location).toContain("status=failed&reason=server_changed");
        expect(asked()).toEqual(["/register"]);
      } else {
        await move();
        expect((await kb.confirm(kb.anna, location)).json.code).toBe("connection_failed");
        expect(kb.there.holds()).toEqual([]);
      }
    }
    expect(kb.servers[EVIL]?.seen).toEqual([]);
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]?.status).toBe("failed");
  });

  test("at another authorization server than the one they were shown, with an admin's client, redeems no code", async () => {
    const kb = await makeOAuthServer();
    const { providerServers } = kb.store.in(kb.owner.workspaceId);
    const { intent } = (await kb.intend(kb.anna)).json;
    const { url, cookie } = await kb.open(kb.anna, intent);
    await providerServers.update(kb.serverId, { clientId: "another-client" });
    const location = await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
    expect(location).toContain("reason=server_changed");
    expect(kb.there.asked.map(({ path }: { path: string }) => path)).toEqual(["/register"]);
  });
});
