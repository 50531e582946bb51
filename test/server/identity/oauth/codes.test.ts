import { createHash } from "node:crypto";
import * as oauth from "oauth4webapi";
import { describe, expect, test } from "vitest";
import { challengeOf, LOCAL, newVerifier, REDIRECT, startServer } from "./harness.ts";
import { verifies } from "../../../requirements.ts";

/** A client that found the server by itself, registered and was let in. */
async function letInFromNothing() {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const { metadata: as } = kb;
  const registered = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
      LOCAL,
    ),
  );
  const client: oauth.Client = { client_id: registered.client_id };
  const verifier = oauth.generateRandomCodeVerifier();
  const ask = { clientId: registered.client_id, scope: "mcp:read", resource: `${kb.base}/mcp` };
  const back = await kb.consent(kb.browser(owner), ask, await oauth.calculatePKCECodeChallenge(verifier));
  const params = oauth.validateAuthResponse(as, client, back, "st");
  const tokens = await oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), params, REDIRECT, verifier, LOCAL),
  );
  return { kb, owner, as, client, registered, back, tokens };
}

describe("a client that knows nothing but the server's address", () => {
  verifies(
    ["oauth:register", "oauth:authorize-get"],
    "registers, asks, and is sent back with a code once the person has agreed",
    async () => {
      const { kb, owner, registered, back } = await letInFromNothing();
      expect(registered).toMatchObject({
        client_id: expect.any(String),
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: "none",
      });
      expect(back.href.startsWith(`${REDIRECT}?`)).toBe(true);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({
        state: "st",
        iss: kb.base,
        code: expect.stringMatching(/^.{20,}$/),
      });
      // Without an answer of the person's nobody is sent back, and without a sign-in nobody is asked.
      const ask = { clientId: registered.client_id, scope: "mcp:read" };
      const url = kb.authorizeUrl(ask, challengeOf(newVerifier()));
      const asked = await kb.browser(owner).get(url);
      expect([asked.status, asked.headers.get("location")]).toEqual([
        302,
        expect.stringMatching(/^\/oauth\/consent\//),
      ]);
      const uid = await kb.reachConsent(kb.browser(owner), ask, challengeOf(newVerifier()));
      expect((await kb.browser().get(`/oauth/consent/${uid}/request`)).status).not.toBe(200);
      const unknown = await kb.browser(owner).get(kb.authorizeUrl({ clientId: "nobody" }, challengeOf(newVerifier())));
      expect([unknown.status, unknown.headers.get("location")]).toEqual([400, null]);
    },
  );

  verifies(
    ["oauth:token", "auth:mcp-takes-oauth", "mcp:header-authorization"],
    "gets a bearer for /mcp by its code, and another one by its refresh token",
    async () => {
      const { kb, owner, as, client, tokens: first } = await letInFromNothing();
      expect(first).toMatchObject({ token_type: "bearer", expires_in: 3600, scope: "mcp:read" });
      expect(first["id_token"]).toBeUndefined();
      expect((await kb.mcp(first.access_token)).status).toBe(200);
      expect((await kb.mcp(`${first.access_token}x`)).status).toBe(401);
      expect((await kb.mcp(first.refresh_token ?? "")).status).toBe(401);
      const second = await oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, oauth.None(), first.refresh_token ?? "", LOCAL),
      );
      expect(second.access_token).not.toBe(first.access_token);
      expect((await kb.mcp(second.access_token)).status).toBe(200);
      kb.advance(3_601_000);
      expect((await kb.mcp(second.access_token)).status).toBe(401);
      // Who registers for the code alone gets no refresh token.
      const once = await kb.letIn(owner, { clientId: await kb.client({ grant_types: ["authorization_code"] }) });
      expect(once.refresh_token).toBeUndefined();
    },
  );

  verifies("oauth:revoke", "gives its tokens back, and none of that consent opens anything any more", async () => {
    const { kb, owner, as, client, tokens: first } = await letInFromNothing();
    const second = await oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, oauth.None(), first.refresh_token ?? "", LOCAL),
    );
    const other = await kb.letIn(owner, { clientId: await kb.client(), scope: "mcp:read" });
    expect((await kb.mcp(second.access_token)).status).toBe(200);
    const gone = await oauth.revocationRequest(as, client, oauth.None(), second.access_token, LOCAL);
    await oauth.processRevocationResponse(gone);
    for (const { access_token: token } of [first, second]) expect((await kb.mcp(token)).status).toBe(401);
    expect((await kb.refresh({ clientId: client.client_id }, second.refresh_token)).status).toBe(400);
    expect((await kb.mcp(other.access_token)).status).toBe(200);
  });
});

describe("codes", () => {
  test("test 1: a code that comes again is refused and ends what the first one gave", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client(), scope: "mcp:read" };
    const verifier = newVerifier();
    const back = await kb.consent(kb.browser(owner), ask, challengeOf(verifier));
    const code = back.searchParams.get("code") ?? "";
    const tokens = (await (await kb.exchange(ask, code, verifier)).json()) as oauth.TokenEndpointResponse;
    expect((await kb.mcp(tokens.access_token)).status).toBe(200);

    const again = await kb.exchange(ask, code, verifier);
    expect([again.status, await again.json()]).toMatchObject([400, { error: "invalid_grant" }]);
    expect((await kb.mcp(tokens.access_token)).status).toBe(401);
    expect((await kb.refresh(ask, tokens.refresh_token)).status).toBe(400);
    const actions = (await kb.store.in(owner.workspaceId).audit.list({ limit: 10 })).map((row) => row.action);
    expect(actions).toContain("grant.reuse_detected");
  });

  test("test 1: of two who redeem one code at the same moment no one keeps anything", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client(), scope: "mcp:read" };
    const verifier = newVerifier();
    const back = await kb.consent(kb.browser(owner), ask, challengeOf(verifier));
    const code = back.searchParams.get("code") ?? "";
    const answers = await Promise.all([kb.exchange(ask, code, verifier), kb.exchange(ask, code, verifier)]);
    expect(answers.filter((answer) => answer.status === 200).length).toBeLessThanOrEqual(1);
    for (const answer of answers) {
      const { access_token: token = "none" } = (await answer.json()) as { access_token?: string };
      expect((await kb.mcp(token)).status).toBe(401);
    }
  });

  test("a code is dead after ten minutes", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client() };
    const verifier = newVerifier();
    const back = await kb.consent(kb.browser(owner), ask, challengeOf(verifier));
    kb.advance(601_000);
    const answer = await kb.exchange(ask, back.searchParams.get("code") ?? "", verifier);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: "invalid_grant" }]);
  });

  test.each([
    ["test 2: without PKCE", { code_challenge: "", code_challenge_method: "" }],
    ["test 3: with the plain method", { code_challenge_method: "plain" }],
    ["test 4: without a method", { code_challenge_method: "" }],
  ])("%s no one is asked", async (_name, change) => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const url = new URL(kb.authorizeUrl({ clientId: await kb.client() }, challengeOf(newVerifier())), kb.base);
    for (const [name, value] of Object.entries(change)) {
      if (value === "") url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    const answer = await kb.browser(owner).get(url.href);
    const back = new URL(answer.headers.get("location") ?? "", kb.base);
    expect(back.href.startsWith(REDIRECT)).toBe(true);
    expect(back.searchParams.get("error")).toBe("invalid_request");
    expect(back.searchParams.get("code")).toBeNull();
  });

  test("test 5: another verifier, test 6: another redirect address and test 9: another client get nothing for a code", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client({ redirect_uris: [REDIRECT, "http://127.0.0.1/other"] }) };
    const thief = { clientId: await kb.client() };
    const verifier = newVerifier();
    const back = await kb.consent(kb.browser(owner), ask, challengeOf(verifier));
    const code = back.searchParams.get("code") ?? "";
    const wrong = [
      await kb.exchange(ask, code, newVerifier()),
      await kb.exchange({ ...ask, redirectUri: "http://127.0.0.1/other" }, code, verifier),
      await kb.exchange(thief, code, verifier),
    ];
    for (const answer of wrong)
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: "invalid_grant" }]);
    // None of it used the code up.
    expect((await kb.exchange(ask, code, verifier)).status).toBe(200);
  });
});

describe("redirect addresses", () => {
  test("test 7: an address that is not letter by letter the registered one is refused on a page, and no one is sent anywhere", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const clientId = await kb.client({ redirect_uris: ["https://app.test/callback", "http://127.0.0.1/loop"] });
    const wrong = [
      ["another path", "https://app.test/other"],
      ["another host", "https://app.test.evil.test/callback"],
      ["a user name that looks like the host", "https://app.test@evil.test/callback"],
      ["a path with an address in it", "https://evil.test/https://app.test/callback"],
      ["a query of its own", "https://app.test/callback?x=1"],
      ["another spelling of the host", "https://APP.test/callback"],
      ["localhost for 127.0.0.1", "http://localhost/loop"],
      ["127.0.0.2 for 127.0.0.1", "http://127.0.0.2/loop"],
      ["https for http", "https://127.0.0.1/loop"],
      ["nothing", ""],
    ];
    for (const [name, redirectUri = ""] of wrong) {
      const url = kb.authorizeUrl({ clientId, redirectUri }, challengeOf(newVerifier()));
      const answer = await kb.browser(owner).get(url);
      expect([name, answer.status, answer.headers.get("location")]).toEqual([name, 400, null]);
      expect(answer.headers.get("content-type")).toContain("text/html");
      expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(await answer.text()).toContain("Go back to the app and start again");
    }
  });

  test("what this server refuses on the way to the question is a page in a browser, JSON for a program", async () => {
    const kb = await startServer();
    const url = kb.authorizeUrl({ clientId: await kb.client() }, challengeOf(newVerifier()));
    const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const send = (path: string, init: RequestInit) => fetch(kb.base + path, { redirect: "manual", ...init });
    const twoSessions = { cookie: `${kb.deps.cookie.name}=a; ${kb.deps.cookie.name}=b` };
    const badBody = { method: "POST", body: "{", headers: { "content-type": "application/json" } };
    const foreign = { method: "POST", headers: { origin: "https://evil.test" } };
    const failures: [string, RequestInit, number, string][] = [
      [url, { headers: twoSessions }, 400, "two_credentials"],
      ["/oauth/authorize", badBody, 400, "invalid_request"],
      ["/oauth/authorize", foreign, 403, "origin_not_allowed"],
      ["/oauth/authorize", { method: "DELETE" }, 405, "method_not_allowed"],
    ];
    const seen = async (path: string, init: RequestInit) => {
      const answer = await send(path, { ...init, headers: { ...init.headers, ...html } });
      const text = await answer.text();
      return [answer.status, answer.headers.get("content-type"), /<code>(\w+) \(request req_/.exec(text)?.[1]];
    };
    for (const [path, init, status, code] of failures) {
      expect(await seen(path, init)).toEqual([status, "text/html; charset=utf-8", code]);
      expect((await send(path, init)).headers.get("content-type")).toMatch(/json$/);
    }
    let limited = await seen(url, {});
    for (let n = 0; n < 200 && limited[0] !== 429; n++) limited = await seen(url, {});
    expect(limited).toEqual([429, "text/html; charset=utf-8", "rate_limited"]);
    const answer = await send(url, { headers: html });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await answer.text()).toMatch(
      /Nothing was shared with the app\. Go back to the app and start again in \d+ second/,
    );
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    // The endpoints of programs stay JSON whatever they say they take.
    const token = await send("/oauth/token", { method: "POST", headers: html });
    expect(token.headers.get("content-type")).toMatch(/json/);
  });

  test("a refusal is a page that names the client, with nothing of a request as HTML; a program gets JSON", async () => {
    const kb = await startServer();
    const clientId = await kb.client({ client_name: "Desk <b>agent</b>" });
    const url = kb.authorizeUrl({ clientId, redirectUri: "https://evil.test/<script>" }, challengeOf(newVerifier()));
    const page = await kb.browser().get(url, { accept: "text/html" });
    const html = await page.text();
    expect(page.status).toBe(400);
    expect(html).toContain("<strong>Desk &#60;b&#62;agent&#60;/b&#62;</strong> sent an invalid request");
    expect(html).toContain("its redirect address isn't registered");
    expect(html).not.toMatch(/<script|<b>|evil\.test/);
    // Its one style sheet is allowed by its hash, so that nothing else is.
    const style = createHash("sha256")
      .update(/<style>([^<]*)<\/style>/.exec(html)?.[1] ?? "")
      .digest("base64");
    expect(page.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; frame-ancestors 'none'`,
    );
    const unknown = await kb.browser().get(kb.authorizeUrl({ clientId: "nobody" }, challengeOf(newVerifier())));
    expect([unknown.status, await unknown.text()]).toEqual([
      400,
      expect.stringContaining("this server doesn't know the app"),
    ]);
    const json = await kb.browser().get(url, { accept: "application/json" });
    expect([json.status, await json.json()]).toMatchObject([400, { error: "invalid_redirect_uri" }]);
  });

  test("test 8: a loopback address may have any port", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client(), redirectUri: "http://127.0.0.1:51234/callback" };
    const back = await kb.consent(kb.browser(owner), ask, challengeOf(newVerifier()));
    expect(back.origin).toBe("http://127.0.0.1:51234");
  });

  test("test 10: nothing but the code flow, and only by the query", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const ask = { clientId: await kb.client() };
    const ways = [
      { response_type: "token" },
      { response_type: "id_token" },
      { response_mode: "form_post" },
      { response_mode: "fragment" },
    ];
    for (const way of ways) {
      const url = new URL(kb.authorizeUrl(ask, challengeOf(newVerifier())), kb.base);
      for (const [name, value] of Object.entries(way)) url.searchParams.set(name, value);
      const answer = await kb.browser(owner).get(url.href);
      const text = (answer.headers.get("location") ?? "") + (await answer.text());
      expect([way, text]).toEqual([way, expect.stringMatching(/unsupported_response_type|invalid_request/)]);
      expect(text).not.toContain("/oauth/consent/");
    }
  });

  test("test 31: passwords and client credentials are no grants", async () => {
    const kb = await startServer();
    const clientId = await kb.client();
    for (const grant of [
      "password",
      "client_credentials",
      "implicit",
      "urn:ietf:params:oauth:grant-type:token-exchange",
    ]) {
      const answer = await kb.post("/oauth/token", {
        grant_type: grant,
        client_id: clientId,
        username: "a",
        password: "b",
      });
      expect([grant, answer.status, await answer.json()]).toMatchObject([
        grant,
        400,
        { error: expect.stringMatching(/unsupported_grant_type|invalid_request/) },
      ]);
    }
  });
});
