import { describe, expect, test } from "vitest";
import { challengeOf, cliAsk, newVerifier, requestByHand, startServer, type Tokens } from "./harness.ts";

describe("scopes", () => {
  test.each(["openid email profile", "claudeai", "mcp:tools", "mcp:read offline_access", "kb:admin", undefined])(
    "a client that asks for %s gets mcp:read, at sign-in and at each refresh, and is told so",
    async (scope) => {
      const kb = await startServer();
      const owner = await kb.addOwner();
      const ask = { clientId: await kb.client(), ...(scope !== undefined && { scope }) };
      const tokens = await kb.letIn(owner, ask);
      expect(tokens.scope).toBe("mcp:read");
      const answer = await kb.refresh(ask, tokens.refresh_token, { ...(scope !== undefined && { scope }) });
      const refreshed = (await answer.json()) as Tokens;
      expect([answer.status, refreshed.scope]).toEqual([200, "mcp:read"]);
      expect((await kb.mcp(refreshed.access_token)).status).toBe(200);
      expect((await kb.api(refreshed.access_token)).status).toBe(401);
    },
  );

  test("the command line still gets only what it may ask for", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const answer = await kb.browser(owner).get(kb.authorizeUrl(cliAsk(kb.base, "openid"), challengeOf(newVerifier())));
    expect(answer.headers.get("location")).toContain("error=invalid_scope");
    const tokens = await kb.letIn(owner, cliAsk(kb.base));
    const refused = await kb.refresh(cliAsk(kb.base), tokens.refresh_token, { scope: "kb:admin" });
    expect(await refused.json()).toMatchObject({ error: "invalid_scope" });
  });
});

describe("codes", () => {
  async function codeAfter(ms: number, ofCli: boolean) {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = ofCli ? cliAsk(kb.base) : { clientId: await kb.client() };
    const verifier = newVerifier();
    const back = await kb.consent(kb.browser(owner), ask, challengeOf(verifier));
    kb.advance(ms);
    const exchange = () => kb.exchange(ask, back.searchParams.get("code") ?? "", verifier);
    return { kb, owner, exchange };
  }

  test("one for mcp:read can be exchanged for ten minutes, once; one for more for a minute", async () => {
    const late = await codeAfter(9 * 60_000, false);
    expect((await late.exchange()).status).toBe(200);
    expect((await late.exchange()).status).toBe(400);
    expect((await (await codeAfter(601_000, false)).exchange()).status).toBe(400);
    expect((await (await codeAfter(61_000, true)).exchange()).status).toBe(400);
  });

  test("one whose grant was revoked meanwhile is refused", async () => {
    const { kb, owner, exchange } = await codeAfter(5 * 60_000, false);
    const { grants } = (await (await kb.browser(owner).get("/api/grants")).json()) as { grants: { id: string }[] };
    const [grant] = grants;
    await kb.store.oauth.endGrant(grant?.id ?? "", kb.clock.now());
    expect(await (await exchange()).json()).toMatchObject({ error: "invalid_grant" });
  });
});

describe("refusals", () => {
  test("of too many registrations have OAuth's shape, for pages of other sites too", async () => {
    const kb = await startServer();
    let answer = await fetch(`${kb.base}/oauth/register`, { method: "POST", body: "{}" });
    for (let n = 0; answer.status !== 429 && n < 400; n++) {
      answer = await fetch(`${kb.base}/oauth/register`, { method: "POST", body: "{}" });
    }
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(await answer.json()).toMatchObject({ error: "temporarily_unavailable" });
  });

  test.each(["/oauth/register", "/oauth/token", "/oauth/revoke", "/oauth/device_authorization"])(
    "what is refused before %s is answered has the shape and the header too",
    async (path) => {
      const kb = await startServer();
      const headers = { host: "evil.test" };
      const { text, status } = await requestByHand(kb.base + path, { method: "POST", headers, body: "" });
      expect([status, JSON.parse(text)]).toMatchObject([403, { error: "access_denied" }]);
    },
  );

  test("of a device code for another client says for whom there are any", async () => {
    const kb = await startServer();
    const answer = await kb.post("/oauth/device_authorization", { client_id: await kb.client() });
    expect(await answer.json()).toMatchObject({
      error: expect.any(String) as string,
      error_description: expect.stringContaining("kb login") as string,
    });
  });
});
