import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD, type TestServer, type TestUser } from "../../../helpers.ts";
import { makeMailbox } from "../../../mailbox.ts";
import { cookiesOf, verifiedAt, withCookies } from "../sessions/people.ts";
import {
  callbackOf,
  comeBack,
  makeSsoServer,
  passProvider,
  setOut,
  sha256,
  signInAtProvider,
  startLiar,
  startProvider,
  type Lies,
} from "./providers.ts";

const ANA = { sub: "ana-1", email: "ana@acme.test", email_verified: true, name: "Ana" };
const OPEN = { mode: "managed", signup: "open" } as const;
const usersOf = (kb: TestServer) => kb.database.read.selectFrom("users").selectAll().execute();

describe("single sign-on", () => {
  test("goes to the provider with code, PKCE, state and nonce, and a cookie that ties it to the browser", async ({
    expect,
  }) => {
    const provider = await startLiar();
    const kb = await makeSsoServer(provider);
    expect((await kb.anyone().get("/api/onboarding")).json.sso).toBe("Acme ID");
    const { answer, url, cookie } = await setOut(kb);
    expect(answer.status).toBe(302);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(url).toMatch(`${provider.issuer}/authorize?`);
    expect(asked).toMatchObject({
      client_id: "kb",
      response_type: "code",
      redirect_uri: "http://127.0.0.1:7700/api/sso/callback",
      scope: "openid email profile",
      code_challenge_method: "S256",
    });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^kb_sso=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    // What the database holds is of no use without the cookie and the vault.
    const rows = JSON.stringify(await kb.database.read.selectFrom("sso_flows").selectAll().execute());
    for (const secret of [asked["state"], asked["nonce"], cookie.split("=")[1]]) expect(rows).not.toContain(secret);
    // The verifier is told to the token endpoint only, and fits.
    provider.told.nonce = asked["nonce"] ?? "";
    await comeBack(kb, callbackOf(url), cookie);
    const form = new URLSearchParams(provider.asked.find(({ path }) => path === "/token")?.body);
    expect(sha256(form.get("code_verifier") ?? "")).toBe(asked["code_challenge"]);
  });

  test("where sign-up is open makes an account and a workspace, knows the person again, and comes back to the page", async ({
    expect,
  }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider, { settings: OPEN });
    const first = await signInAtProvider(kb, "/settings/profile?tab=1#x");
    expect(first).toMatchObject({ status: 302 });
    expect(first.headers.get("location")).toBe("/settings/profile?tab=1#x");
    const session = await kb.anyone().request("GET", "/api/session", withCookies(first));
    const known = kb.deps.knownBrowsers.cookieIn(cookiesOf(first));
    expect(kb.deps.knownBrowsers.idFor(known, session.json.user.id)).toBeDefined();
    expect(session.json).toMatchObject({
      role: "owner",
      workspace: { name: "Workspace of Ana" },
      // The provider's word counts for no domain here.
      user: { name: "Ana", email: "ana@acme.test", emailVerifiedAt: null },
    });
    // The identity is (issuer, subject): another address at the provider is still the same person.
    provider.who.person = { ...ANA, email: "ana.new@acme.test" };
    const second = await signInAtProvider(kb);
    expect(second.headers.get("location")).toBe("/");
    const again = await kb.anyone().request("GET", "/api/session", withCookies(second));
    expect(again.json.user).toEqual(session.json.user);
    // And the same address with another subject is another.
    provider.who.person = { ...ANA, sub: "mallory" };
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=email_taken");
    expect(await usersOf(kb)).toHaveLength(1);
  });

  test("on one's own server lets no one in before the first admin", async ({ expect }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider, { settings: { signup: "open" } });
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=sign_up_closed");
    await kb.store.installation.complete(kb.clock.now());
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/");
  });

  test("test 45: an account with the same address is not linked, whatever the provider says of it", async ({
    expect,
  }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider, { settings: OPEN, domains: ["acme.test"] });
    const ana = await kb.addMember(await kb.addWorkspace(), "owner", ANA.email);
    const back = await signInAtProvider(kb);
    expect(back.headers.get("location")).toBe("/sign-in?error=email_taken");
    expect(cookiesOf(back)).toBe("kb_sso=");
    expect(await kb.store.sso.identitiesOf(ana.userId)).toEqual([]);
  });

  test("where people are invited lets in anyone who has an open invitation of an address that the provider proves", async ({
    expect,
  }) => {
    const provider = await startProvider({ ...ANA, email: "Ana@ACME.test" });
    const kb = await makeSsoServer(provider, { domains: ["acme.test"], mailer: makeMailbox() });
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=sign_up_closed");
    const owner = await kb.addOwner();
    await kb.as(owner).post("/api/workspace/invitations", { email: ANA.email, role: "admin" });
    provider.who.person = { ...ANA, email_verified: false };
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=sign_up_closed");
    provider.who.person = ANA;
    const back = await signInAtProvider(kb);
    expect((await kb.anyone().request("GET", "/api/session", withCookies(back))).json).toMatchObject({
      role: "admin",
      workspace: { id: owner.workspaceId },
      user: { email: ANA.email, emailVerifiedAt: "2026-11-21T09:30:00.000Z" },
    });
    provider.who.person = { ...ANA, sub: "ana-2", email: "else@acme.test" };
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=sign_up_closed");
  });

  test.for([
    [
      "demoted",
      (kb: TestServer, by: TestUser, who: TestUser) =>
        kb.as(by).patch(`/api/workspace/members/${who.userId}`, { role: "member" }),
    ],
    [
      "removed",
      (kb: TestServer, by: TestUser, who: TestUser) => kb.as(by).delete(`/api/workspace/members/${who.userId}`),
    ],
    // As a program before this rule left it: the role fell and nothing else happened.
    [
      "demoted before",
      (kb: TestServer, _by: TestUser, who: TestUser) =>
        kb.database.write.updateTable("members").set({ role: "member" }).where("userId", "=", who.userId).execute(),
    ],
  ] as const)("lets no one in whose inviter was %s since", async ([, fall], { expect }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider, { domains: ["acme.test"], mailer: makeMailbox() });
    const owner = await kb.addOwner();
    const inviter = await kb.addMember(owner.workspaceId, "owner");
    await kb.as(inviter).post("/api/workspace/invitations", { email: ANA.email, role: "admin" });
    await fall(kb, owner, inviter);
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=sign_up_closed");
    expect((await kb.as(owner).get("/api/workspace/invitations")).json.invitations).toEqual([]);
    // Somebody who may invite them still does.
    await kb.as(owner).post("/api/workspace/invitations", { email: ANA.email, role: "member" });
    const back = await signInAtProvider(kb);
    expect((await kb.anyone().request("GET", "/api/session", withCookies(back))).json.role).toBe("member");
  });

  test("where sign-up is open puts no one into the workspace of a stranger who invited them", async ({ expect }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider, { settings: OPEN, domains: ["acme.test"], mailer: makeMailbox() });
    const mallory = await kb.addOwner("Acme");
    await kb.as(mallory).post("/api/workspace/invitations", { email: ANA.email, role: "member" });
    const back = await signInAtProvider(kb);
    const { json } = await kb.anyone().request("GET", "/api/session", withCookies(back));
    expect(json).toMatchObject({ role: "owner", user: { email: ANA.email } });
    expect(json.workspace.id).not.toBe(mallory.workspaceId);
  });

  test.for([
    ["not by a provider without domains", [], ANA, false],
    ["not for another domain", ["acme.test"], { ...ANA, email: "ana@sub.acme.test" }, false],
    ["not for a domain that ends the same", ["acme.test"], { ...ANA, email: "ana@notacme.test" }, false],
    ["not for a look-alike", ["acme.test"], { ...ANA, email: "ana@acme.te\u017Ft" }, false],
    ["not unverified", ["acme.test"], { ...ANA, email_verified: false }, false],
    ["not with a word for true", ["acme.test"], { ...ANA, email_verified: "true" }, false],
    ["not without a word", ["acme.test"], { sub: "x", email: ANA.email }, false],
    ["but of its own domain, verified", ["acme.test"], { ...ANA, email: "ANA@Acme.Test" }, true],
  ] as const)("S3: an address is proved %s", async ([, domains, person, isProved], { expect }) => {
    const provider = await startProvider(person);
    const kb = await makeSsoServer(provider, { settings: OPEN, domains: [...domains] });
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/");
    expect((await verifiedAt(kb, person.email)) !== null).toBe(isProved);
  });

  test("a provider that gives no address, and someone whom the last workspace removed, come back with a reason", async ({
    expect,
  }) => {
    const provider = await startProvider({ sub: "nameless" });
    const kb = await makeSsoServer(provider, { settings: OPEN });
    expect((await signInAtProvider(kb)).headers.get("location")).toBe("/sign-in?error=no_email");
    const invited = await makeSsoServer(provider);
    const owner = await invited.addOwner();
    const bo = await invited.addMember(owner.workspaceId);
    const { userId } = bo;
    const createdAt = invited.clock.now();
    const { issuer } = provider;
    await invited.store.sso.insertIdentity({ issuer, subject: "nameless", userId, label: "bo", createdAt });
    expect((await signInAtProvider(invited)).headers.get("location")).toBe("/");
    await invited.as(owner).delete(`/api/workspace/members/${userId}`);
    expect((await signInAtProvider(invited)).headers.get("location")).toBe("/sign-in?error=no_workspace");
  });
});

describe("test 45: what comes back from the provider", () => {
  test.for([
    ["another nonce", { claims: { nonce: "other" } }],
    ["no nonce", { claims: { nonce: undefined } }],
    ["another audience", { claims: { aud: "somebody-else" } }],
    ["another issuer", { claims: { iss: "https://evil.test" } }],
    ["no subject", { claims: { sub: undefined } }],
    ["an end in the past", { claims: { exp: 1_000 } }],
    ["no signature (alg none)", { header: { alg: "none" } }],
    ["a key as a password (alg HS256)", { header: { alg: "HS256" } }],
    ["a signature of another key", { isForged: true }],
    ["an error of the token endpoint", { tokenStatus: 400 }],
  ] satisfies [string, Lies][])("is refused with %s", async ([, lies], { expect }) => {
    const provider = await startLiar(lies);
    const kb = await makeSsoServer(provider, { settings: OPEN });
    const { url, cookie } = await setOut(kb);
    provider.told.nonce = new URL(url).searchParams.get("nonce") ?? "";
    const back = await comeBack(kb, callbackOf(url), cookie);
    expect(back.headers.get("location")).toBe("/sign-in?error=sso_failed");
    expect(cookiesOf(back)).toBe("kb_sso=");
    expect(await usersOf(kb)).toEqual([]);
    expect(back.text).not.toContain("script");
  });

  test("the same, honest, signs in: the cases above fail for what they say", async ({ expect }) => {
    const provider = await startLiar();
    const kb = await makeSsoServer(provider, { settings: OPEN });
    const { url, cookie } = await setOut(kb);
    provider.told.nonce = new URL(url).searchParams.get("nonce") ?? "";
    expect((await comeBack(kb, callbackOf(url), cookie)).headers.get("location")).toBe("/");
  });

  test.for([
    ["another issuer's answer (mix-up)", { iss: "https://evil.test" }, "sso_failed"],
    ["a refusal", { error: "access_denied" }, "sso_denied"],
    ["an unknown state", { state: "made-up" }, "sso_expired"],
  ] as const)("%s is refused without a call to the token endpoint", async ([, change, problem], { expect }) => {
    const provider = await startLiar();
    const kb = await makeSsoServer(provider, { settings: OPEN });
    const { url, cookie } = await setOut(kb);
    const back = await comeBack(kb, callbackOf(url, change), cookie);
    expect(back.headers.get("location")).toBe(`/sign-in?error=${problem}`);
    expect(provider.asked.map(({ path }) => path)).not.toContain("/token");
  });

  test("counts once, within ten minutes, in the browser in which it began", async ({ expect }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider, { settings: OPEN });
    const other = await setOut(kb);
    const mine = await setOut(kb);
    const path = await passProvider(mine.url);
    // Login CSRF: the attacker's answer in the victim's browser.
    expect((await comeBack(kb, path, other.cookie)).headers.get("location")).toBe("/sign-in?error=sso_expired");
    // It takes nothing from the person whose it is.
    expect((await comeBack(kb, path, mine.cookie)).headers.get("location")).toBe("/");
    expect((await comeBack(kb, path, mine.cookie)).headers.get("location")).toBe("/sign-in?error=sso_expired");
    const bare = await setOut(kb);
    expect((await comeBack(kb, await passProvider(bare.url), "")).headers.get("location")).toBe(
      "/sign-in?error=sso_expired",
    );
    const late = await setOut(kb);
    const latePath = await passProvider(late.url);
    kb.clock.advance(600_000);
    expect((await comeBack(kb, latePath, late.cookie)).headers.get("location")).toBe("/sign-in?error=sso_expired");
    const good = await setOut(kb);
    const goodPath = await passProvider(good.url);
    expect((await comeBack(kb, goodPath, good.cookie)).headers.get("location")).toBe("/");
    expect((await comeBack(kb, goodPath, good.cookie)).headers.get("location")).toBe("/sign-in?error=sso_expired");
    expect(await usersOf(kb)).toHaveLength(1);
  });

  test("a discovery document of another issuer, and an address that may not be reached, come back with a reason", async ({
    expect,
  }) => {
    const liar = await startLiar({ metadata: { issuer: "https://evil.test" } });
    const misled = await setOut(await makeSsoServer(liar));
    expect(misled.url).toBe("/sign-in?error=sso_unavailable");
    const provider = await startLiar();
    const walled = await setOut(await makeSsoServer(provider, { isReachable: false }));
    expect(walled.url).toBe("/sign-in?error=sso_unavailable");
    expect(provider.asked).toEqual([]);
    // Its document names a host that the operator listed for something else.
    const inner = await startLiar();
    const led = await startLiar({
      metadata: { token_endpoint: `${inner.issuer}/token`, jwks_uri: `${inner.issuer}/jwks` },
    });
    const kb = await makeSsoServer(led, { hosts: [new URL(inner.issuer).host] });
    const trip = await setOut(kb);
    const back = await comeBack(kb, callbackOf(trip.url), trip.cookie);
    expect(back.headers.get("location")).toContain("error=");
    expect(inner.asked).toEqual([]);
    const bare = await makeServer();
    expect(await bare.anyone().get("/api/sso/authorize")).toMatchObject({
      status: 404,
      json: { code: "sso_not_configured" },
    });
  });
});

describe("linking an account", () => {
  const link = (kb: TestServer, cookie: string, body: object = {}) =>
    kb.anyone().request("POST", "/api/sso/link", { body, headers: { cookie } });

  test("takes a recent sign-in, opens the account from then on, and is audited", async ({ expect }) => {
    const provider = await startProvider({ ...ANA, email: "private@home.test" });
    const kb = await makeSsoServer(provider);
    const ana = await kb.addMember(await kb.addWorkspace(), "owner", ANA.email);
    const session = `kb_session=${ana.sessionSecret}`;
    kb.clock.advance(15 * 60_000 + 1);
    expect(await link(kb, session)).toMatchObject({ status: 403, json: { code: "recent_sign_in_required" } });
    expect(await link(kb, session, { password: "not it at all" })).toMatchObject({ json: { code: "password_wrong" } });
    const asked = await link(kb, session, { password: TEST_PASSWORD });
    expect(asked).toMatchObject({ status: 200, json: { url: expect.stringContaining(`${provider.issuer}/auth?`) } });
    const back = await comeBack(kb, await passProvider(asked.json.url), `${session}; ${cookiesOf(asked)}`);
    expect(back.headers.get("location")).toBe("/settings/profile?sso=linked");
    expect((await kb.as(ana).get("/api/profile/identities")).json.identities).toMatchObject([
      { issuer: provider.issuer, label: "private@home.test" },
    ]);
    const { audit } = kb.store.in(ana.workspaceId);
    expect(await audit.list({ limit: 9, action: "user.sso_linked" })).toMatchObject([{ actorUserId: ana.userId }]);
    const entered = await signInAtProvider(kb);
    expect((await kb.anyone().request("GET", "/api/session", withCookies(entered))).json.user.id).toBe(ana.userId);
  });

  test("counts only for the session that asked, and for an identity that opens no other account", async ({
    expect,
  }) => {
    const provider = await startProvider(ANA);
    const kb = await makeSsoServer(provider);
    const ana = await kb.addOwner();
    const mallory = await kb.addMember(ana.workspaceId);
    const asked = await link(kb, `kb_session=${mallory.sessionSecret}`);
    const path = await passProvider(asked.json.url);
    const stolen = await comeBack(kb, path, `kb_session=${ana.sessionSecret}; ${cookiesOf(asked)}`);
    expect(stolen.headers.get("location")).toBe("/settings/profile?error=session_ended");
    expect(await kb.store.sso.identitiesOf(ana.userId)).toEqual([]);

    const createdAt = kb.clock.now();
    const { issuer } = provider;
    await kb.store.sso.insertIdentity({ issuer, subject: ANA.sub, userId: ana.userId, label: "ana", createdAt });
    const again = await link(kb, `kb_session=${mallory.sessionSecret}`);
    const cookie = `kb_session=${mallory.sessionSecret}; ${cookiesOf(again)}`;
    const back = await comeBack(kb, await passProvider(again.json.url), cookie);
    expect(back.headers.get("location")).toBe("/settings/profile?error=identity_taken");
    expect(await kb.store.sso.identitiesOf(mallory.userId)).toEqual([]);
  });
});
