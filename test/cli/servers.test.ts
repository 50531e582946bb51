import { describe, test } from "vitest";
import { kb, makeWorld, problem, type FakeWorld } from "./fakes.ts";

const SRV = "srv_2222222222222222";
const CNX = "cnx_2222222222222222";
const TESTED = {
  ok: true,
  steps: [
    { step: "initialize", ok: true, ms: 42 },
    { step: "tools", ok: true, ms: 8 },
  ],
  serverInfo: { name: "notes", title: "Notes", version: "2.1.0" },
  protocolVersion: "2025-11-25",
  capabilities: { tools: true, resources: true, subscribe: false, listChanged: false, completions: false },
};
const REFUSED = {
  ok: false,
  steps: [
    {
      step: "connect",
      ok: false,
      ms: 12,
      problem: { step: "connect", code: "unreachable", message: "The server can't be reached." },
    },
  ],
};
const server = {
  id: SRV,
  name: "Notes",
  url: "https://mcp.example.org/mcp",
  auth: { kind: "bearer", hasSecret: false },
  enabled: true,
  connectPolicy: "members",
  apps: null,
  health: { status: "healthy", checkedAt: "2026-11-21T09:30:00.000Z" },
  serverInfo: TESTED.serverInfo,
  protocolVersion: TESTED.protocolVersion,
  capabilities: TESTED.capabilities,
  counts: { apps: 1, connections: 2, connectors: 0 },
  createdAt: "2026-11-20T09:30:00.000Z",
  createdBy: { id: "usr_2222222222222222", name: "Anna" },
};
const app = {
  slug: "notes",
  name: "Notes",
  description: "Notes 2.1.0",
  iconUrl: null,
  categories: [],
  auth: ["api_key"],
  fields: { type: "object", properties: { token: { type: "string" } }, required: ["token"] },
  content: { resources: true, search: false, fetch: false },
  connected: { mine: 1, shared: 1 },
};
const connection = {
  id: CNX,
  serverId: SRV,
  app: "notes",
  name: "Notes",
  account: null,
  owner: { id: "usr_2222222222222222", name: "Anna" },
  isMine: true,
  status: "active",
  statusReason: null,
  access: { visibility: "private", memberIds: [], groupIds: [] },
  scopes: [],
  elicitation: null,
  tools: [],
  agreement: null,
  expiresAt: null,
  lastUsedAt: null,
  lastCheckedAt: "2026-11-21T09:30:00.000Z",
  createdAt: "2026-11-21T09:30:00.000Z",
};
const ofBo = {
  ...connection,
  id: "cnx_3333333333333333",
  owner: { id: "usr_3333333333333333", name: "Bo" },
  isMine: false,
};

const listing = (connections: readonly object[]) => ({ body: { connections, nextCursor: null } });
const CONNECTIONS = `/api/mcp-servers/${SRV}/connections`;

const world = (routes: FakeWorld["routes"] = {}, more: Partial<FakeWorld> = {}) =>
  makeWorld({
    routes: {
      "GET /api/mcp-servers": { body: { servers: [server], nextCursor: null } },
      [`GET /api/mcp-servers/${SRV}/apps`]: { body: { apps: [app], nextCursor: null } },
      [`GET ${CONNECTIONS}`]: listing([connection, ofBo]),
      ...routes,
    },
    ...more,
  });

describe("kb servers", () => {
  test("list and show tell how a server is, and never a secret", async ({ expect }) => {
    const { stdout } = await kb(world(), "servers", "list");
    expect(stdout).toMatch(/srv_2{16}\tNotes\thttps:\/\/mcp\.example\.org\/mcp\thealthy\t2\t0/);
    const shown = await kb(world(), "servers", "show", "notes");
    expect(shown.stdout).toContain("offers\ttools and resources");
    expect(shown.stdout).toContain("can connect\tevery member");
    expect((await kb(world(), "servers", "show", "Nots")).stderr).toContain('Did you mean "Notes"?');
  });

  test("add takes the secret by reference, and gives the id", async ({ expect }) => {
    const here = world(
      { "POST /api/mcp-servers": { status: 201, body: { server, test: TESTED } } },
      { env: { KB_URL: "https://kb.test", KB_TOKEN: "kb_pat_0123456789abcdef", NOTES: "kb-canary-token" } },
    );
    const url = "https://mcp.example.org/mcp";
    const { code, stdout, stderr } = await kb(here, "servers", "add", url, "--secret", "env:NOTES");
    expect([code, stdout.trim()]).toEqual([0, SRV]);
    expect(here.sent.at(-1)?.body).toEqual({
      name: "mcp.example.org",
      url,
      auth: { kind: "bearer", secret: "kb-canary-token" },
    });
    expect(stdout + stderr).not.toContain("canary");
    const header = await kb(here, "servers", "add", url, "--header", "X-Key", "--auth", "bearer");
    expect([header.code, header.stderr]).toEqual([2, "kb: --header requires --auth header.\n"]);
    expect((await kb(here, "servers", "add", url, "--auth", "header")).code).toBe(2);
  });

  test("add says which step failed, with or without --force", async ({ expect }) => {
    const refused = world({
      "POST /api/mcp-servers": problem(422, "server_check_failed", "The server can't be reached."),
    });
    const { code, stderr } = await kb(refused, "servers", "add", "https://mcp.example.org/mcp");
    expect(code).toBe(2);
    expect(stderr).toContain("The server can't be reached.");
    const forced = world({ "POST /api/mcp-servers": { status: 201, body: { server, test: REFUSED } } });
    const run = await kb(forced, "servers", "add", "https://mcp.example.org/mcp", "--name", "Notes", "--force");
    expect([run.code, forced.sent.at(-1)?.body]).toMatchObject([0, { name: "Notes", force: true }]);
    expect(run.stderr).toContain("Its test failed at connect: The server can't be reached.");
  });

  test("test tries a URL without storing it, a server as it is, or one's own connection", async ({ expect }) => {
    const here = world({
      "POST /api/mcp-servers/connection-tests": { body: REFUSED },
      [`POST /api/mcp-servers/${SRV}/connection-tests`]: { body: TESTED },
    });
    const unsaved = await kb(here, "servers", "test", "https://new.example.org/mcp");
    expect([unsaved.code, unsaved.stdout]).toEqual([1, "connect\tfailed\t12\tThe server can't be reached.\n"]);
    expect(here.sent.at(-1)?.body).toEqual({ url: "https://new.example.org/mcp", auth: { kind: "none" } });
    const stored = await kb(here, "servers", "test", server.url);
    expect([stored.code, here.sent.at(-1)?.body]).toEqual([0, {}]);
    expect(stored.stderr).toBe("It is Notes 2.1.0, MCP 2025-11-25, offers tools and resources.\n");
    await kb(here, "servers", "test", "--connection", "notes");
    expect(here.sent.at(-1)?.body).toEqual({ connectionId: CNX });
    expect((await kb(here, "servers", "test")).code).toBe(2);
  });

  test("tools, preview, map and unmap: one role at a time, values typed by the tool's schema", async ({ expect }) => {
    const TOOLS = `/api/mcp-servers/${SRV}/tools`;
    const mapping = { list: { tool: "list_notes", args: {} } };
    const field = (name: string, type: string, isRequired = true) => ({ name, type, isRequired });
    const tools = {
      tools: [
        { name: "list_notes", isReadOnly: true, arguments: [field("limit", "integer", false)] },
        { name: "find", isReadOnly: false, arguments: [field("words", "string"), field("all", "boolean", false)] },
      ],
      leftOut: 1,
      mapping,
      faults: [{ role: "list", tool: "list_notes", reason: "tool_changed" }],
    };
    const here = world({
      [`GET ${TOOLS}`]: { body: tools },
      [`POST /api/mcp-servers/${SRV}/mapping/previews`]: { body: { entries: [{ id: "n1", title: "Note one" }] } },
      [`PUT /api/mcp-servers/${SRV}/mapping`]: { body: tools },
    });
    const listed = await kb(here, "servers", "tools", "notes");
    expect(listed.stdout).toContain("list_notes\tlist\tonly reads\t[limit]");
    expect(listed.stdout).toContain("find\t\tmay change things\twords, [all]");
    expect(listed.stderr).toContain("Not used to list any more: list_notes has changed");
    const seen = await kb(here, "servers", "preview", "notes", "search", "find", "plan", "--set", "all=true");
    expect(seen.stdout).toContain("n1\tNote one");
    const find = { tool: "find", args: { all: true }, argument: "words" };
    expect(here.sent.at(-1)?.body).toEqual({ role: "search", ...find, value: "plan" });
    const mapped = await kb(here, "servers", "map", "notes", "search", "find", "--set", "all=true");
    expect([mapped.code, mapped.stderr]).toEqual([0, "Notes: find is used to search.\n"]);
    expect(here.sent.at(-1)?.body).toEqual({ mapping: { ...mapping, search: find } });
    await kb(here, "servers", "map", "notes", "list", "list_notes", "--set", "limit=50", "--connection", "notes");
    expect(here.sent.at(-1)?.body).toEqual({
      mapping: { list: { tool: "list_notes", args: { limit: 50 } } },
      connectionId: CNX,
    });
    await kb(here, "servers", "unmap", "notes");
    expect(here.sent.at(-1)?.body).toEqual({ mapping: null });
    expect((await kb(here, "servers", "map", "notes", "search", "fnd")).stderr).toContain('Did you mean "find"?');
    expect((await kb(here, "servers", "map", "notes", "write", "find")).code).toBe(2);
  });

  test("agree shows each call with all that goes along, and agrees to exactly that", async ({ expect }) => {
    const call = { role: "list", tool: "share", args: { with: "a@b.test" }, argument: "at", isReadOnly: false };
    const waiting = {
      ...connection,
      status: "needs_agreement",
      tools: [{ ...call, isAgreed: false }],
      agreement: "xyz",
    };
    const here = world({
      [`GET ${CONNECTIONS}`]: listing([waiting]),
      [`POST ${CONNECTIONS}/${CNX}/agreement`]: { body: { connection } },
    });
    const refused = await kb(here, "servers", "agree", "notes");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('list: share(with="a@b.test", at=…), may change things, new to you');
    const agreed = await kb(here, "servers", "agree", "notes", "--yes");
    expect(agreed.code, agreed.stderr).toBe(0);
    expect(here.sent.at(-1)?.body).toEqual({ agreement: "xyz" });
    const others = world({ [`GET ${CONNECTIONS}`]: listing([{ ...ofBo, tools: [], agreement: null }]) });
    expect((await kb(others, "servers", "agree", "notes")).stderr).toContain("Only its owner, Bo, can agree.");
  });

  test("test says how people sign in where the server asks for it", async ({ expect }) => {
    const asks = {
      ok: false,
      steps: [],
      authRequired: { authorizationServers: ["https://id.example.org"], scopes: [] },
    };
    const here = world({ "POST /api/mcp-servers/connection-tests": { body: asks } });
    const { stderr } = await kb(here, "servers", "test", "https://new.example.org/mcp");
    expect(stderr).toContain("It asks you to sign in at https://id.example.org: try --auth oauth.");
  });

  test("test says what in the server's OAuth metadata isn't usable", async ({ expect }) => {
    const message = "The metadata names the resource https://b.example/mcp, but the server is https://a.example/mcp.";
    const problem = { step: "auth", code: "authorization_unusable", message };
    const body = { ok: true, steps: [], authRequired: { authorizationServers: [], scopes: [], problem } };
    const here = world({ "POST /api/mcp-servers/connection-tests": { body } });
    const { stderr } = await kb(here, "servers", "test", "https://a.example/mcp", "--auth", "oauth");
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("Each person signs in");
  });

  test("health tells what was found, and when it is looked at again", async ({ expect }) => {
    const here = world({
      [`GET /api/mcp-servers/${SRV}/health`]: {
        body: {
          status: "down",
          checkedAt: "2026-11-21T09:30:00.000Z",
          latencyMs: null,
          consecutiveFailures: 3,
          lastProblem: REFUSED.steps[0]?.problem,
          nextCheckAt: "2026-11-21T09:50:00.000Z",
          connections: { active: 1, needsReauth: 0, failed: 0 },
        },
      },
    });
    const { stdout } = await kb(here, "servers", "health", "notes");
    expect(stdout).toContain("last problem\tThe server can't be reached. (unreachable)");
    expect(stdout).toContain("next probe\t2026-11-21 09:50");
  });

  test("update keeps the kind that the server has, and drops a secret only when told", async ({ expect }) => {
    const here = world({ [`PATCH /api/mcp-servers/${SRV}`]: { body: { server } } }, { stdin: "new-token\n" });
    await kb(here, "servers", "update", "notes", "--secret", "-");
    expect(here.sent.at(-1)?.body).toEqual({ auth: { kind: "bearer", secret: "new-token" } });
    await kb(here, "servers", "update", "notes", "--drop-secret");
    expect(here.sent.at(-1)?.body).toEqual({ auth: { kind: "bearer", secret: null } });
    await kb(here, "servers", "update", "notes", "--all-apps", "--disable", "--connect", "admins");
    expect(here.sent.at(-1)?.body).toEqual({ apps: null, enabled: false, connectPolicy: "admins" });
    expect((await kb(here, "servers", "update", "notes")).code).toBe(2);
    expect((await kb(here, "servers", "update", "notes", "--enable", "--disable")).code).toBe(2);
  });

  test("update says when the secret did not go along to another host", async ({ expect }) => {
    const known = { ...server, auth: { kind: "bearer", hasSecret: true } };
    const here = world({
      "GET /api/mcp-servers": { body: { servers: [known], nextCursor: null } },
      [`PATCH /api/mcp-servers/${SRV}`]: { body: { server } },
    });
    const url = "https://other.example.org/mcp";
    const { stderr } = await kb(here, "servers", "update", "notes", "--server-url", url);
    expect(here.sent.at(-1)?.body).toEqual({ url });
    expect(stderr).toContain("Its secret was for mcp.example.org, so it was deleted.");
  });

  describe("name the redirect URL to register at the provider", () => {
    const redirectUrl = "https://kb.test/api/mcp-servers/callback/abcdefghijklmnop";
    const needing = { ...TESTED, authRequired: { authorizationServers: [], scopes: [], needsClient: true } };
    const oauth = { ...server, auth: { kind: "oauth", hasSecret: false, redirectUrl } };
    const withClient = (clientId: string, at = redirectUrl) => ({
      ...oauth,
      auth: { ...oauth.auth, clientId, redirectUrl: at },
    });
    const list = (one: object) => ({ "GET /api/mcp-servers": { body: { servers: [one], nextCursor: null } } });
    const add = async (made: object, test: object) => {
      const here = world({ "POST /api/mcp-servers": { status: 201, body: { server: made, test } } });
      return kb(here, "servers", "add", server.url, "--auth", "oauth");
    };

    test("before there is a client", async ({ expect }) => {
      const { stdout, stderr } = await add(oauth, needing);
      expect(stdout).toBe(`${SRV}\n`);
      expect(stderr).toContain(
        `Server "Notes" is added.\nThe provider doesn't let clients register themselves. Register kb there with the redirect URL ${redirectUrl}, then: kb servers update ${SRV} --client-id CLIENT_ID\n`,
      );
      const able = (await add(oauth, TESTED)).stderr;
      expect(able).toContain(`To register kb at the provider yourself, use the redirect URL ${redirectUrl}\n`);
      expect((await add(server, TESTED)).stderr).not.toContain("redirect URL");
      const shown = await kb(world(list(oauth)), "servers", "show", "notes");
      expect(shown.stdout).toContain(`redirect url\t${redirectUrl}`);
      const tried = world({ "POST /api/mcp-servers/connection-tests": { body: needing } });
      const { stderr: said } = await kb(tried, "servers", "test", "https://new.example.org/mcp", "--auth", "oauth");
      expect(said).toContain('"kb servers add" and "kb servers show" print the redirect URL to register.');
    });

    test("say where it Other servers may have the same redirect URL too, and how to get another one", async ({
      expect,
    }) => {
      const show = async (one: object) => (await kb(world(list(one)), "servers", "show", "notes")).stderr;
      const shared = withClient("kb", "https://kb.test/api/mcp-servers/callback");
      expect(await show(shared)).toContain("kb servers update");
      expect(await show(shared)).toContain("Other servers may have the same redirect URL");
      expect(await show(withClient("kb"))).toBe("");
    });

    test("with a client, and when it is another one", async ({ expect }) => {
      const line = `Set the redirect URL of its client at the provider to ${redirectUrl}\n`;
      expect((await add(withClient("kb"), TESTED)).stderr).toContain(line);
      const update = async (before: object, after: object, ...words: string[]) => {
        const here = world({ ...list(before), [`PATCH /api/mcp-servers/${SRV}`]: { body: { server: after } } });
        return (await kb(here, "servers", "update", "notes", ...words)).stderr;
      };
      expect(await update(oauth, withClient("kb"), "--client-id", "kb")).toContain(line);
      const shared = withClient("kb", "https://kb.test/api/mcp-servers/callback");
      expect(await update(shared, withClient("other"), "--client-id", "other")).toContain(line);
      const moved = ["--server-url", "https://other.example.org/mcp"];
      expect(await update(shared, withClient("kb"), ...moved)).toContain(line);
      expect(await update(shared, shared, "--name", "Other")).toBe('Updated server "Notes".\n');
    });
  });

  test("remove and disconnect say what ends, and ask first", async ({ expect }) => {
    const here = world({
      [`DELETE /api/mcp-servers/${SRV}`]: { status: 202, body: { server } },
      [`DELETE ${CONNECTIONS}/${CNX}`]: { status: 202, body: { connection: { ...connection, status: "revoked" } } },
    });
    const asked = await kb(here, "servers", "remove", "notes");
    expect([asked.code, asked.stderr]).toMatchObject([2, expect.stringContaining("2 connections of people end")]);
    expect((await kb(here, "servers", "disconnect", CNX)).code).toBe(2);
    expect(here.sent.some(({ method }) => method === "DELETE")).toBe(false);
    expect((await kb(here, "servers", "disconnect", "notes", "--yes")).code).toBe(0);
    expect((await kb(here, "servers", "remove", "notes", "--yes")).code).toBe(0);
    expect(here.sent.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  });

  test("apps and connections list what there is, and whose", async ({ expect }) => {
    const apps = await kb(world(), "servers", "apps", "notes");
    expect(apps.stdout).toBe("notes\tNotes\ttoken\tresources\t1\t1\tNotes 2.1.0\n");
    const connections = await kb(world(), "servers", "connections");
    expect(connections.stdout.split("\n").map((line) => line.split("\t")[3])).toEqual(["you", "Bo", undefined]);
  });

  test("access shows whom it is shared with, and sets it with the server's warning", async ({ expect }) => {
    const path = `PATCH ${CONNECTIONS}/${CNX}/access`;
    const shared = { ...connection, access: { visibility: "workspace", memberIds: [], groupIds: [] } };
    const here = world({ [path]: { body: { connection: shared, warnings: ["Everyone sees what you see."] } } });
    expect((await kb(here, "servers", "access", "notes")).stdout).toContain("visible to\tprivate");
    const { stdout, stderr } = await kb(here, "servers", "access", "notes", "--access", "workspace");
    expect(here.sent.at(-1)?.body).toEqual({ visibility: "workspace" });
    expect(stdout).toContain("visible to\tworkspace");
    expect(stderr).toBe("Warning: Everyone sees what you see.\n");
  });
});

describe("kb servers connect", () => {
  const path = `POST ${CONNECTIONS}`;

  test("sends a token by reference, and prints nothing of it", async ({ expect }) => {
    const here = world({ [path]: { status: 201, body: { connection } } }, { stdin: "kb-canary-token\n" });
    const run = await kb(here, "servers", "connect", "notes", "--token", "-", "--access", "workspace");
    expect([run.code, run.stdout]).toEqual([0, `${CNX}\n`]);
    expect(here.sent.at(-1)?.body).toEqual({
      app: "notes",
      credentials: { token: "kb-canary-token" },
      access: { visibility: "workspace" },
    });
    expect(run.stdout + run.stderr).not.toContain("canary");
    const asked = world(
      { [path]: { status: 201, body: { connection } } },
      { isTty: true, prompts: { password: async () => "typed" } },
    );
    await kb(asked, "servers", "connect", "notes");
    expect(asked.sent.at(-1)?.body).toEqual({ app: "notes", credentials: { token: "typed" } });
  });

  const waiting = {
    ...connection,
    status: "needs_reauth",
    statusReason: "elicitation_required",
    elicitation: { host: "agree.notes.test" },
  };

  test("says which page the server wants opened first, and the two commands for that", async ({ expect }) => {
    const here = world({ [path]: { status: 201, body: { connection: waiting } } }, { stdin: "kb-canary-token\n" });
    const run = await kb(here, "servers", "connect", "notes", "--token", "-");
    expect([run.code, run.stdout]).toEqual([0, `${CNX}\n`]);
    expect(run.stderr).toContain("The server wants you to open a page at agree.notes.test first.");
    expect(run.stderr).toContain(
      `Open it with kb servers connect ${SRV} --reconnect ${CNX}, then run kb servers test --connection ${CNX}.`,
    );
    expect(run.stderr).not.toContain("Connected");
  });

  test("opens that page through a page of kb, waits for nothing, and says how to go on", async ({ expect }) => {
    const address = "https://kb.test/connect#intent=once";
    const intent = {
      id: "int_2222222222222222",
      connectionId: CNX,
      status: "pending",
      redirectUrl: address,
      expiresAt: "2026-11-21T00:10:00.000Z",
    };
    const here = world({
      [`GET ${CONNECTIONS}`]: listing([waiting]),
      [`POST ${CONNECTIONS}/intents`]: { status: 201, body: { intent } },
    });
    const run = await kb(here, "servers", "connect", SRV, "--reconnect", CNX);
    expect([run.code, run.stdout]).toEqual([0, ""]);
    expect(here.sent.at(-1)).toMatchObject({
      path: `${CONNECTIONS}/intents`,
      body: { app: "notes", reconnect: CNX },
    });
    expect(run.stderr).toContain(address);
    expect(run.stderr).toContain(`When you have finished there, run kb servers test --connection ${CNX}.`);
    expect(run.stderr).not.toContain("Ctrl-C");
    // The second command exists as it was written.
    const tested = world({
      [`POST /api/mcp-servers/${SRV}/connection-tests`]: { body: TESTED },
      [`GET ${CONNECTIONS}`]: listing([waiting]),
    });
    expect((await kb(tested, "servers", "test", "--connection", CNX)).code).toBe(0);
    expect(tested.sent.at(-1)?.body).toEqual({ connectionId: CNX });
  });

  describe("in a browser", () => {
    const signsIn = { ...app, auth: ["oauth"], fields: undefined };
    const address = "https://kb.test/connect#intent=once";
    const intent = {
      id: "int_2222222222222222",
      connectionId: "cnx_4444444444444444",
      status: "pending",
      redirectUrl: address,
      expiresAt: "2026-11-21T00:10:00.000Z",
    };
    const pending = { ...connection, id: intent.connectionId, status: "pending", lastCheckedAt: null };
    const found = {
      ...pending,
      status: "active",
      lastCheckedAt: "2026-11-21T00:01:00.000Z",
      account: { id: "7", label: "anna@notes.test" },
    };
    const browserWorld = (...later: (readonly object[])[]) =>
      world({
        [`GET /api/mcp-servers/${SRV}/apps`]: { body: { apps: [signsIn], nextCursor: null } },
        [`GET ${CONNECTIONS}`]: [listing([ofBo]), ...later.map(listing)],
        [`POST ${CONNECTIONS}/intents`]: { status: 201, body: { intent } },
      });

    test("opens the page of kb, and waits until someone was found", async ({ expect }) => {
      const here = browserWorld([ofBo, pending], [ofBo, found]);
      const run = await kb(here, "servers", "connect", "notes");
      expect([run.code, run.stdout]).toEqual([0, `${intent.connectionId}\n`]);
      expect(run.stderr).toContain(address);
      expect(run.stderr).toContain("Connected anna@notes.test at Notes.");
    });

    test("prints the address only, ends with the intent, and says when it was refused", async ({ expect }) => {
      expect((await kb(browserWorld([]), "servers", "connect", "notes", "--print")).stdout).toBe(`${address}\n`);
      expect((await kb(browserWorld([pending]), "servers", "connect", "notes")).code).toBe(9);
      const { code, stderr } = await kb(
        browserWorld([{ ...pending, status: "failed" }]),
        "servers",
        "connect",
        "notes",
      );
      expect([code, stderr]).toMatchObject([1, expect.stringContaining("Nothing was connected")]);
    });

    test("connects one again, or takes the new one that it became", async ({ expect }) => {
      const old = { ...connection, status: "needs_reauth" };
      const here = browserWorld();
      here.routes[`GET ${CONNECTIONS}`] = [[old], [old], [old], [old, found]].map(listing);
      const run = await kb(here, "servers", "connect", "notes", "--reconnect", CNX);
      expect(run.code).toBe(0);
      expect(here.sent.find(({ path }) => path.endsWith("/intents"))?.body).toEqual({ app: "notes", reconnect: CNX });
    });
  });
});
