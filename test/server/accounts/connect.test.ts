import { describe, test } from "vitest";
import { FAKE_CLIENT, startFakeProvider } from "./fake-provider.ts";
import { makeAccountServer } from "./server.ts";

const ANNA = { id: 7, login: "anna" };
const OTHER = { id: 9, login: "other" };

async function makeBoth(options: Parameters<typeof makeAccountServer>[1] = {}) {
  const provider = await startFakeProvider();
  const kb = await makeAccountServer({ gitea: { baseUrl: provider.url, ...FAKE_CLIENT } }, options);
  return { provider, kb };
}

describe("connecting an account", () => {
  test("begins at our page, which says what will be connected", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const path = "/api/accounts/gitea/authorize?returnTo=/connectors/new";
    const page = "/settings/accounts?connect=gitea&returnTo=%2Fconnectors%2Fnew";
    expect(await kb.go(kb.anna, path)).toMatchObject({ status: 302, location: page });
    expect((await kb.go(kb.anna, path, { "sec-fetch-site": "cross-site" })).location).toBe(page);
    expect((await kb.go(undefined, path, { "sec-fetch-site": "same-origin" })).location).toBe(page);
    // A link on a page of ours can be anybody's: an item's, for one.
    for (const dest of ["document", "empty"]) {
      const headers = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": dest };
      expect(await kb.go(kb.anna, path, headers)).toMatchObject({ status: 302, location: page });
    }
    // The page goes on by a request that no link can send.
    const begun = await kb.as(kb.anna).post("/api/accounts/gitea/authorize", { returnTo: "/connectors/new" });
    const location: string = begun.json.url;
    expect(location.startsWith(`${provider.url}/login/oauth/authorize?`)).toBe(true);
    const sent = Object.fromEntries(new URL(location).searchParams);
    expect(sent).toMatchObject({
      response_type: "code",
      client_id: "kb-client",
      redirect_uri: "http://127.0.0.1:7700/api/accounts/gitea/callback",
      scope: "read:user read:organization read:repository read:issue",
      code_challenge_method: "S256",
    });
    expect(location).not.toContain("secret");
  });

  test("shows who was found before it is kept, and links its person at once", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const back = provider.agree(await kb.begin(kb.anna, "gitea", { returnTo: "/connectors?tab=mine" }), ANNA);
    const { status, location, text } = await kb.go(kb.anna, back);
    expect([status, text]).toEqual([302, ""]);
    expect(await kb.accountsOf(kb.anna)).toEqual([]);
    const id = location.split("#found=")[1];
    const { json } = await kb.as(kb.anna).post("/api/accounts/found", { id });
    expect(json.found).toMatchObject({ providerName: "Gitea", baseUrl: provider.url, label: "anna", login: "anna" });
    // Another session, even of the same person, has nothing of it.
    const again = await kb.signIn(kb.anna);
    expect((await kb.as(again).post("/api/accounts/found", { id })).status).toBe(410);
    const done = await kb.accept(kb.anna, location);
    expect(done.json.returnTo).toBe("/connectors?tab=mine&account=connected");
    expect(await kb.accountsOf(kb.anna)).toEqual([
      expect.objectContaining({
        label: "anna",
        state: "active",
        way: "oauth",
        isLinked: true,
        principal: `user:gitea:${encodeURIComponent(provider.url)}:7`,
      }),
    ]);
    // Once.
    expect((await kb.as(kb.anna).post("/api/accounts/confirm", { id, isAccepted: true })).status).toBe(410);
    const tables = JSON.stringify(await kb.database.read.selectFrom("provider_accounts").selectAll().execute());
    expect(tables).not.toMatch(/access-|refresh-/);
    expect(JSON.stringify(kb.log.lines)).not.toMatch(/access-|refresh-|code-\d/);
  });

  test("ends with nothing kept when the person says no, there or here", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const address = await kb.begin(kb.anna, "gitea", { returnTo: "/" });
    const state = new URL(address).searchParams.get("state") ?? "";
    const query = new URLSearchParams({
      error: "access_denied",
      error_description: "<script>alert(1)</script>",
      state,
    });
    const denied = await kb.go(kb.anna, `/api/accounts/gitea/callback?${query.toString()}`);
    expect(denied.location).toBe("/?account=failed&reason=denied");
    expect(denied.text).toBe("");
    const back = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA);
    const id = (await kb.go(kb.anna, back)).location.split("#found=")[1];
    const { json } = await kb.as(kb.anna).post("/api/accounts/confirm", { id, isAccepted: false });
    expect(json).toEqual({ account: null, returnTo: "/settings/accounts?account=failed&reason=denied" });
    expect(await kb.accountsOf(kb.anna)).toEqual([]);
  });

  test.for([
    ["unknown", "nonsense"],
    ["reused", "reused"],
    ["expired", "expired"],
    ["another session's", "session"],
    ["another person's", "person"],
    ["nobody's", "nobody"],
    ["another provider's", "provider"],
  ] as const)("takes no answer whose state is %s", async ([, how], { expect }) => {
    const { kb, provider } = await makeBoth();
    let back = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA);
    let visitor: typeof kb.anna | undefined = kb.anna;
    if (how === "nonsense") back = back.replace(/state=[^&]+/, "state=nonsense");
    if (how === "reused") await kb.go(kb.anna, back);
    if (how === "expired") kb.clock.advance(10 * 60_000);
    if (how === "session") visitor = await kb.signIn(kb.anna);
    if (how === "person") visitor = kb.ben;
    if (how === "nobody") visitor = undefined;
    if (how === "provider") back = back.replace("/api/accounts/gitea/", "/api/oauth/github/");
    const asked = provider.asked.length;
    const { location } = await kb.go(visitor, back);
    expect(location).toBe("/settings/accounts?account=failed&reason=expired");
    // The code went nowhere, and nothing was kept.
    expect(provider.asked.length).toBe(asked);
    expect(await kb.database.read.selectFrom("provider_accounts").selectAll().execute()).toEqual([]);
    // Somebody else's browser takes nothing from the person whose it is; here it works once.
    const isTheirs = ["session", "person", "nobody"].includes(how);
    expect((await kb.go(kb.anna, back)).location).toContain(isTheirs ? "#found=" : "reason=expired");
    if (isTheirs) expect((await kb.go(kb.anna, back)).location).toContain("reason=expired");
  });

  test("takes no answer that says it is of someone else", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const evil = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA, { iss: "https://evil.test" });
    expect((await kb.go(kb.anna, evil)).location).toContain("reason=failed");
    expect(provider.asked).toEqual([]);
    const twice = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA);
    expect((await kb.go(kb.anna, `${twice}&code=other`)).status).toBe(400);
    expect(provider.asked).toEqual([]);
    const both = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA, { iss: "https://evil.test" });
    const { location } = await kb.go(kb.anna, `${both}&iss=${encodeURIComponent(provider.url)}`);
    expect(location).toContain("reason=failed");
    expect(provider.asked).toEqual([]);
    const good = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA, { iss: provider.url });
    expect((await kb.go(kb.anna, good)).location).toContain("#found=");
  });

  test("shows none of the provider's own words", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const back = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA).replace(/code=[^&]+/, "code=wrong");
    const { location, text } = await kb.go(kb.anna, back);
    expect(location).toBe("/settings/accounts?account=failed&reason=failed");
    expect(`${text}${JSON.stringify(kb.log.lines)}`).not.toContain("script");
    provider.fault = (_form, response) => Boolean(response.writeHead(200).end("<html>Down</html>"));
    const other = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA);
    expect((await kb.go(kb.anna, other)).location).toContain("reason=unavailable");
  });

  test("leads back to pages of this server alone", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    for (const returnTo of ["https://evil.test/", "//evil.test", "/\\evil.test", "/%2fevil.test"]) {
      const back = provider.agree(await kb.begin(kb.anna, "gitea", { returnTo }), ANNA);
      const done = await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
      expect(done.json.returnTo).toBe("/?account=connected");
      await kb.as(kb.anna).delete(`/api/accounts/${done.json.account.id}`);
    }
  });

  test("refuses who is someone else here already, and tells both", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const first = await kb.go(kb.anna, provider.agree(await kb.begin(kb.anna, "gitea"), ANNA));
    await kb.accept(kb.anna, first.location);
    const second = await kb.go(kb.ben, provider.agree(await kb.begin(kb.ben, "gitea"), ANNA));
    expect(second.location).toBe("/settings/accounts?account=failed&reason=taken");
    expect(await kb.accountsOf(kb.ben)).toEqual([]);
    const [account] = await kb.accountsOf(kb.anna);
    expect(account.stateReason).toMatch(/tried to connect this account too, on 2026-11-21/);
    const { text } = await kb.as(kb.owner).get("/api/audit?action=account.refused");
    expect(text).toContain(kb.anna.userId);
    // Found first and confirmed second is too late as well.
    await kb.as(kb.anna).delete(`/api/accounts/${account.id}`);
    const found = await kb.go(kb.ben, provider.agree(await kb.begin(kb.ben, "gitea"), ANNA));
    const again = await kb.go(kb.anna, provider.agree(await kb.begin(kb.anna, "gitea"), ANNA));
    expect((await kb.accept(kb.anna, again.location)).status).toBe(200);
    expect(await kb.accept(kb.ben, found.location)).toMatchObject({ status: 409, json: { code: "account_taken" } });
  });

  test("of the same account again keeps its id, and of another one is refused", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const first = await kb.go(kb.anna, provider.agree(await kb.begin(kb.anna, "gitea"), ANNA));
    const { id } = (await kb.accept(kb.anna, first.location)).json.account;
    const other = provider.agree(await kb.begin(kb.anna, "gitea", { accountId: id }), OTHER);
    expect((await kb.go(kb.anna, other)).location).toBe("/settings/accounts?account=failed&reason=other_account");
    const same = provider.agree(await kb.begin(kb.anna, "gitea", { accountId: id }), ANNA);
    expect((await kb.go(kb.anna, same)).location).toBe("/settings/accounts?account=connected");
    expect((await kb.accountsOf(kb.anna)).map((account: { id: string }) => account.id)).toEqual([id]);
    // Nobody else's account can be connected again.
    const { status } = await kb.as(kb.ben).post("/api/accounts/gitea/authorize", { accountId: id });
    expect(status).toBe(404);
  });

  test("by a token of one's own is proven by the provider, on a registered instance", async ({ expect }) => {
    const { kb, provider } = await makeBoth();
    const body = (baseUrl: string, token: string) => ({ providerId: "gitea", baseUrl, credentials: { token } });
    const refused = await kb.as(kb.anna).post("/api/accounts", body(`${provider.url}/anna/fake/raw/branch/main`, "x"));
    expect(refused).toMatchObject({ status: 422, json: { code: "instance_not_trusted" } });
    const wrong = await kb.as(kb.anna).post("/api/accounts", body(provider.url, "nonsense"));
    expect(wrong).toMatchObject({ status: 502, json: { code: "source_unauthorized" } });
    expect(wrong.text).not.toContain("nonsense");
    const token = provider.makeToken(ANNA);
    const { status, json, text } = await kb.as(kb.anna).post("/api/accounts", body(`${provider.url}/`, token));
    expect([status, json.account?.way, json.account?.isLinked]).toEqual([201, "token", true]);
    expect(text).not.toContain(token);
  });

  test("is not possible without the operator's client, and says what to do", async ({ expect }) => {
    const kb = await makeAccountServer({});
    const { json } = await kb.as(kb.anna).get("/api/oauth/github/status");
    expect(json).toEqual({
      provider: "github",
      configured: false,
      connected: false,
      accounts: [],
      redirectUrl: "http://127.0.0.1:7700/api/oauth/github/callback",
    });
    const { providers } = (await kb.as(kb.anna).get("/api/accounts")).json;
    expect(providers.map((each: { providerId: string }) => each.providerId)).toEqual([
      "gitea",
      "github",
      "google",
      "slack",
      "matrix",
      "jira",
      "confluence",
    ]);
    expect(providers[1].setUp).toMatchObject({
      url: "https://github.com/settings/apps/new",
      env: ["KB_GITHUB_CLIENT_ID", "KB_GITHUB_CLIENT_SECRET_FILE"],
    });
    expect(await kb.as(kb.anna).post("/api/accounts/github/authorize", {})).toMatchObject({
      status: 422,
      json: { code: "account_provider_not_configured" },
    });
    expect((await kb.as(kb.anna).get("/api/accounts/nothing/status")).status).toBe(404);
    expect((await kb.as(kb.anna).get("/api/oauth/gitea/status")).status).toBe(404);
  });

  test("at an address that no one has allowed fails, and says so", async ({ expect }) => {
    const { kb, provider } = await makeBoth({ isReachable: false });
    const back = provider.agree(await kb.begin(kb.anna, "gitea"), ANNA);
    expect((await kb.go(kb.anna, back)).location).toContain("reason=unavailable");
    expect(provider.asked).toEqual([]);
  });
});
