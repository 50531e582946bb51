import { describe, expect, test } from "vitest";
import { TEST_PASSWORD, type TestUser } from "../../../helpers.ts";
import { cliAsk, startServer, type OAuthTestServer, type Tokens } from "./harness.ts";

/** The command line's token for REST, and its refresh token. */
async function signInCli(kb: OAuthTestServer, user: TestUser) {
  const ask = cliAsk(kb.base);
  const first = await kb.letIn(user, ask);
  const answer = await kb.refresh(ask, first.refresh_token, { resource: `${kb.base}/api` });
  const second = (await answer.json()) as Tokens;
  return { ask, mcpToken: first.access_token, apiToken: second.access_token, refreshToken: second.refresh_token };
}

describe("what ends tokens", () => {
  test("test 32: a member who was removed has no token, no session and no way back with either", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const member = await kb.addMember(owner.workspaceId);
    const cli = await signInCli(kb, member);
    const child = (await kb.withToken(cli.apiToken).post("/api/api-tokens", { name: "child" })).json.plaintext;
    const pat = await kb.token(member);
    const dead = async () => [
      (await kb.mcp(cli.mcpToken)).status,
      (await kb.api(cli.apiToken)).status,
      (await kb.mcp(pat)).status,
      (await kb.mcp(child)).status,
      (await kb.as(member).get("/api/session")).status,
      (await kb.refresh(cli.ask, cli.refreshToken)).status,
    ];
    expect(await dead()).toEqual([200, 200, 200, 200, 200, 200]);
    const latest = await kb.refresh(cli.ask, cli.refreshToken);
    expect((await kb.as(owner).delete(`/api/workspace/members/${member.userId}`)).status).toBe(204);
    expect(await dead()).toEqual([401, 401, 401, 401, 401, 400]);
    await kb.store.in(owner.workspaceId).members.insert({
      userId: member.userId,
      role: "member",
      joinedAt: kb.clock.now(),
    });
    expect(await dead()).toEqual([401, 401, 401, 401, 401, 400]);
    const { refresh_token: lost } = (await latest.json()) as Tokens;
    expect((await kb.refresh(cli.ask, lost)).status).toBe(400);
  });

  test("test 33: a new password ends the clients that were let in", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client() };
    const tokens = await kb.letIn(owner, ask);
    const body = { currentPassword: TEST_PASSWORD, newPassword: "green kettle evening" };
    expect((await kb.as(owner).post("/api/profile/password", body)).status).toBe(204);
    expect((await kb.mcp(tokens.access_token)).status).toBe(401);
    expect((await kb.refresh(ask, tokens.refresh_token)).status).toBe(400);
  });

  test("a grant that its person ends is over at once; another person can't end it", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const other = await kb.addMember(owner.workspaceId, "admin");
    const ask = { clientId: await kb.client({ client_name: "Notes" }) };
    const tokens = await kb.letIn(owner, ask);
    const { grants } = (await kb.as(owner).get("/api/grants")).json;
    expect(grants).toEqual([
      {
        id: expect.stringMatching(/^gra_/),
        clientId: ask.clientId,
        clientName: "Notes",
        documentReadAt: null,
        place: "this computer",
        scopes: ["mcp:read"],
        createdAt: new Date(kb.clock.now()).toISOString(),
        lastUsedAt: new Date(kb.clock.now()).toISOString(),
        expiresAt: new Date(kb.clock.now() + 30 * 86_400_000).toISOString(),
      },
    ]);
    const path = `/api/grants/${grants[0].id}`;
    expect((await kb.as(other).delete(path)).status).toBe(404);
    expect((await kb.mcp(tokens.access_token)).status).toBe(200);
    expect((await kb.as(owner).delete(path)).status).toBe(204);
    expect((await kb.mcp(tokens.access_token)).status).toBe(401);
    expect((await kb.refresh(ask, tokens.refresh_token)).status).toBe(400);
    expect((await kb.as(owner).delete(path)).status).toBe(404);
  });

  test("the list of clients is paged, newest first, and per workspace", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    for (let n = 0; n < 3; n++) {
      await kb.letIn(owner, { clientId: await kb.client({ client_name: `App ${n}` }) });
      kb.advance(1_000);
    }
    const first = (await kb.as(owner).get("/api/grants?limit=2")).json;
    const second = (await kb.as(owner).get(`/api/grants?limit=2&cursor=${first.nextCursor}`)).json;
    const names = [...first.grants, ...second.grants].map((grant: { clientName: string }) => grant.clientName);
    expect([names, second.nextCursor]).toEqual([["App 2", "App 1", "App 0"], null]);
  });
});

describe("tokens that the command line's sign-in makes", () => {
  test("test 48: are children of it: no more scopes, 30 days, gone with it", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const cli = await signInCli(kb, owner);
    const as = kb.withToken(cli.apiToken);
    const made = await as.post("/api/api-tokens", { name: "child", scopes: ["mcp:read", "kb:api"] });
    expect(made.status).toBe(201);
    const { token, plaintext } = made.json;
    expect(token).toMatchObject({
      expiresAt: new Date(kb.clock.now() + 30 * 86_400_000).toISOString(),
      grantId: expect.stringMatching(/^gra_/),
    });
    expect((await as.post("/api/api-tokens", { name: "x", scopes: ["kb:admin"] })).json.code).toBe(
      "insufficient_scope",
    );
    expect((await as.post("/api/api-tokens", { name: "x", expiresInDays: 31 })).status).toBe(400);
    expect((await as.post("/api/api-tokens", { name: "x", expiresInDays: 1 })).status).toBe(201);
    expect((await kb.mcp(plaintext)).status).toBe(200);
    // A token never makes a token.
    expect((await kb.withToken(plaintext).post("/api/api-tokens", { name: "grandchild" })).status).toBe(403);

    await kb.as(owner).delete(`/api/grants/${token.grantId}`);
    expect((await kb.mcp(plaintext)).status).toBe(401);
    expect((await kb.as(owner).get("/api/api-tokens")).json.tokens).toEqual([]);
  });

  test("test 48: can't be made by a sign-in of more than 12 hours ago, nor by an app's token", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const cli = await signInCli(kb, owner);
    const app = await kb.letIn(owner, { clientId: await kb.client() });
    expect((await kb.withToken(app.access_token).post("/api/api-tokens", { name: "x" })).status).toBe(401);
    kb.advance(12 * 3_600_000 + 1_000);
    const answer = await kb.refresh(cli.ask, cli.refreshToken, { resource: `${kb.base}/api` });
    const { access_token: token } = (await answer.json()) as Tokens;
    const late = await kb.withToken(token).post("/api/api-tokens", { name: "late" });
    expect([late.status, late.json.code]).toEqual([403, "recent_sign_in_required"]);
  });

  test("stay when a session keeps them, and only the person's own session can", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const other = await kb.addMember(owner.workspaceId);
    const cli = await signInCli(kb, owner);
    const { token, plaintext } = (await kb.withToken(cli.apiToken).post("/api/api-tokens", { name: "kept" })).json;
    const path = `/api/api-tokens/${token.id}/adopt`;
    expect((await kb.as(other).post(path)).status).toBe(404);
    expect((await kb.withToken(cli.apiToken).post(path)).status).toBe(403);
    const kept = await kb.as(owner).post(path);
    expect(kept.json.token).toMatchObject({ id: token.id, grantId: null });
    await kb.as(owner).delete(`/api/grants/${token.grantId}`);
    expect((await kb.mcp(plaintext)).status).toBe(200);
    const [row] = await kb.store.in(owner.workspaceId).audit.list({ limit: 1, action: "token.adopted" });
    expect(row).toMatchObject({ targetId: token.id, details: { grantId: token.grantId } });
  });

  test("end when the sign-in runs out by itself", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const cli = await signInCli(kb, owner);
    const { plaintext } = (await kb.withToken(cli.apiToken).post("/api/api-tokens", { name: "child" })).json;
    await kb.database.write.updateTable("grants").set({ expiresAt: kb.clock.now() }).execute();
    expect((await kb.mcp(plaintext)).status).toBe(401);
  });
});

test("test 30: nothing in the database works as a credential, nor does a log line", async () => {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const cli = await signInCli(kb, owner);
  const pat = await kb.token(owner);
  const device = await (
    await kb.post("/oauth/device_authorization", { client_id: "kb-cli", scope: "mcp:read" })
  ).json();
  const { device_code: deviceCode, user_code: userCode } = device as { device_code: string; user_code: string };
  const repeated = (await (await kb.refresh(cli.ask, cli.refreshToken)).json()) as Tokens;
  const tables = await kb.database.read.introspection.getTables();
  let dump = "";
  for (const { name } of tables) {
    if (name.startsWith("sqlite_")) continue;
    dump += JSON.stringify(
      await kb.database.read
        .selectFrom(name as "users")
        .selectAll()
        .execute(),
    );
  }
  const secrets = {
    mcpToken: cli.mcpToken,
    apiToken: cli.apiToken,
    refreshToken: cli.refreshToken,
    newRefreshToken: repeated.refresh_token,
    newAccessToken: repeated.access_token,
    pat,
    deviceCode,
    userCode: userCode.replace("-", ""),
    session: owner.sessionSecret,
  };
  // It is the whole: what is sealed there is there.
  expect(dump.includes('"model":"RefreshGrace"')).toBe(true);
  const everything = dump + JSON.stringify(kb.log.lines);
  for (const [name, secret] of Object.entries(secrets)) {
    expect([name, everything.includes(secret ?? "undefined")]).toEqual([name, false]);
  }
});

test("the keys are the same after a restart: a grant goes on, and so does a request in flight", async () => {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const cli = await signInCli(kb, owner);
  const { makeOAuthKeys } = await import("#server/identity/oauth/keys.ts");
  const [one, two] = [makeOAuthKeys(Buffer.alloc(32, 9)), makeOAuthKeys(Buffer.alloc(32, 9))];
  expect(one.signing).toEqual(two.signing);
  expect(two.isProof(one.prove("a", "b"), "a", "b")).toBe(true);
  expect(two.isProof(one.prove("a", "b"), "ab")).toBe(false);
  expect(makeOAuthKeys(Buffer.alloc(32, 8)).signing.x).not.toBe(one.signing.x);
  const published = (await (await fetch(`${kb.base}/oauth/jwks`)).json()) as { keys: Record<string, unknown>[] };
  expect(published.keys[0]).toMatchObject({ x: one.signing.x, y: one.signing.y });
  expect(published.keys[0]?.["d"]).toBeUndefined();
  expect((await kb.refresh(cli.ask, cli.refreshToken)).status).toBe(200);
});
