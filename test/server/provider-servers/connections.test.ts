import { describe, test } from "vitest";
import type { TestUser } from "../../helpers.ts";
import { makeProviderServer, URL_A, URL_B } from "./server.ts";

type World = Awaited<ReturnType<typeof makeProviderServer>>;

/** A connector of Anna's on her connection, which was read. */
async function readThrough(kb: World, connectionId: string, user: TestUser = kb.anna) {
  const body = { providerId: "behind", name: "Behind", config: {}, connectionId, access: { visibility: "workspace" } };
  const made = await kb.as(user).post("/api/connectors", body);
  if (made.status !== 201) throw new Error(made.text);
  await kb.worker.runUntilIdle();
  return made.json.connector.id as string;
}

const hits = async (kb: World, user: TestUser) =>
  (await kb.as(user).get("/api/connectors/search?query=alpha")).json.results.length;

describe("who may do what, role by route by owner", () => {
  // Of Anna's private connection. 404 = they may not know of it.
  test.for([
    ["anna", "test", 200],
    ["ben", "test", 404],
    ["admin", "test", 403],
    ["stranger", "test", 404],
    ["anna", "narrow", 200],
    ["ben", "narrow", 404],
    ["admin", "narrow", 200],
    ["stranger", "narrow", 404],
    ["anna", "widen", 200],
    ["ben", "widen", 404],
    ["admin", "widen", 403],
    ["stranger", "widen", 404],
    ["anna", "disconnect", 202],
    ["ben", "disconnect", 404],
    ["admin", "disconnect", 202],
    ["stranger", "disconnect", 404],
    ["anna", "build", 201],
    ["ben", "build", 422],
    ["admin", "build", 422],
    ["anna", "list", 1],
    ["ben", "list", 0],
    ["admin", "list", 1],
    ["anna", "testServer", 403],
    ["admin", "testServer", 200],
    ["anna", "change", 403],
    ["admin", "change", 200],
    ["stranger", "change", 404],
    ["anna", "delete", 403],
    ["admin", "delete", 202],
    ["anna", "add", 403],
    ["anna", "testUnsaved", 403],
    ["anna", "health", 200],
    ["stranger", "health", 404],
    ["anna", "apps", 200],
    ["stranger", "apps", 404],
    ["stranger", "connect", 404],
  ] as const)("%s: %s is %i", async ([who, what, expected], { expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    const { json } = await kb.connect(kb.anna, id);
    const at = `/api/mcp-servers/${id}`;
    const connection = `${at}/connections/${json.connection.id}`;
    const as = kb.as(kb[who]);
    const acts = {
      test: () => as.post(`${at}/connection-tests`, { connectionId: json.connection.id }),
      narrow: () => as.request("PATCH", `${connection}/access`, { body: { visibility: "private" } }),
      widen: () => as.request("PATCH", `${connection}/access`, { body: { visibility: "workspace" } }),
      disconnect: () => as.request("DELETE", connection),
      build: () =>
        as.post("/api/connectors", {
          providerId: "behind",
          name: "B",
          config: {},
          connectionId: json.connection.id,
          access: { visibility: "private" },
        }),
      list: () => as.get(`${at}/connections`),
      testServer: () => as.post(`${at}/connection-tests`, {}),
      change: () => as.request("PATCH", at, { body: { name: "New" } }),
      delete: () => as.request("DELETE", at),
      add: () => as.post("/api/mcp-servers", { name: "X", url: URL_B, auth: { kind: "none" } }),
      testUnsaved: () => as.post("/api/mcp-servers/connection-tests", { url: URL_B, auth: { kind: "none" } }),
      health: () => as.get(`${at}/health`),
      apps: () => as.get(`${at}/apps`),
      connect: () => as.post(`${at}/connections`, { app: "notes", credentials: { token: "good" } }),
    };
    const answer = await acts[what]();
    expect(what === "list" ? answer.json.connections.length : answer.status, answer.text).toBe(expected);
  });

  test("connecting is for admins where its policy says so, and for no one where it is off", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer({ connectPolicy: "admins" });
    expect((await kb.connect(kb.anna, id)).status).toBe(403);
    expect((await kb.connect(kb.admin, id)).status).toBe(201);
    await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body: { enabled: false } });
    expect((await kb.connect(kb.anna, id)).status).toBe(404);
    expect((await kb.connect(kb.admin, id)).json.code).toBe("server_disabled");
    expect((await kb.connectionsOf(kb.admin, id))[0].status).toBe("disabled");
  });

  test("the server's own secret connects admins alone", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer({ auth: { kind: "bearer", secret: "good-own" } });
    const without = { credentials: undefined };
    expect((await kb.connect(kb.anna, id, without)).json).toMatchObject({ code: "connection_failed" });
    expect((await kb.connect(kb.admin, id, without)).status).toBe(201);
    expect(kb.servers[URL_A]?.seen.at(-1)).toEqual({ authorization: "Bearer good-own" });
  });
});

describe("a connection", () => {
  test("is tried before it is kept, with a secret that no one sees again", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    const refused = await kb.connect(kb.anna, id, { credentials: { token: "bad-planted" } });
    expect([refused.status, refused.json.code, refused.json.field]).toEqual([
      422,
      "connection_failed",
      "credentials.token",
    ]);
    expect(await kb.connectionsOf(kb.anna, id)).toEqual([]);
    const made = await kb.connect(kb.anna, id, { credentials: { token: "good-planted" } });
    expect(made.json.connection).toMatchObject({
      status: "active",
      isMine: true,
      account: null,
      access: { visibility: "private" },
    });
    expect(`${made.text} ${await kb.everything()}`).not.toContain("planted");
  });

  test("shared, is searched by others from the next request on, and used by no one else", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    const { json } = await kb.connect(kb.anna, id);
    const connectionId = json.connection.id as string;
    await readThrough(kb, connectionId);
    expect([await hits(kb, kb.anna), await hits(kb, kb.ben), await hits(kb, kb.admin)]).toEqual([1, 0, 0]);
    const set = (user: TestUser, body: object) =>
      kb.as(user).request("PATCH", `/api/mcp-servers/${id}/connections/${connectionId}/access`, { body });
    const widened = await set(kb.anna, { visibility: "members", memberIds: [kb.ben.userId] });
    expect(widened.json).toMatchObject({
      connection: { access: { visibility: "members" } },
      warnings: [expect.any(String)],
    });
    expect([await hits(kb, kb.anna), await hits(kb, kb.ben), await hits(kb, kb.admin)]).toEqual([1, 1, 0]);
    const [seen] = await kb.connectionsOf(kb.ben, id);
    expect(seen).toMatchObject({ isMine: false, account: null, access: { memberIds: [] }, lastUsedAt: null });
    const body = { providerId: "behind", name: "B", config: {}, connectionId, access: { visibility: "workspace" } };
    expect((await kb.as(kb.ben).post("/api/connectors", body)).status).toBe(422);
    const actor = await kb.actor(kb.ben);
    const wish = { signal: new AbortController().signal, actor } as const;
    await expect(kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connectionId, wish)).rejects.toThrow(/ID/);
    expect((await set(kb.ben, { visibility: "workspace" })).status).toBe(403);
    expect((await set(kb.admin, { visibility: "private" })).status).toBe(200);
    expect([await hits(kb, kb.anna), await hits(kb, kb.ben)]).toEqual([1, 0]);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connection.access_changed")).json;
    expect(entries.map((entry: { details: { isWidened: boolean } }) => entry.details.isWidened)).toEqual([false, true]);
  });

  test("stays the connection of a connector for good", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    const first = (await kb.connect(kb.anna, id)).json.connection.id;
    const second = (await kb.connect(kb.anna, id)).json.connection.id;
    const connectorId = await readThrough(kb, first);
    const change = (body: object) => kb.as(kb.anna).request("PATCH", `/api/connectors/${connectorId}`, { body });
    expect((await change({ connectionId: second })).json).toMatchObject({ code: "connector_config_invalid" });
    expect((await change({ config: {} })).status).toBe(200);
    expect(await hits(kb, kb.anna)).toBe(1);
  });

  test("that its server no longer accepts waits for its owner, and what was read through it is withheld", async ({
    expect,
  }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    const connectionId = (await kb.connect(kb.anna, id)).json.connection.id as string;
    await readThrough(kb, connectionId);
    const world = kb.servers[URL_A];
    if (world) world.accepts = () => false;
    const wish = { signal: new AbortController().signal } as const;
    await expect(kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connectionId, wish)).rejects.toThrow();
    expect((await kb.connectionsOf(kb.anna, id))[0]).toMatchObject({ status: "needs_reauth", statusReason: "refused" });
    expect(await hits(kb, kb.anna)).toBe(0);
    const asked = world?.seen.length;
    await expect(kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connectionId, wish)).rejects.toThrow();
    expect(world?.seen.length).toBe(asked);
    const [connector] = (await kb.as(kb.anna).get("/api/connectors/mine")).json.connectors;
    expect(connector.state).toBe("needs_reauth");
  });
});

describe("the end of a connection", () => {
  const ends = {
    disconnected: (kb: World, id: string, connectionId: string) =>
      kb.as(kb.anna).request("DELETE", `/api/mcp-servers/${id}/connections/${connectionId}`),
    "disconnected by an admin": (kb: World, id: string, connectionId: string) =>
      kb.as(kb.admin).request("DELETE", `/api/mcp-servers/${id}/connections/${connectionId}`),
    "its server deleted": (kb: World, id: string) => kb.as(kb.admin).request("DELETE", `/api/mcp-servers/${id}`),
    "its owner removed": (kb: World) => kb.as(kb.admin).request("DELETE", `/api/workspace/members/${kb.anna.userId}`),
  };

  test.for(Object.keys(ends) as (keyof typeof ends)[])(
    "%s: its secret is gone at once, its items are hidden, then purged",
    async (end, { expect }) => {
      const kb = await makeProviderServer();
      const { id } = await kb.addServer();
      const connectionId = (await kb.connect(kb.anna, id)).json.connection.id as string;
      await kb.as(kb.anna).request("PATCH", `/api/mcp-servers/${id}/connections/${connectionId}/access`, {
        body: { visibility: "workspace" },
      });
      await readThrough(kb, connectionId);
      expect(await hits(kb, kb.ben)).toBe(1);
      const session = await kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connectionId, {
        signal: new AbortController().signal,
      });
      expect((await ends[end](kb, id, connectionId)).status).toBeLessThan(300);
      expect(await hits(kb, kb.ben)).toBe(0);
      expect(await kb.database.read.selectFrom("connection_secrets").selectAll().execute()).toEqual([]);
      // A conversation that goes on is signed no more.
      const asked = kb.servers[URL_A]?.seen.length;
      await expect(session.ping()).rejects.toThrow();
      expect(kb.servers[URL_A]?.seen.length).toBe(asked);
      await kb.worker.runUntilIdle();
      expect(await kb.database.read.selectFrom("items").selectAll().execute()).toEqual([]);
      expect(await kb.database.read.selectFrom("connectors").selectAll().execute()).toEqual([]);
      const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connection.revoked")).json;
      expect(entries).toMatchObject([{ targetType: "connection", targetId: connectionId }]);
      const list = await kb.as(kb.admin).get(`/api/mcp-servers/${id}/connections`);
      expect(list.json.connections ?? []).toEqual([]);
    },
  );

  test("of a member who was named leaves them out for good", async ({ expect }) => {
    const kb = await makeProviderServer();
    const { id } = await kb.addServer();
    const connectionId = (await kb.connect(kb.anna, id)).json.connection.id as string;
    const body = { visibility: "members", memberIds: [kb.ben.userId] };
    await kb.as(kb.anna).request("PATCH", `/api/mcp-servers/${id}/connections/${connectionId}/access`, { body });
    await kb.as(kb.admin).request("DELETE", `/api/workspace/members/${kb.ben.userId}`);
    expect((await kb.connectionsOf(kb.anna, id))[0].access.memberIds).toEqual([]);
  });
});

test("what ends while its server is asked is not begun", async ({ expect }) => {
  const kb = await makeProviderServer();
  const { id } = await kb.addServer();
  const world = kb.servers[URL_A];
  if (!world) throw new Error("There is such a server.");
  world.meanwhile = () => kb.as(kb.admin).request("DELETE", `/api/workspace/members/${kb.anna.userId}`);
  expect((await kb.connect(kb.anna, id)).status).toBe(404);
  world.meanwhile = () => kb.as(kb.admin).request("DELETE", `/api/mcp-servers/${id}`);
  expect((await kb.connect(kb.ben, id)).json.code).toBe("connection_failed");
  expect(await kb.database.read.selectFrom("connections").selectAll().execute()).toEqual([]);
  expect(await kb.database.read.selectFrom("connection_secrets").selectAll().execute()).toEqual([]);
});

test("no connector is built on a connection that is revoked while its source is checked", async ({ expect }) => {
  const kb = await makeProviderServer();
  const { id } = await kb.addServer();
  const connectionId = (await kb.connect(kb.anna, id)).json.connection.id as string;
  kb.behind.check = async () => {
    await kb.as(kb.admin).request("DELETE", `/api/mcp-servers/${id}/connections/${connectionId}`);
    return { ok: true };
  };
  const body = { providerId: "behind", name: "B", config: {}, connectionId, access: { visibility: "private" } };
  expect((await kb.as(kb.anna).post("/api/connectors", body)).json.code).toBe("connector_config_invalid");
  expect(await kb.database.read.selectFrom("connectors").selectAll().execute()).toEqual([]);
});

test("a connection on the server's own secret is lost with it", async ({ expect }) => {
  const kb = await makeProviderServer();
  const { id } = await kb.addServer({ auth: { kind: "bearer", secret: "good-own" } });
  const { json } = await kb.connect(kb.admin, id, { credentials: undefined });
  const body = { auth: { kind: "bearer", secret: null } };
  await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${id}`, { body });
  const wish = { signal: new AbortController().signal } as const;
  const asked = kb.servers[URL_A]?.seen.length;
  await expect(kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, json.connection.id, wish)).rejects.toThrow();
  expect(kb.servers[URL_A]?.seen.length).toBe(asked);
  const [lost] = await kb.connectionsOf(kb.admin, id);
  expect(lost).toMatchObject({ status: "needs_reauth", statusReason: "secret_missing" });
});

test("two people on one server see nothing of each other's connections", async ({ expect }) => {
  const kb = await makeProviderServer();
  const { id } = await kb.addServer();
  const views = async () => {
    const paths = ["", `/${id}/health`, `/${id}/apps`, `/${id}/connections`];
    const texts: string[] = [];
    for (const path of paths) texts.push((await kb.as(kb.ben).get(`/api/mcp-servers${path}`)).text);
    return texts;
  };
  await kb.connect(kb.ben, id);
  const before = await views();
  const connectionId = (await kb.connect(kb.anna, id)).json.connection.id as string;
  await readThrough(kb, connectionId);
  expect(await views()).toEqual(before);
  const unknown = await kb.as(kb.ben).request("DELETE", `/api/mcp-servers/${id}/connections/cnx_2222222222222222`);
  const hers = await kb.as(kb.ben).request("DELETE", `/api/mcp-servers/${id}/connections/${connectionId}`);
  const plain = ({ status, json }: typeof hers) => ({ status, ...json, requestId: "" });
  expect(plain(hers)).toEqual(plain(unknown));
});
