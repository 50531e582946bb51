import { describe, expect, test } from "vitest";
import { verifies } from "../../../requirements.ts";
import type { Scope } from "#api/common.ts";
import { makeDecisions } from "#server/identity/oauth/decision.ts";
import { makeOAuthKeys } from "#server/identity/oauth/keys.ts";
import { TEST_PASSWORD } from "../../../helpers.ts";
import { challengeOf, CLI_REDIRECT, cliAsk, newVerifier, requestByHand, startServer, type Tokens } from "./harness.ts";

async function setUp() {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const clientId = await kb.client({
    client_name: 'Notes <script>alert(1)</script>\u202e "app"',
    client_uri: "https://notes.test/",
  });
  return { kb, owner, clientId, browser: kb.browser(owner) };
}

describe("asking", () => {
  test("test 23: the page is told user's workspaces, the client's word, where the answer goes, and nothing is granted yet", async () => {
    const { kb, owner, clientId, browser } = await setUp();
    const uid = await kb.reachConsent(browser, { clientId, scope: "mcp:read" }, challengeOf(newVerifier()));
    const answer = await browser.get(`/oauth/consent/${uid}/request`);
    const request = (await answer.json()) as Record<string, unknown>;
    expect(request).toMatchObject({
      client: {
        id: clientId,
        name: 'Notes <script>alert(1)</script> "app"',
        host: "127.0.0.1",
        isLocal: true,
        uri: "https://notes.test/",
        isOurs: false,
      },
      scopes: ["mcp:read"],
      workspaces: [{ id: owner.workspaceId, name: "Acme", role: "owner" }],
      currentWorkspaceId: owner.workspaceId,
      needsPassword: false,
      askedFrom: null,
    });
    expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect((await kb.as(owner).get("/api/grants")).json.grants).toEqual([]);
  });

  test("test 21: to look at the page, and even to resume without a decision, grants nothing", async () => {
    const { kb, owner, clientId, browser } = await setUp();
    const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    await browser.get(`/oauth/consent/${uid}/request`);
    const answer = await browser.get(`/oauth/authorize/${uid}`);
    expect(answer.headers.get("location") ?? "").not.toContain("code=");
    expect((await kb.as(owner).get("/api/grants")).json.grants).toEqual([]);
  });

  test("who is not signed in signs in first, and the request waits for them", async () => {
    const { kb, owner, clientId } = await setUp();
    const browser = kb.browser();
    const answer = await browser.get(kb.authorizeUrl({ clientId }, challengeOf(newVerifier())));
    expect(answer.status).toBe(302);
    const to = new URL(answer.headers.get("location") ?? "", kb.base);
    expect(to.pathname).toBe("/sign-in");
    const returnTo = to.searchParams.get("returnTo") ?? "";
    expect(returnTo).toMatch(/^\/oauth\/consent\/[\w-]+$/);
    const uid = returnTo.slice("/oauth/consent/".length);
    expect((await browser.get(`${returnTo}/request`)).status).toBe(401);
    browser.become(owner);
    const decided = await kb.decide(browser, uid);
    const { redirectTo } = (await decided.json()) as { redirectTo: string };
    expect((await browser.get(redirectTo)).headers.get("location")).toContain("code=");
  });

  test("who asks not to show anything is told that someone must be asked", async () => {
    const { kb, clientId, browser } = await setUp();
    const answer = await browser.get(kb.authorizeUrl({ clientId }, challengeOf(newVerifier()), { prompt: "none" }));
    const back = new URL(answer.headers.get("location") ?? "");
    expect(back.searchParams.get("error")).toBe("login_required");
    expect(back.searchParams.get("iss")).toBe(kb.base);
  });

  test("a client that was let in before is asked about again", async () => {
    const { kb, owner, clientId, browser } = await setUp();
    await kb.letIn(owner, { clientId });
    const answer = await browser.get(kb.authorizeUrl({ clientId }, challengeOf(newVerifier())));
    expect(answer.headers.get("location")).toMatch(/^\/oauth\/consent\//);
  });

  test("parameters that a client adds do not matter, doubled ones are refused", async () => {
    const { kb, clientId, browser } = await setUp();
    const more = {
      nonce: "n",
      max_age: "1",
      claims: "{}",
      request_uri: "https://evil.test",
      ui_locales: "de",
      prompt: "consent",
    };
    await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()), more);
    const url = kb.authorizeUrl({ clientId }, challengeOf(newVerifier()));
    const answer = await browser.get(`${url}&redirect_uri=https%3A%2F%2Fevil.test`);
    expect(answer.headers.get("location") ?? "").not.toContain("evil.test");
    expect(await answer.text()).not.toContain("code=");
  });
});

describe("deciding", () => {
  test("test 20: a decision from another site is refused", async () => {
    const { kb, clientId, browser } = await setUp();
    const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    const { csrf } = (await (await browser.get(`/oauth/consent/${uid}/request`)).json()) as { csrf: string };
    const body = { csrf, decision: "allow" };
    const foreign = [
      { origin: "https://evil.test", "sec-fetch-site": "cross-site" },
      { origin: "https://evil.test", "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "same-site" },
      { origin: "null" },
    ];
    for (const headers of foreign) {
      expect((await browser.post(`/oauth/consent/${uid}/decision`, body, headers)).status).toBe(403);
      expect((await browser.post("/oauth/authorize", new URLSearchParams({ uid, ...body }), headers)).status).toBe(403);
    }
    expect((await browser.post(`/oauth/consent/${uid}/decision`, body)).status).toBe(200);
  });

  test("test 21: another browser's request is refused, though its identifier is known and its person is signed in", async () => {
    const { kb, clientId, browser } = await setUp();
    const victim = await kb.addMember(await kb.addWorkspace("Other"), "owner");
    const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    const { csrf } = (await (await browser.get(`/oauth/consent/${uid}/request`)).json()) as { csrf: string };
    const other = kb.browser(victim);
    expect((await other.get(`/oauth/consent/${uid}/request`)).status).toBe(403);
    expect((await other.post(`/oauth/consent/${uid}/decision`, { csrf, decision: "allow" })).status).toBe(403);
  });

  test("test 21: without the proof of the page, with another's, and a second time, nothing is decided", async () => {
    const { kb, clientId, browser, owner } = await setUp();
    const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    const second = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    const decide = (body: unknown) => browser.post(`/oauth/consent/${uid}/decision`, body);
    const csrfOf = async (id: string) =>
      ((await (await browser.get(`/oauth/consent/${id}/request`)).json()) as { csrf: string }).csrf;
    const statuses = [
      (await decide({ decision: "allow" })).status,
      (await decide({ csrf: "", decision: "allow" })).status,
      (await decide({ csrf: "x".repeat(43), decision: "allow" })).status,
      (await decide({ csrf: await csrfOf(second), decision: "allow" })).status,
    ];
    expect(statuses).toEqual([400, 400, 403, 403]);
    // A proof belongs to one session: the same person's next one has its own.
    const csrf = await csrfOf(uid);
    browser.become(await kb.signIn(owner));
    expect((await decide({ csrf, decision: "allow" })).status).toBe(403);
    const own = await csrfOf(uid);
    const both = await Promise.all([
      decide({ csrf: own, decision: "allow" }),
      decide({ csrf: own, decision: "allow" }),
    ]);
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 410]);
    expect((await decide({ csrf: own, decision: "deny" })).status).toBe(410);
    expect((await kb.as(owner).get("/api/grants")).json.grants).toHaveLength(1);
  });

  test("test 22: after another person signed in in the same browser, the token is theirs", async () => {
    const { kb, owner, clientId, browser } = await setUp();
    const second = await kb.addMember(owner.workspaceId);
    const first = await kb.consent(browser, { clientId }, challengeOf(newVerifier()));
    expect(first.searchParams.get("code")).not.toBeNull();
    browser.become(second);
    const verifier = newVerifier();
    const back = await kb.consent(browser, { clientId }, challengeOf(verifier));
    const tokens = (await (
      await kb.exchange({ clientId }, back.searchParams.get("code") ?? "", verifier)
    ).json()) as Tokens;
    const actor = await kb.deps.oauth.findActor(tokens.access_token, "mcp");
    expect(actor).toMatchObject({ userId: second.userId, role: "member" });
  });

  test("test 24 and test 19: a no goes back as access_denied, and both answers name the issuer byte for byte", async () => {
    const { kb, owner, clientId, browser } = await setUp();
    const no = await kb.consent(browser, { clientId }, challengeOf(newVerifier()), { decision: "deny" });
    expect(Object.fromEntries(no.searchParams)).toMatchObject({ error: "access_denied", state: "st", iss: kb.base });
    const yes = await kb.consent(browser, { clientId }, challengeOf(newVerifier()));
    expect(yes.searchParams.get("iss")).toBe(kb.metadata.issuer);
    const entries = await kb.store.in(owner.workspaceId).audit.list({ limit: 20 });
    const registrations = entries.filter((row) => row.action === "client.registered");
    expect(registrations.map((row) => [row.targetId, row.details["registeredFrom"]])).toEqual([
      [clientId, "127.0.0.1"],
    ]);
    const acts = entries.filter((row) => row.action.startsWith("consent."));
    expect(acts.map((row) => [row.action, row.outcome, row.details["clientId"]])).toEqual([
      ["consent.given", "done", clientId],
      ["consent.denied", "refused", clientId],
    ]);
  });

  test("test 19: the issuer and every address come from the settings; Host chooses between a machine's two names at most", async () => {
    const { kb, clientId } = await setUp();
    const headers = {
      host: `localhost:${new URL(kb.base).port}`,
      "x-forwarded-host": "evil.test",
      "x-forwarded-proto": "https",
    };
    expect((await requestByHand(kb.base, { headers: { host: "evil.test" } })).status).toBe(403);
    for (const path of ["oauth-authorization-server", "openid-configuration", "oauth-protected-resource"]) {
      const { status, text } = await requestByHand(`${kb.base}/.well-known/${path}`, { headers });
      expect(status).toBe(200);
      expect(text).not.toMatch(/evil|127|https:/);
    }
    const url = kb.base + kb.authorizeUrl({ clientId }, challengeOf(newVerifier()), { prompt: "none" });
    const { location } = await requestByHand(url, { headers });
    const twin = kb.base.replace("127.0.0.1", "localhost");
    expect(new URL(location).searchParams.get("iss")).toBe(twin);
    const body = "client_id=kb-cli&scope=mcp%3Aread";
    const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
    const device = await requestByHand(`${kb.base}/oauth/device_authorization`, {
      method: "POST",
      headers: form,
      body,
    });
    expect(JSON.parse(device.text).verification_uri).toBe(`${twin}/oauth/device`);
  });

  verifies(
    "oauth:authorize-post",
    "the spec's own way: a form posted to /oauth/authorize decides, and JSON does",
    async () => {
      const { kb, clientId, browser } = await setUp();
      for (const isForm of [true, false]) {
        const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
        const { csrf } = (await (await browser.get(`/oauth/consent/${uid}/request`)).json()) as { csrf: string };
        const fields = { uid, csrf, decision: "allow" };
        const answer = await browser.post("/oauth/authorize", isForm ? new URLSearchParams(fields) : fields);
        const to = isForm
          ? (answer.headers.get("location") ?? "")
          : ((await answer.json()) as { redirectTo: string }).redirectTo;
        expect(answer.status).toBe(isForm ? 303 : 200);
        expect((await browser.get(to)).headers.get("location")).toContain("code=");
      }
    },
  );

  test("a post without a decision goes on as a request", async () => {
    const { kb, clientId, browser } = await setUp();
    const url = kb.authorizeUrl({ clientId }, challengeOf(newVerifier()));
    const answer = await browser.post("/oauth/authorize", new URLSearchParams(url.split("?")[1]));
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(url);
    const long = new URLSearchParams({ client_id: "x", state: "s".repeat(9_000) });
    const refused = await browser.post("/oauth/authorize", long);
    expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
    expect((await browser.post("/oauth/authorize", new URLSearchParams({ uid: "x", decision: "allow" }))).status).toBe(
      400,
    );
  });

  test("several requests in one browser do not disturb each other", async () => {
    const { kb, clientId, browser } = await setUp();
    const verifiers = [newVerifier(), newVerifier(), newVerifier()];
    const uids: string[] = [];
    for (const verifier of verifiers) uids.push(await kb.reachConsent(browser, { clientId }, challengeOf(verifier)));
    for (const [n, uid] of uids.entries()) {
      const { redirectTo } = (await (await kb.decide(browser, uid)).json()) as { redirectTo: string };
      const back = new URL((await browser.get(redirectTo)).headers.get("location") ?? "");
      const answer = await kb.exchange({ clientId }, back.searchParams.get("code") ?? "", verifiers[n] ?? "");
      expect(answer.status).toBe(200);
    }
    // What bound them to the browser is gone with them.
    expect(browser.cookiesFor("/oauth/authorize")).not.toContain("kb_oauth_");
  });

  test("a request is over after ten minutes", async () => {
    const { kb, clientId, browser } = await setUp();
    const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    kb.advance(616_000);
    expect((await browser.get(`/oauth/consent/${uid}/request`)).status).toBe(410);
  });
});

describe("what a grant reaches", () => {
  test("a token sees the workspace that was chosen, and only one of the person's own can be", async () => {
    const { kb, owner, clientId } = await setUp();
    const other = await kb.addWorkspace("Second");
    await kb.store.in(other).members.insert({ userId: owner.userId, role: "member", joinedAt: kb.clock.now() });
    const tokens = await kb.letIn(owner, { clientId }, { decision: "allow", workspaceId: other });
    expect(await kb.deps.oauth.findActor(tokens.access_token, "mcp")).toMatchObject({
      workspaceId: other,
      role: "member",
    });
    expect((await kb.as(owner).get("/api/grants")).json.grants).toEqual([]);
    const strangers = await kb.addWorkspace("Strangers");
    const browser = kb.browser(owner);
    const uid = await kb.reachConsent(browser, { clientId }, challengeOf(newVerifier()));
    expect((await kb.decide(browser, uid, { decision: "allow", workspaceId: strangers })).status).toBe(403);
  });

  test("test 25: scopes are never more than the client may have", async () => {
    const { kb, owner, clientId } = await setUp();
    const wide = await kb.letIn(owner, { clientId, scope: "mcp:read kb:api kb:admin openid offline_access nonsense" });
    expect(wide.scope).toBe("mcp:read");
    const plain = await kb.letIn(owner, { clientId });
    expect(plain.scope).toBe("mcp:read");
    const foreign = await kb.letIn(owner, { clientId, scope: "kb:admin" });
    expect(foreign.scope).toBe("mcp:read");
  });

  test("test 15: a resource of someone else, or of the command line, is refused at the first step", async () => {
    const { kb, clientId, browser } = await setUp();
    for (const resource of ["https://evil.test/mcp", `${kb.base}/api`, `${kb.base}/mcp/x`, `${kb.base}/other`]) {
      const answer = await browser.get(kb.authorizeUrl({ clientId, resource }, challengeOf(newVerifier())));
      const error = new URL(answer.headers.get("location") ?? "").searchParams.get("error");
      expect([resource, error]).toEqual([resource, "invalid_target"]);
    }
  });

  test("the command line gets one refresh token, and a token for each audience that the other audience refuses", async () => {
    const { kb, owner } = await setUp();
    const ask = cliAsk(kb.base);
    const first = await kb.letIn(owner, ask);
    const overApi = (await (
      await kb.refresh(ask, first.refresh_token, { resource: `${kb.base}/api` })
    ).json()) as Tokens;
    expect([first.scope, overApi.scope]).toEqual(["mcp:read", "kb:api"]);
    expect((await kb.mcp(first.access_token)).status).toBe(200);
    expect((await kb.api(first.access_token)).status).toBe(401);
    expect((await kb.mcp(overApi.access_token)).status).toBe(401);
    expect((await kb.api(overApi.access_token)).status).toBe(200);
    expect((await kb.api(overApi.access_token, "/api/audit")).status).toBe(403);
  });

  test("test 25: kb:admin needs the password again and an admin, lives an hour, and can't be refreshed", async () => {
    const { kb, owner } = await setUp();
    const ask = { clientId: "kb-cli", scope: "kb:api kb:admin", resource: `${kb.base}/api`, redirectUri: CLI_REDIRECT };
    const browser = kb.browser(owner);
    const uid = await kb.reachConsent(browser, ask, challengeOf(newVerifier()));
    const shown = (await (await browser.get(`/oauth/consent/${uid}/request`)).json()) as Record<string, unknown>;
    expect(shown).toMatchObject({ needsPassword: true, scopes: ["kb:api", "kb:admin"], client: { isOurs: true } });
    const refused = await kb.decide(browser, uid);
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "password_needed" }]);
    const wrong = await kb.decide(browser, uid, { decision: "allow", password: "not the password" });
    expect(wrong.status).toBe(401);

    const tokens = await kb.letIn(owner, ask, { decision: "allow", password: TEST_PASSWORD });
    expect(tokens.refresh_token).toBeUndefined();
    expect(tokens.scope?.split(" ").sort()).toEqual(["kb:admin", "kb:api"]);
    expect((await kb.api(tokens.access_token, "/api/audit")).status).toBe(200);
    kb.advance(3_600_000);
    expect((await kb.api(tokens.access_token, "/api/audit")).status).toBe(401);

    const member = await kb.addMember(owner.workspaceId);
    const theirs = kb.browser(member);
    const id = await kb.reachConsent(theirs, ask, challengeOf(newVerifier()));
    const answer = await kb.decide(theirs, id, { decision: "allow", password: TEST_PASSWORD });
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: "role_too_low" }]);
  });
});

test("someone removed while their password is proved leaves no grant behind", async () => {
  const { kb, owner } = await setUp();
  const member = await kb.addMember(owner.workspaceId, "admin");
  const actor = await kb.deps.sessions.findActor(member.sessionSecret);
  if (!actor) throw new Error("The session must be alive.");
  const { grants, members } = kb.store.in(owner.workspaceId);
  const decisions = makeDecisions({
    ...kb.deps,
    store: kb.store,
    keys: makeOAuthKeys(Buffer.alloc(32)),
    documents: { keep: async () => undefined, readAt: async () => new Map() },
    baseUrl: kb.base,
    prove: async () => {
      await kb.store.transaction((tx) => tx.in(owner.workspaceId).members.remove(member.userId, kb.clock.now()));
      return { userId: member.userId };
    },
  });
  const asked = {
    clientId: "kb-cli",
    scopes: ["kb:api", "kb:admin"] satisfies Scope[],
    audiences: ["api"] satisfies ["api"],
    place: { host: "127.0.0.1", isLocal: true },
    askedFrom: null,
    expiresAt: kb.clock.now() + 60_000,
    subject: [],
  };
  const decision = { decision: "allow", csrf: "", password: "any" } as const;
  const allowed = decisions.allow(await kb.deps.oauth.provider(), actor, asked, decision, async () => undefined);
  await expect(allowed).rejects.toMatchObject({ code: "forbidden" });
  expect(await members.find(member.userId)).toBeUndefined();
  expect(await grants.list({ userId: member.userId, now: kb.clock.now(), limit: 9 })).toEqual([]);
});
