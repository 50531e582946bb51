import { describe, expect, test } from "vitest";
import { DEVICE_GRANT } from "#server/identity/oauth/policy.ts";
import type { TestUser } from "../../../helpers.ts";
import { startServer, type OAuthTestServer, type Tokens } from "./harness.ts";

interface DeviceAnswer {
  device_code: string;
  user_code: string;
  interval: number;
  expires_in: number;
  [member: string]: unknown;
}

async function setUp() {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const begin = async (scope = "mcp:read kb:api") => {
    const resource = [`${kb.base}/mcp`, `${kb.base}/api`];
    const answer = await kb.post("/oauth/device_authorization", { client_id: "kb-cli", scope, resource });
    return (await answer.json()) as DeviceAnswer;
  };
  const poll = async (code: string) => {
    const answer = await kb.post("/oauth/token", { grant_type: DEVICE_GRANT, client_id: "kb-cli", device_code: code });
    return { status: answer.status, body: (await answer.json()) as Tokens & { error?: string } };
  };
  return { kb, owner, begin, poll };
}

async function decide(kb: OAuthTestServer, user: TestUser, userCode: string, decision = "allow") {
  const found = await kb.as(user).post("/oauth/device/request", { userCode });
  return kb.as(user).post("/oauth/device/decision", { userCode, csrf: found.json.csrf, decision });
}

describe("a device", () => {
  test("test 29: waits, is let in by who types its code, and its code is used up", async () => {
    const { kb, owner, begin, poll } = await setUp();
    const device = await begin();
    expect(device).toMatchObject({
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${kb.base}/oauth/device`,
      interval: 5,
      expires_in: 300,
    });
    expect(device["verification_uri_complete"]).toBeUndefined();
    expect(await poll(device.device_code)).toMatchObject({ status: 400, body: { error: "authorization_pending" } });

    const typed = ` ${device.user_code.toLowerCase().replace("-", " ")} `;
    const found = await kb.as(owner).post("/oauth/device/request", { userCode: typed });
    expect(found.json).toMatchObject({
      client: { id: "kb-cli", isOurs: true, host: null },
      scopes: ["mcp:read", "kb:api"],
      askedFrom: "127.0.0.1",
      needsPassword: false,
    });
    expect((await decide(kb, owner, device.user_code)).status).toBe(204);
    kb.advance(5_000);
    const { status, body } = await poll(device.device_code);
    expect(status).toBe(200);
    expect((await kb.mcp(body.access_token)).status).toBe(200);
    kb.advance(5_000);
    expect(await poll(device.device_code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    // The second use of the code is a theft: what the first gave is over.
    expect((await kb.mcp(body.access_token)).status).toBe(401);
  });

  test("test 29: that asks too often is told to slow down", async () => {
    const { kb, begin, poll } = await setUp();
    const { device_code: code } = await begin();
    const errors = [];
    for (const pause of [0, 1_000, 5_000, 15_000]) {
      kb.advance(pause);
      errors.push((await poll(code)).body.error);
    }
    expect(errors).toEqual(["authorization_pending", "slow_down", "slow_down", "authorization_pending"]);
  });

  test("test 29: whose code is five minutes old is out", async () => {
    const { kb, owner, begin, poll } = await setUp();
    const device = await begin();
    kb.advance(301_000);
    expect((await kb.as(owner).post("/oauth/device/request", { userCode: device.user_code })).status).toBe(410);
    expect(await poll(device.device_code)).toMatchObject({ status: 400, body: { error: "expired_token" } });
  });

  test("test 29: is refused when the person says no", async () => {
    const { kb, owner, begin, poll } = await setUp();
    const device = await begin();
    expect((await decide(kb, owner, device.user_code, "deny")).status).toBe(204);
    expect(await poll(device.device_code)).toMatchObject({ status: 400, body: { error: "access_denied" } });
    expect((await decide(kb, owner, device.user_code)).status).not.toBe(204);
  });

  test("test 29: can be decided by the session that typed the code only, and once", async () => {
    const { kb, owner, begin } = await setUp();
    const other = await kb.addMember(owner.workspaceId);
    const { user_code: userCode } = await begin();
    const { csrf } = (await kb.as(owner).post("/oauth/device/request", { userCode })).json;
    const body = { userCode, csrf, decision: "allow" };
    expect((await kb.as(other).post("/oauth/device/decision", body)).status).toBe(403);
    expect((await kb.anyone().post("/oauth/device/decision", body)).status).toBe(401);
    const both = await Promise.all([0, 1].map(() => kb.as(owner).post("/oauth/device/decision", body)));
    expect(both.map((answer) => answer.status).sort()).toEqual([204, 410]);
    expect((await kb.as(owner).get("/api/grants")).json.grants).toHaveLength(1);
  });

  test("test 29: codes can't be guessed: after five wrong ones in a minute no one looks any more", async () => {
    const { kb, owner, begin } = await setUp();
    const { user_code: right } = await begin();
    for (let n = 0; n < 5; n++) {
      expect((await kb.as(owner).post("/oauth/device/request", { userCode: `BBBB-BBB${"CDFGH"[n]}` })).status).toBe(
        410,
      );
    }
    expect((await kb.as(owner).post("/oauth/device/request", { userCode: right })).status).toBe(429);
    kb.advance(60_000);
    expect((await kb.as(owner).post("/oauth/device/request", { userCode: right })).status).toBe(200);
  });

  test("a code that no one has is said to be unknown, not over", async () => {
    const { kb, owner } = await setUp();
    const unknown = await kb.as(owner).post("/oauth/device/request", { userCode: "BBBB-BBBB" });
    expect(unknown).toMatchObject({
      status: 410,
      json: {
        field: "userCode",
        detail: "This code is not valid. Check it on the device; codes expire after 5 minutes.",
      },
    });
  });

  test("never gets the rights of an admin, and makes no tokens", async () => {
    const { kb, owner, begin, poll } = await setUp();
    const device = await begin("mcp:read kb:api kb:admin");
    const found = await kb.as(owner).post("/oauth/device/request", { userCode: device.user_code });
    expect(found.json.scopes).toEqual(["mcp:read", "kb:api"]);
    await decide(kb, owner, device.user_code);
    const { body } = await poll(device.device_code);
    const answer = await kb.post("/oauth/token", {
      grant_type: "refresh_token",
      client_id: "kb-cli",
      refresh_token: body.refresh_token ?? "",
      resource: `${kb.base}/api`,
    });
    const { access_token: token } = (await answer.json()) as Tokens;
    expect((await kb.api(token)).status).toBe(200);
    const minted = await kb.withToken(token).post("/api/api-tokens", { name: "child" });
    expect([minted.status, minted.json.code]).toEqual([403, "forbidden"]);
    const [grant] = (await kb.as(owner).get("/api/grants")).json.grants;
    expect(grant).toMatchObject({ clientId: "kb-cli", place: "a device" });
  });

  test("only the command line has devices", async () => {
    const { kb } = await setUp();
    const answer = await kb.post("/oauth/device_authorization", { client_id: await kb.client(), scope: "mcp:read" });
    expect(answer.status).toBe(400);
    const admin = await kb.post("/oauth/device_authorization", { client_id: "kb-cli", scope: "kb:admin" });
    expect([admin.status, await admin.json()]).toMatchObject([400, { error: "invalid_scope" }]);
  });
});
