import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { McpProblem } from "#mcp-client/problem.ts";
import { startHttp } from "../../mcp-client/servers.ts";
import { makeOAuthServer } from "./auth-server.ts";
import { makeProviderServer, URL_A } from "./server.ts";

describe("an intent", () => {
  test("leads to our page, which says what would be connected, and only then away", async () => {
    const kb = await makeOAuthServer();
    const asked = await kb.as(kb.anna).post(kb.path, { app: "notes" });
    expect([asked.status, asked.json.code]).toEqual([409, "intent_required"]);
    const { status, json } = await kb.intend(kb.anna, { name: "Mine", returnTo: "/workspace/connectors?tab=1" });
    expect(status).toBe(201);
    expect(json.intent).toMatchObject({ status: "pending", expiresAt: "2026-11-21T09:40:00.000Z" });
    expect(json.intent.redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:7700\/connect#intent=[\w-]{43}$/);
    // Nothing was registered anywhere.
    expect(kb.there.asked).toEqual([]);
    const intent = kb.secretOf(json.intent);
    const read = await kb.as(kb.anna).post("/api/mcp-servers/intents/read", { intent });
    expect(read.json.intent).toMatchObject({
      kind: "sign_in",
      serverName: "Notes",
      name: "Mine",
      opensHost: new URL(kb.there.url).host,
      scopes: ["read", "openid"],
      isReconnect: false,
    });
    const { url, cookie } = await kb.open(kb.anna, json.intent);
    expect(cookie).toMatch(/^kb_connect=/);
    const sent = Object.fromEntries(new URL(url).searchParams);
    expect(sent).toMatchObject({
      response_type: "code",
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:7700\/api\/mcp-servers\/callback\/[\w-]{16}$/),
      scope: "read openid",
      resource: `${kb.there.url}/mcp`,
      code_challenge_method: "S256",
    });
    // Once.
    expect((await kb.open(kb.anna, json.intent)).status).toBe(410);
    const location = await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
    expect(location).toMatch(/^\/connect\/found#found=/);
    const id = location.split("#found=")[1];
    const found = await kb.as(kb.anna).post("/api/mcp-servers/intents/found", { id });
    expect(found.json.found).toMatchObject({
      account: { id: "anna", label: "anna@notes.test" },
      isNewInstead: false,
      access: { visibility: "private" },
    });
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({ status: "pending", account: null });
    const done = await kb.confirm(kb.anna, location);
    expect(done.json.connection).toMatchObject({
      id: json.intent.connectionId,
      name: "Mine",
      status: "active",
      account: { label: "anna@notes.test" },
      scopes: ["read", "openid"],
    });
    expect(done.json.returnTo).toBe(`/workspace/connectors?tab=1&intent=${json.intent.id}&status=connected`);
    expect((await kb.confirm(kb.anna, location)).status).toBe(410);
    expect(await kb.everything()).not.toContain("planted");
    expect(JSON.stringify(kb.log.lines)).not.toMatch(/planted/i);
    const { workspaceId } = kb.owner;
    const signal = new AbortController().signal;
    await kb.deps.providerSessions.sessionFor(workspaceId, json.intent.connectionId, { signal });
    expect(kb.mcp.seen.at(-1)?.["authorization"]).toMatch(/^Bearer access-planted-/);
  });

  test("is for the person who began it, in one session and one browser", async () => {
    const kb = await makeOAuthServer();
    const begin = async () => (await kb.intend(kb.anna)).json.intent;
    const first = await begin();
    for (const other of [kb.ben, kb.stranger]) {
      const body = { intent: kb.secretOf(first) };
      expect((await kb.as(other).post("/api/mcp-servers/intents/read", body)).status).toBe(403);
      expect((await kb.open(other, first)).status).toBe(403);
    }
    expect((await kb.anyone().post("/api/mcp-servers/intents/open", { intent: kb.secretOf(first) })).status).toBe(401);
    // It was not used up by them.
    const { url, cookie } = await kb.open(kb.anna, first);
    const gone = "/connect?status=failed&reason=expired";
    expect(await kb.back(kb.ben, kb.there.agree(url, "anna"), cookie)).toBe(gone);
    const attempts = [
      async (address: string, own: string) => kb.back(kb.anna, kb.there.agree(address, "anna"), own && "kb_connect=x"),
      async (address: string) => kb.back(kb.anna, kb.there.agree(address, "anna"), ""),
      async (address: string, own: string) => kb.back(undefined, kb.there.agree(address, "anna"), own),
      async (address: string, own: string) => kb.back(await kb.signIn(kb.anna), kb.there.agree(address, "anna"), own),
    ];
    const tried: { url: string; cookie: string }[] = [];
    for (const attempt of attempts) {
      const opened = await kb.open(kb.anna, await begin());
      expect(await attempt(opened.url, opened.cookie)).toBe(gone);
      tried.push(opened);
    }
    // Nobody's code was given to anybody, nothing was kept, and nothing was taken from who began.
    expect(kb.there.asked.filter(({ path }) => path === "/token")).toEqual([]);
    const all = await kb.connectionsOf(kb.anna, kb.serverId);
    expect(new Set(all.map((one: { status: string }) => one.status))).toEqual(new Set(["pending"]));
    const [mine] = tried;
    if (!mine) throw new Error("There was an attempt.");
    const agreed = kb.there.agree(mine.url, "anna");
    expect(await kb.back(kb.anna, agreed, mine.cookie)).toContain("#found=");
    expect(await kb.back(kb.anna, agreed, mine.cookie)).toBe(gone);
  });

  test("waits with 19 others and no more, until one of them has ended", async () => {
    const kb = await makeOAuthServer();
    const begin = async () => (await kb.intend(kb.anna)).status;
    // One every 20 seconds: nothing but their number is in the way.
    for (let n = 0; n < 20; n++) {
      expect(await begin()).toBe(201);
      kb.clock.advance(20_000);
    }
    const more = await kb.intend(kb.anna);
    expect([more.status, more.json.code]).toEqual([429, "rate_limited"]);
    expect((await kb.intend(kb.ben)).status).toBe(201);
    // The first is ten minutes old.
    kb.clock.advance(200_000);
    expect(await begin()).toBe(201);
    expect(await begin()).toBe(429);
  });

  test("ends after 10 minutes, at each of its stages", async () => {
    const kb = await makeOAuthServer();
    const { intent } = (await kb.intend(kb.anna)).json;
    kb.clock.advance(10 * 60_000);
    expect((await kb.open(kb.anna, intent)).status).toBe(410);
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0].status).toBe("expired");
    const second = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
    kb.clock.advance(10 * 60_000);
    expect(await kb.back(kb.anna, kb.there.agree(second.url), second.cookie)).toContain("reason=expired");
    const third = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
    const location = await kb.back(kb.anna, kb.there.agree(third.url), third.cookie);
    kb.clock.advance(10 * 60_000);
    expect((await kb.confirm(kb.anna, location)).status).toBe(410);
  });

  test("ends with nothing kept when the person says no, there or here", async () => {
    const kb = await makeOAuthServer();
    const { intent } = (await kb.intend(kb.anna)).json;
    const { url, cookie } = await kb.open(kb.anna, intent);
    const state = new URL(url).searchParams.get("state") ?? "";
    const { target } = (
      await kb.as(kb.owner).post("/api/webhooks", { url: kb.there.url, types: ["connection.failed"] })
    ).json;
    const denied = await kb.back(
      kb.anna,
      `/api/mcp-servers/callback?error=access_denied&error_description=PLANTED&state=${state}`,
      cookie,
    );
    expect(denied).toBe(`/workspace/servers/${kb.serverId}?intent=${intent.id}&status=cancelled&reason=denied`);
    const again = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
    const location = await kb.back(kb.anna, kb.there.agree(again.url, "anna"), again.cookie);
    const said = await kb.confirm(kb.anna, location, false);
    expect(said.json).toMatchObject({ connection: null, returnTo: expect.stringContaining("status=cancelled") });
    expect(kb.there.holds()).toEqual([]);
    const all = await kb.connectionsOf(kb.anna, kb.serverId);
    expect(all.map(({ status, statusReason }: Record<string, string>) => [status, statusReason])).toEqual([
      ["failed", "denied"],
      ["failed", "denied"],
    ]);
    const { deliveries } = (await kb.as(kb.owner).get(`/api/webhooks/${target.id}/deliveries`)).json;
    expect(deliveries).toHaveLength(2);
    expect(deliveries).toContainEqual(
      expect.objectContaining({
        type: "connection.failed",
        data: { connectionId: intent.connectionId, serverId: kb.serverId, code: "denied" },
      }),
    );
  });

  test("takes an answer of no other issuer, and none without one where one was promised", async () => {
    const kb = await makeOAuthServer({ metadata: { authorization_response_iss_parameter_supported: true } });
    const come = async (more: Record<string, string>) => {
      const { url, cookie } = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
      return kb.back(kb.anna, kb.there.agree(url, "anna", more), cookie);
    };
    expect(await come({ iss: "https://other.test" })).toContain("status=failed");
    expect(await come({})).toContain("status=failed");
    expect(await come({ iss: `${kb.there.url}/` })).toContain("status=failed");
    expect(kb.there.asked.filter(({ path }) => path === "/token")).toEqual([]);
    expect(await come({ iss: kb.there.url })).toContain("#found=");
  });

  test("takes no answer that names two issuers, in either order", async () => {
    const kb = await makeOAuthServer();
    const evil = "&iss=https%3A%2F%2Fevil.test";
    for (const [first, second] of [
      [{ iss: kb.there.url }, evil],
      [{ iss: "https://evil.test" }, `&iss=${encodeURIComponent(kb.there.url)}`],
      [{ iss: kb.there.url }, `&iss=${encodeURIComponent(kb.there.url)}`],
    ] as const) {
      const { url, cookie } = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
      const callback = kb.there.agree(url, "anna", first) + second;
      expect(await kb.back(kb.anna, callback, cookie)).toContain("status=failed&reason=sign_in_failed");
    }
    expect(kb.there.asked.filter(({ path }) => path === "/token")).toEqual([]);
  });

  test("says why no one can sign in there, and no more of the metadata than that", async () => {
    const kb = await makeOAuthServer();
    kb.there.metadata = { code_challenge_methods_supported: ["plain"] };
    const refused = await kb.intend(kb.anna);
    expect([refused.status, refused.json.code]).toEqual([422, "connection_failed"]);
    expect(refused.json.detail).toBe(
      "kb can't sign in at this server: its OAuth metadata isn't usable. " +
        `The authorization server ${kb.there.url} doesn't say that it supports PKCE with S256.`,
    );
    kb.there.metadata = { registration_endpoint: undefined };
    const { intent } = (await kb.intend(kb.anna)).json;
    const opened = await kb.open(kb.anna, intent);
    expect([opened.status, opened.json.detail]).toEqual([
      422,
      "The authorization server doesn't let clients register themselves.",
    ]);
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({ status: "failed" });
  });
});

describe("a connection that was signed in to", () => {
  test("is renewed before its token ends and after it was refused, by one request however many ask", async ({
    expect,
  }) => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna");
    const { workspaceId } = kb.owner;
    const use = () =>
      kb.deps.providerSessions.sessionFor(workspaceId, connection.id, { signal: new AbortController().signal });
    const refreshes = () => kb.there.asked.filter(({ body }) => body["grant_type"] === "refresh_token");
    kb.clock.advance(3_599_000);
    await Promise.all([use(), use(), use()]);
    expect(refreshes()).toHaveLength(1);
    expect(refreshes()[0]?.body["resource"]).toBe(`${kb.there.url}/mcp`);
    kb.there.endAccess();
    const session = await use();
    expect(refreshes()).toHaveLength(2);
    // In the middle of a conversation, too.
    kb.there.endAccess();
    await session.listTools();
    expect(refreshes()).toHaveLength(3);
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0].status).toBe("active");
    expect(await kb.everything()).not.toContain("planted");
  });

  test("is lost when the refresh is refused, and the same account brings it back with what it read", async ({
    expect,
  }) => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna", { access: { visibility: "workspace" } });
    const body = { providerId: "behind", name: "B", config: {}, access: { visibility: "workspace" } };
    await kb.as(kb.anna).post("/api/connectors", { ...body, connectionId: connection.id });
    await kb.worker.runUntilIdle();
    const hits = async () => (await kb.as(kb.ben).get("/api/connectors/search?query=alpha")).json.results.length;
    expect(await hits()).toBe(1);
    kb.there.endAccess();
    kb.there.endRefresh();
    const signal = new AbortController().signal;
    await expect(
      kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connection.id, { signal }),
    ).rejects.toMatchObject({ code: "source_unauthorized" });
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({
      status: "needs_reauth",
      statusReason: "refused",
    });
    expect(await hits()).toBe(0);
    const other = await kb.connectThere(kb.anna, "somebody", { reconnect: connection.id });
    expect(other.location).toContain("status=failed&reason=other_account");
    expect(await hits()).toBe(0);
    const same = await kb.connectThere(kb.anna, "anna", { reconnect: connection.id });
    expect(same.intent.connectionId).toBe(connection.id);
    expect(same.location).toContain("status=connected");
    expect(await kb.connectionsOf(kb.anna, kb.serverId)).toMatchObject([{ id: connection.id, status: "active" }]);
    expect(await hits()).toBe(1);
    expect((await kb.as(kb.anna).get("/api/connectors/mine")).json.connectors[0].state).toBe("active");
  });

  test("becomes a new one when no one can tell who signed in again", async () => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, undefined, { access: { visibility: "workspace" } });
    expect(connection.account).toBeNull();
    kb.clock.advance(1_000);
    const again = await kb.connectThere(kb.anna, "anna", { reconnect: connection.id });
    expect(again.connection.id).not.toBe(connection.id);
    expect(again.connection.access.visibility).toBe("private");
    expect(await kb.connectionsOf(kb.anna, kb.serverId)).toMatchObject([
      { id: connection.id, status: "active" },
      { id: again.connection.id, status: "active", account: { id: "anna" } },
    ]);
    expect((await kb.intend(kb.ben, { reconnect: again.connection.id })).status).toBe(404);
    expect((await kb.intend(kb.admin, { reconnect: again.connection.id })).status).toBe(403);
  });

  test("uses no token that a refresh gives for someone else, gives it back, and is its owner's once they sign in again", async () => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna");
    kb.there.refreshesAs = "ben";
    kb.there.endAccess();
    const use = () =>
      kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connection.id, {
        signal: new AbortController().signal,
      });
    await expect(use()).rejects.toMatchObject({ code: "source_unauthorized" });
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({
      status: "needs_reauth",
      statusReason: "other_account",
      account: { id: "anna" },
    });
    expect(kb.there.holds()).toEqual([]);
    await expect(use()).rejects.toMatchObject({ code: "source_unauthorized" });
    kb.there.refreshesAs = undefined;
    const same = await kb.connectThere(kb.anna, "anna", { reconnect: connection.id });
    expect(same.location).toContain("status=connected");
    await (await use()).close();
  });

  test("gets no token from another authorization server than its own", async () => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna");
    const asked = kb.there.asked.length;
    kb.there.moveIssuer("/other");
    kb.there.endAccess();
    const signal = new AbortController().signal;
    await expect(
      kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connection.id, { signal }),
    ).rejects.toMatchObject({ code: "source_unauthorized" });
    expect(kb.there.asked.slice(asked)).toEqual([]);
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({
      status: "needs_reauth",
      statusReason: "issuer_changed",
    });
  });

  test.each(["disconnect", "leave", "deleteServer"] as const)("ends at its provider, too: %s", async (how) => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna");
    // One that waits for her word.
    const { url, cookie } = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
    const location = await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
    const byAdmin = kb.as(kb.admin);
    if (how === "disconnect") await byAdmin.delete(`${kb.path}/${connection.id}`);
    if (how === "leave") await byAdmin.delete(`/api/workspace/members/${kb.anna.userId}`);
    if (how === "deleteServer") await byAdmin.delete(`/api/mcp-servers/${kb.serverId}`);
    await kb.deps.afterwards.idle();
    const told = () => kb.there.asked.filter(({ path }) => path === "/revoke");
    expect(told().map(({ body }) => body["token_type_hint"])).toEqual(["refresh_token"]);
    expect(await kb.database.read.selectFrom("connection_secrets").selectAll().execute()).toEqual([]);
    if (how !== "disconnect") {
      expect((await kb.confirm(kb.anna, location)).status).not.toBe(200);
      // The tokens of the one that waited are ended by a job, which goes on where a server was stopped.
      await kb.worker.runUntilIdle();
      expect(told()).toHaveLength(2);
      expect(kb.there.holds()).toEqual([]);
      expect(await kb.database.read.selectFrom("account_flows").selectAll().execute()).toEqual([]);
    }
  });

  test("that no one confirms gives its tokens back to the provider, also one that is down", async () => {
    const kb = await makeOAuthServer();
    const come = async (user = kb.anna) => {
      const { url, cookie } = await kb.open(user, (await kb.intend(user)).json.intent);
      return kb.back(user, kb.there.agree(url, "anna"), cookie);
    };
    const flows = () => kb.database.read.selectFrom("account_flows").selectAll().execute();
    const location = await come();
    expect(kb.there.holds()).toHaveLength(2);
    // Somebody else's browser ends nothing: her tokens stay hers to confirm.
    expect((await kb.confirm(kb.ben, location)).status).toBe(410);
    await kb.worker.runUntilIdle();
    expect(kb.there.holds()).toHaveLength(2);
    kb.clock.advance(10 * 60_000);
    // Too late, she ends nothing either, and the job does.
    expect((await kb.confirm(kb.anna, location)).status).toBe(410);
    expect(await flows()).toHaveLength(1);
    await kb.worker.runUntilIdle();
    expect(kb.there.holds()).toEqual([]);
    expect(await flows()).toEqual([]);

    await come();
    kb.there.isDown = true;
    kb.clock.advance(10 * 60_000);
    await kb.worker.runUntilIdle();
    expect(await flows()).toEqual([]);
    expect(JSON.stringify(kb.log.lines)).not.toMatch(/planted/i);
  });

  test("gives its tokens back when the person may connect no more by the time they have signed in again", async () => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna");
    const { url, cookie } = await kb.open(
      kb.anna,
      (await kb.intend(kb.anna, { reconnect: connection.id })).json.intent,
    );
    kb.mcp.meanwhile = () =>
      kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${kb.serverId}`, { body: { connectPolicy: "admins" } });
    expect(await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie)).toContain("status=failed");
    const [, second] = kb.there.asked.filter(({ path }) => path === "/token");
    expect(second).toBeDefined();
    expect(kb.there.asked.filter(({ path }) => path === "/revoke")).toHaveLength(1);
  });

  test("goes on when the server wants more rights, and asks for them when its owner signs in again", async () => {
    const kb = await makeOAuthServer();
    const { connection } = await kb.connectThere(kb.anna, "anna");
    const challenge = { error: "insufficient_scope", scope: "read files:read" } as const;
    kb.mcp.problem = new McpProblem({ step: "read", code: "forbidden", challenge, status: 403 });
    const signal = new AbortController().signal;
    await expect(
      kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connection.id, { signal }),
    ).rejects.toMatchObject({ code: "forbidden" });
    delete kb.mcp.problem;
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({
      status: "active",
      statusReason: "insufficient_scope",
    });
    const { intent } = (await kb.intend(kb.anna, { reconnect: connection.id })).json;
    const { url, cookie } = await kb.open(kb.anna, intent);
    expect(new URL(url).searchParams.get("scope")).toBe("read openid files:read");
    await kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
    expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({ status: "active", statusReason: null });
  });

  test("uses an admin's client at the authorization server where it was registered, and at no other", async () => {
    const kb = await makeOAuthServer();
    const auth = { kind: "oauth", clientId: "kb-there", secret: "secret-planted" };
    kb.there.clients.set("kb-there", { secret: "secret-planted" });
    await kb.as(kb.admin).patch(`/api/mcp-servers/${kb.serverId}`, { auth });
    const { connection } = await kb.connectThere(kb.anna, "anna");
    expect(connection.status).toBe("active");
    expect(kb.there.asked.map(({ path }) => path)).not.toContain("/register");
    kb.there.moveIssuer("/other");
    const opened = await kb.open(kb.ben, (await kb.intend(kb.ben)).json.intent);
    expect([opened.status, opened.json.code]).toEqual([422, "connection_failed"]);
    expect(await kb.everything()).not.toContain("planted");
  });
});

test("a page that a server wants opened is shown by its host on our page, and a test ends the wait", async () => {
  const kb = await makeProviderServer();
  const { id } = await kb.addServer();
  const mcp = kb.servers[URL_A];
  if (!mcp) throw new Error("There is such a server.");
  const elicitationUrl = "https://agree.notes.test/terms?planted=1";
  mcp.problem = new McpProblem({ step: "initialize", code: "elicitation_required", elicitationUrl });
  const { status, json } = await kb.connect(kb.anna, id);
  expect([status, json.connection]).toMatchObject([
    201,
    { status: "needs_reauth", statusReason: "elicitation_required", elicitation: { host: "agree.notes.test" } },
  ]);
  expect(await kb.everything()).not.toContain("planted");
  const [shown] = await kb.connectionsOf(kb.admin, id);
  expect(shown.elicitation).toBeNull();
  const at = `/api/mcp-servers/${id}`;
  const intend = () =>
    kb.as(kb.anna).post(`${at}/connections/intents`, { app: "notes", reconnect: json.connection.id });
  const intent = (await intend()).json.intent.redirectUrl.split("#intent=")[1];
  const read = await kb.as(kb.anna).post("/api/mcp-servers/intents/read", { intent });
  expect(read.json.intent).toMatchObject({ kind: "elicitation", opensHost: "agree.notes.test" });
  expect((await kb.as(kb.ben).post("/api/mcp-servers/intents/open", { intent })).status).toBe(403);
  const opened = await kb.as(kb.anna).post("/api/mcp-servers/intents/open", { intent });
  expect(opened.json).toEqual({ url: elicitationUrl });
  const tryIt = () => kb.as(kb.anna).post(`${at}/connection-tests`, { connectionId: json.connection.id });
  expect((await tryIt()).json.ok).toBe(false);
  delete mcp.problem;
  expect((await tryIt()).json.ok).toBe(true);
  expect((await kb.connectionsOf(kb.anna, id))[0]).toMatchObject({ status: "active", elicitation: null });
  // A server that asks again without a usable address means another page: the one of before isn't offered any more.
  const again = async (url: string | undefined) => {
    mcp.problem = new McpProblem({ step: "call", code: "elicitation_required", ...(url && { elicitationUrl: url }) });
    const signal = new AbortController().signal;
    const use = kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, json.connection.id, { signal });
    await expect(use).rejects.toMatchObject({ code: "elicitation_required" });
    const [own] = await kb.connectionsOf(kb.anna, id);
    delete mcp.problem;
    return own;
  };
  expect(await again(elicitationUrl)).toMatchObject({ elicitation: { host: "agree.notes.test" } });
  expect((await tryIt()).json.ok).toBe(true);
  expect(await again(undefined)).toMatchObject({ status: "needs_reauth", elicitation: null });
  expect(await intend()).toMatchObject({ status: 422, json: { code: "connection_failed" } });
  expect((await tryIt()).json.ok).toBe(true);
  // In the middle of its use, too.
  mcp.problem = new McpProblem({ step: "call", code: "elicitation_required", elicitationUrl });
  const signal = new AbortController().signal;
  const use = kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, json.connection.id, { signal });
  await expect(use).rejects.toMatchObject({ code: "elicitation_required" });
  expect((await kb.connectionsOf(kb.anna, id))[0]).toMatchObject({ status: "needs_reauth" });
  await kb.as(kb.anna).delete(`${at}/connections/${json.connection.id}`);
  expect(await kb.database.read.selectFrom("account_flows").selectAll().execute()).toEqual([]);
});

test.each(["registration_endpoint", "token_endpoint", "revocation_endpoint"])(
  "a %s at a host that the operator listed for something else gets no connection",
  async (field) => {
    const inner = createServer();
    let connections = 0;
    inner.on("connection", (socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => void inner.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void inner.close());
    // It listens on TCP.
    const host = `127.0.0.1:${(inner.address() as AddressInfo).port}`;
    const kb = await makeOAuthServer({ hosts: [host], metadata: { [field]: `https://${host}/create-user?admin=1` } });
    const { location, connection } = await kb.connectThere(kb.anna, "anna").catch(() => ({
      location: "",
      connection: undefined,
    }));
    if (field === "revocation_endpoint") {
      expect(location).toContain("#found=");
      await kb.as(kb.anna).delete(`${kb.path}/${connection.id}`);
      await kb.deps.afterwards.idle();
    }
    expect(connections).toBe(0);
  },
);

test("a token endpoint at a host that the operator named is asked", async () => {
  const asked: string[] = [];
  const login = await startHttp((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
  });
  const { host } = new URL(login);
  const metadata = { token_endpoint: `${login}/token` };
  const kb = await makeOAuthServer({ hosts: [host], metadata, settings: { mcpAuthorizationServers: [host] } });
  const { location } = await kb.connectThere(kb.anna, "anna");
  expect(location).not.toContain("#found=");
  expect(asked).toEqual(["POST /token"]);
});

test("a token endpoint that doesn't answer leads back like any other failure", async () => {
  let isAsked = () => {};
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const login = await startHttp(() => isAsked());
  const { host } = new URL(login);
  const metadata = { token_endpoint: `${login}/token` };
  const kb = await makeOAuthServer({ hosts: [host], metadata, settings: { mcpAuthorizationServers: [host] } });
  const { url, cookie } = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const back = kb.back(kb.anna, kb.there.agree(url, "anna"), cookie);
  await asked;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await back).toContain("status=failed&reason=sign_in_failed");
  expect((await kb.connectionsOf(kb.anna, kb.serverId))[0]).toMatchObject({ status: "failed" });
});
