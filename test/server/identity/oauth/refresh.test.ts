import { describe, expect, test } from "vitest";
import { cliAsk, startServer, type Tokens } from "./harness.ts";

async function setUp() {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const ask = { clientId: await kb.client(), scope: "mcp:read" };
  const tokens = await kb.letIn(owner, ask);
  const turn = async (token: string | undefined, more: Record<string, string> = {}) => {
    const answer = await kb.refresh(ask, token, more);
    return { status: answer.status, body: (await answer.json()) as Tokens & { error?: string } };
  };
  return { kb, owner, ask, tokens, turn };
}

describe("refreshing", () => {
  test("test 11: each refresh gives a new pair, and the person sees that the client was used", async () => {
    const { kb, owner, tokens, turn } = await setUp();
    kb.advance(3_600_000);
    expect((await kb.mcp(tokens.access_token)).status).toBe(401);
    const { status, body } = await turn(tokens.refresh_token);
    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(tokens.refresh_token);
    expect((await kb.mcp(body.access_token)).status).toBe(200);
    const { grants } = (await kb.as(owner).get("/api/grants")).json;
    expect(grants[0].lastUsedAt).toBe(new Date(kb.clock.now()).toISOString());
    expect(Date.parse(grants[0].expiresAt)).toBe(kb.clock.now() + 30 * 86_400_000);
  });

  test("test 12: a refresh token that comes again after its time of grace ends the whole family", async () => {
    const { kb, owner, tokens, turn } = await setUp();
    const { body: second } = await turn(tokens.refresh_token);
    kb.advance(31_000);
    const again = await turn(tokens.refresh_token);
    expect(again).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await kb.mcp(second.access_token)).status).toBe(401);
    expect((await turn(second.refresh_token)).status).toBe(400);
    expect((await kb.as(owner).get("/api/grants")).json.grants).toEqual([]);
    const [row] = await kb.store.in(owner.workspaceId).audit.list({ limit: 1, action: "grant.reuse_detected" });
    expect(row).toMatchObject({ outcome: "refused", actorUserId: owner.userId, ip: "127.0.0.1" });
    expect(row?.requestId).toMatch(/^req_/);
  });

  test("test 12: the old token after the new one was used ends the family, even within the time of grace", async () => {
    const { kb, tokens, turn } = await setUp();
    const { body: second } = await turn(tokens.refresh_token);
    const { body: third } = await turn(second.refresh_token);
    expect((await turn(tokens.refresh_token)).status).toBe(400);
    expect((await kb.mcp(third.access_token)).status).toBe(401);
    expect((await turn(third.refresh_token)).status).toBe(400);
  });

  test("test 13: eight at the same moment get one and the same pair", async () => {
    const { kb, tokens, turn } = await setUp();
    const answers = await Promise.all(Array.from({ length: 8 }, () => turn(tokens.refresh_token)));
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(new Set(answers.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size).toBe(1);
    const successor = answers[0]?.body.refresh_token;
    expect((await turn(successor)).status).toBe(200);
    const live = await kb.database.read
      .selectFrom("oauth_records")
      .selectAll()
      .where("model", "=", "RefreshToken")
      .execute();
    expect(live.filter((row) => row.consumedAt === null)).toHaveLength(1);
  });

  test("a repeat that asks for something else gets nothing, and no one is signed out by it", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = cliAsk(kb.base);
    const tokens = await kb.letIn(owner, ask);
    const first = await kb.refresh(ask, tokens.refresh_token, { resource: `${kb.base}/mcp` });
    const other = await kb.refresh(ask, tokens.refresh_token, { resource: `${kb.base}/api` });
    expect([first.status, other.status]).toEqual([200, 400]);
    const { refresh_token: successor } = (await first.json()) as Tokens;
    expect((await kb.refresh(ask, successor, { resource: `${kb.base}/api` })).status).toBe(200);
  });

  test("another client's repeat is a theft like any other", async () => {
    const { kb, tokens, turn } = await setUp();
    await turn(tokens.refresh_token);
    const thief = await kb.refresh({ clientId: await kb.client() }, tokens.refresh_token);
    expect(thief.status).toBe(400);
  });

  test("test 16: a refresh for a foreign resource is refused, test 25: and one for more scopes gets none of them", async () => {
    const { kb, tokens, turn } = await setUp();
    for (const resource of ["https://evil.test/mcp", `${kb.base}/api`, `${kb.base}/mcp/x`]) {
      expect(await turn(tokens.refresh_token, { resource })).toMatchObject({
        status: 400,
        body: { error: "invalid_target" },
      });
    }
    for (const scope of ["kb:api", "mcp:read kb:admin", "openid"]) {
      expect(await turn(tokens.refresh_token, { scope })).toMatchObject({ status: 200, body: { scope: "mcp:read" } });
    }
  });

  test("after a year of refreshing the person is asked again", async () => {
    const { kb, tokens, turn } = await setUp();
    let latest = tokens.refresh_token;
    for (let month = 0; month < 12; month++) {
      kb.advance(29 * 86_400_000);
      const { status, body } = await turn(latest);
      expect([month, status]).toEqual([month, 200]);
      latest = body.refresh_token;
    }
    kb.advance(29 * 86_400_000);
    expect((await turn(latest)).status).toBe(400);
  });
});

describe("giving back", () => {
  test("test 14: a refresh token given back ends its access tokens", async () => {
    const { kb, owner, ask, tokens, turn } = await setUp();
    const answer = await kb.post("/oauth/revoke", { client_id: ask.clientId, token: tokens.refresh_token ?? "" });
    expect(answer.status).toBe(200);
    expect((await kb.mcp(tokens.access_token)).status).toBe(401);
    expect((await turn(tokens.refresh_token)).status).toBe(400);
    expect((await kb.as(owner).get("/api/grants")).json.grants).toEqual([]);
    expect(await kb.store.in(owner.workspaceId).audit.list({ limit: 1, action: "grant.revoked" })).toHaveLength(1);
  });

  test("test 14: another client can't give it back, and an unknown token is no error", async () => {
    const { kb, tokens } = await setUp();
    const other = await kb.client();
    const answers = [
      await kb.post("/oauth/revoke", { client_id: other, token: tokens.refresh_token ?? "" }),
      await kb.post("/oauth/revoke", { client_id: other, token: tokens.access_token }),
      await kb.post("/oauth/revoke", { client_id: other, token: "nothing" }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect((await kb.mcp(tokens.access_token)).status).toBe(200);
  });

  test("what was sealed with a key that is gone is a login to be made again, and no word about keys", async () => {
    const { kb, tokens, turn } = await setUp();
    const rows = await kb.database.read.selectFrom("oauth_records").select(["idHash", "sealed"]).execute();
    for (const { idHash, sealed } of rows) {
      const lost = sealed.replace(/^(v1\.)[^.]+/, "$1gone");
      await kb.database.write.updateTable("oauth_records").set({ sealed: lost }).where("idHash", "=", idHash).execute();
    }
    const call = await kb.mcp(tokens.access_token);
    expect(call.status).toBe(401);
    expect(await call.text()).not.toMatch(/gone|KB_SECRET_KEYS/);
    expect(await turn(tokens.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    const warnings = kb.log.lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => fields["model"])).toContain("RefreshToken");
  });
});
