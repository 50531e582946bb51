import { describe, test } from "vitest";
import { McpProblem } from "#mcp-client/problem.ts";
import { makeProviderServer, URL_A, URL_B } from "./server.ts";

describe("a provider server", () => {
  test("is added after its test, and shows no secret", async ({ expect }) => {
    const kb = await makeProviderServer();
    const body = { name: "Notes", url: URL_A, auth: { kind: "bearer", secret: "good-own-secret" } };
    const made = await kb.as(kb.admin).post("/api/mcp-servers", body);
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      server: {
        url: URL_A,
        auth: { kind: "bearer", hasSecret: true },
        enabled: true,
        connectPolicy: "members",
        health: { status: "healthy" },
        serverInfo: { name: "fake", version: "1" },
        protocolVersion: "2025-11-25",
        counts: { apps: 1, connections: 0, connectors: 0 },
      },
      test: { ok: true, steps: [{ step: "initialize" }, { step: "auth" }, { step: "tools" }, { step: "resources" }] },
    });
    expect(made.text).not.toContain("own-secret");
    expect(await kb.everything()).not.toContain("own-secret");
    const again = await kb.as(kb.admin).post("/api/mcp-servers", { ...body, url: `${URL_A}/` });
    expect([again.status, again.json.code]).toEqual([409, "server_exists"]);
  });

  test("that fails its test is stored only by force, and is down", async ({ expect }) => {
    const kb = await makeProviderServer();
    const body = { name: "Gone", url: "https://gone.test/mcp", auth: { kind: "none" } };
    const refused = await kb.as(kb.admin).post("/api/mcp-servers", body);
    expect([refused.status, refused.json.code]).toEqual([422, "server_check_failed"]);
    expect((await kb.as(kb.admin).get("/api/mcp-servers")).json.servers).toEqual([]);
    const forced = await kb.as(kb.admin).post("/api/mcp-servers", { ...body, force: true });
    expect(forced.json).toMatchObject({
      server: { health: { status: "down" } },
      test: { ok: false, steps: [{ ok: false, problem: { step: "connect", code: "unreachable" } }] },
    });
  });

  test("of which the secret is wrong fails, and one that asks each person is fine without", async ({ expect }) => {
    const kb = await makeProviderServer();
    const tryIt = async (auth: object) =>
      (await kb.as(kb.admin).post("/api/mcp-servers/connection-tests", { url: URL_A, auth })).json;
    expect(await tryIt({ kind: "bearer", secret: "bad" })).toMatchObject({
      ok: false,
      authRequired: { scopes: ["read"] },
    });
    expect(await tryIt({ kind: "bearer" })).toMatchObject({ ok: true, steps: [{ step: "auth", ok: true }] });
    expect(await tryIt({ kind: "none" })).toMatchObject({ ok: false });
    expect(await tryIt({ kind: "bearer", secret: "good" })).toMatchObject({ ok: true });
    expect((await kb.as(kb.admin).get("/api/mcp-servers")).json.servers).toEqual([]);
  });

  test.for([
    ["another scheme", "http://mcp.a.test/mcp"],
    ["another host", URL_B],
    ["another port", "https://mcp.a.test:444/mcp"],
  ] as const)("at %s loses its secret, and keeps one that comes along", async ([, url], { expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer({ auth: { kind: "bearer", secret: "good" } });
    const patch = (body: object) => kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body });
    expect((await patch({ url: `${URL_A}/v2` })).json.server.auth.hasSecret).toBe(true);
    expect((await patch({ url })).json.server).toMatchObject({
      auth: { hasSecret: false },
      health: { status: "unknown" },
    });
    const auth = { kind: "bearer", secret: "good-new" };
    expect((await patch({ url: URL_A, auth })).json.server.auth.hasSecret).toBe(true);
  });

  test("doesn't move while people have connected it", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    expect((await kb.connect(kb.anna, id)).status).toBe(201);
    for (const body of [
      { url: URL_B },
      { auth: { kind: "none" } },
      { auth: { kind: "header", headerName: "X-Key" } },
    ]) {
      const refused = await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body });
      expect([refused.status, refused.json.code]).toEqual([409, "server_has_connections"]);
    }
    const renamed = await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body: { name: "Other" } });
    expect(renamed.json.server.name).toBe("Other");
  });

  test.for(["https://u:p@a.test/", "https://a.test/?key=1", "file:///etc/passwd", "stdio", "https://a.test/#x"])(
    "is not at %s",
    async (url, { expect }) => {
      const kb = await makeProviderServer();
      const body = { name: "X", url, auth: { kind: "none" }, force: true };
      const refused = await kb.as(kb.admin).post("/api/mcp-servers", body);
      expect([refused.status, refused.json.code]).toEqual([422, "server_config_invalid"]);
    },
  );

  test("can't be signed in to by a header of HTTP or MCP", async ({ expect }) => {
    const kb = await makeProviderServer();
    for (const headerName of ["Host", "Cookie", "Mcp-Session-Id", "Content-Length", "KB-Hops"]) {
      const body = { url: URL_B, auth: { kind: "header", headerName, secret: "x" } };
      expect((await kb.as(kb.admin).post("/api/mcp-servers/connection-tests", body)).status).toBe(422);
    }
    const body = { url: URL_B, auth: { kind: "header", headerName: "X-Api-Key", secret: "x" } };
    expect((await kb.as(kb.admin).post("/api/mcp-servers/connection-tests", body)).json.ok).toBe(true);
    expect(kb.servers[URL_B]?.seen.at(-1)).toEqual({ "X-Api-Key": "x" });
  });

  test("says steps and codes of a failure, and nothing that it answered", async ({ expect }) => {
    const kb = await makeProviderServer();
    const cause = new Error("<html>canary-body</html>");
    const world = kb.servers[URL_B];
    if (world) world.problem = new McpProblem({ step: "initialize", code: "not_mcp", cause });
    const { text } = await kb
      .as(kb.admin)
      .post("/api/mcp-servers/connection-tests", { url: URL_B, auth: { kind: "none" } });
    expect(text).toContain("not_mcp");
    expect(text).not.toContain("canary");
  });
});

describe("the health of a provider server", () => {
  test("is probed again and again, more seldom the longer it is down", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer({ url: URL_B, auth: { kind: "none" } });
    const world = kb.servers[URL_B];
    if (!world) throw new Error("There is such a server.");
    world.problem = new McpProblem({ step: "connect", code: "unreachable" });
    const health = async () => (await kb.as(kb.anna).get(`/api/mcp-servers/${id}/health`)).json;
    const probes: number[] = [];
    const began = kb.clock.now();
    for (let minute = 0; minute < 60; minute++) {
      kb.clock.advance(60_000);
      const before = world.seen.length;
      await kb.worker.runUntilIdle();
      if (world.seen.length > before) probes.push(Math.round((kb.clock.now() - began) / 60_000));
    }
    expect(probes).toEqual([5, 10, 20, 40]);
    expect(await health()).toMatchObject({
      status: "down",
      consecutiveFailures: 4,
      lastProblem: { step: "connect", code: "unreachable" },
      connections: { active: 0, needsReauth: 0, failed: 0 },
    });
    delete world.problem;
    kb.clock.advance(60 * 60_000);
    await kb.worker.runUntilIdle();
    expect(await health()).toMatchObject({ status: "healthy", consecutiveFailures: 0, lastProblem: null });
    await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body: { enabled: false } });
    const asked = world.seen.length;
    kb.clock.advance(24 * 60 * 60_000);
    await kb.worker.runUntilIdle();
    expect(world.seen.length).toBe(asked);
    expect((await kb.as(kb.anna).get(`/api/mcp-servers/${id}/health`)).status).toBe(404);
  });
});

test("apps of a server are itself, found by name, with what is to be filled in", async ({ expect }) => {
  const kb = await makeProviderServer();
  const { id } = await kb.addServer({ name: "Team Notes" });
  const apps = async (query = "") => (await kb.as(kb.anna).get(`/api/mcp-servers/${id}/apps${query}`)).json.apps;
  expect(await apps("?q=team")).toMatchObject([
    {
      slug: "team-notes",
      name: "Team Notes",
      iconUrl: null,
      auth: ["api_key"],
      fields: { required: ["token"] },
      connected: { mine: 0, shared: 0 },
    },
  ]);
  expect(await apps("?q=nothing")).toEqual([]);
  await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body: { apps: [] } });
  expect(await apps()).toEqual([]);
  expect((await kb.connect(kb.anna, id, { app: "team-notes" })).json.code).toBe("app_unknown");
});
