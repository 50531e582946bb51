import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { CLIENT_UNUSED_MS } from "#server/identity/oauth/clients.ts";
import { fetchDocument, isFetchableClientId } from "#server/identity/oauth/documents.ts";
import { faultOfRedirectUri } from "#server/identity/oauth/policy.ts";
import { type GuardedAnswer, makeGuardedFetch } from "#net/guarded-fetch.ts";
import { makeAddressGuard } from "#net/address-guard.ts";
import { ApiError } from "#api/errors.ts";
import { challengeOf, newVerifier, REDIRECT, startServer } from "./harness.ts";

const NO_RULES = { appSchemes: new Set<string>() };

/** What every registered client gets. */
const REGISTERED = {
  client_id: expect.stringMatching(/^cli_[\w-]{22}$/) as string,
  redirect_uris: [REDIRECT],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  application_type: "native",
  scope: "mcp:read",
};

describe("registering", () => {
  test("a client gets what it may have, and nothing of what it made up", async () => {
    const kb = await startServer();
    const { status, body } = await kb.register({
      client_name: "  Two\nlines ",
      client_uri: "https://app.test/",
      logo_uri: "https://app.test/logo.png",
      scope: "kb:admin",
      application_type: "web",
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      jwks_uri: "https://app.test/keys",
      something: { else: true },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      ...REGISTERED,
      client_id_issued_at: Math.floor(kb.clock.now() / 1000),
      client_name: "Two lines",
      client_uri: "https://app.test/",
    });
  });

  test("test 26: redirect addresses that may not be are refused, whatever the client calls itself", async () => {
    const kb = await startServer({ settings: { rateLimits: "off" } });
    const wrong: [string, unknown][] = [
      ["a script", ["javascript:alert(1)"]],
      ["data", ["data:text/html,x"]],
      ["plain http elsewhere", ["http://evil.test/callback"]],
      ["none that is served", ["http://10.0.0.1/callback", "myapp://callback"]],
      ["a fragment", ["https://app.test/callback#x"]],
      ["none", []],
      ["21 of them", Array.from({ length: 21 }, (_, n) => `https://app.test/${n}`)],
      ["what is no text", [7]],
      ["a script as text", "javascript:alert(1)"],
      ["nothing", null],
    ];
    for (const [name, redirectUris] of wrong) {
      for (const applicationType of ["native", "web"]) {
        const answer = await kb.register({ redirect_uris: redirectUris, application_type: applicationType });
        expect([name, answer.status, answer.body.error]).toEqual([name, 400, "invalid_redirect_uri"]);
      }
    }
  });

  test("what clients send for other servers is replaced by what they get here, and the answer says so", async () => {
    const kb = await startServer({ settings: { rateLimits: "off" } });
    const sent: [string, Record<string, unknown>][] = [
      ["secrets by post", { token_endpoint_auth_method: "client_secret_post" }],
      ["secrets in a header", { token_endpoint_auth_method: "client_secret_basic" }],
      ["keys", { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://app.test/keys" }],
      ["an unknown method", { token_endpoint_auth_method: "telepathy" }],
      ["no method", { token_endpoint_auth_method: "" }],
      ["a secret of its own", { client_secret: "x", client_secret_expires_at: 0 }],
      [
        "nulls",
        { token_endpoint_auth_method: null, grant_types: null, response_types: null, client_uri: null, scope: null },
      ],
      ["empty values", { grant_types: [], response_types: [], client_uri: "", contacts: [""], grant_type: "" }],
      [
        "text in place of lists",
        { grant_types: "authorization_code refresh_token", response_types: "code", redirect_uris: REDIRECT },
      ],
      [
        "other grants besides",
        { grant_types: ["authorization_code", "refresh_token", "client_credentials", "implicit"] },
      ],
      [
        "other grants only, but none of another flow",
        { grant_types: ["urn:ietf:params:oauth:grant-type:device_code"] },
      ],
      ["another answer besides", { response_types: ["code", "token"] }],
      [
        "addresses of other programs besides",
        { redirect_uris: ["javascript:alert(1)", "myapp://callback", 7, REDIRECT] },
      ],
    ];
    for (const [name, metadata] of sent) {
      const { status, body } = await kb.register({ redirect_uris: [REDIRECT], ...metadata });
      expect([name, status, body]).toEqual([
        name,
        201,
        { ...REGISTERED, client_id_issued_at: expect.any(Number), client_name: expect.any(String) },
      ]);
    }
    const { body } = await kb.register({ grant_types: ["authorization_code"] });
    expect(body["grant_types"]).toEqual(["authorization_code"]);
  });

  test("test 26: a client that could only use other flows is refused", async () => {
    const kb = await startServer();
    const wrong: [string, Record<string, unknown>][] = [
      ["passwords", { grant_types: ["password"] }],
      ["client credentials", { grant_types: ["client_credentials"] }],
      ["the implicit flow", { grant_types: "implicit" }],
      ["several of them", { grant_types: ["implicit", "password"] }],
      ["the implicit answer", { response_types: ["token"] }],
    ];
    for (const [name, metadata] of wrong) {
      const answer = await kb.register(metadata);
      expect([name, answer.status, answer.body.error]).toEqual([name, 400, "invalid_client_metadata"]);
    }
  });

  test("test 26: what is too large, no JSON or no object is refused", async () => {
    const kb = await startServer();
    const send = (body: string) =>
      fetch(`${kb.base}/oauth/register`, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect((await send(JSON.stringify({ client_name: "x".repeat(17_000) }))).status).toBe(413);
    for (const body of ["", "[]", "{", "null", '"text"']) {
      const answer = await send(body);
      expect([body, answer.status, await answer.json()]).toMatchObject([
        body,
        400,
        { error: "invalid_client_metadata" },
      ]);
    }
    const answer = await fetch(`${kb.base}/oauth/register`);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("test 27: ten a minute from one address, and the next is told when to come back", async () => {
    const kb = await startServer();
    for (let n = 0; n < 10; n++) expect((await kb.register()).status).toBe(201);
    const answer = await fetch(`${kb.base}/oauth/register`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("test 27: a client that no one used for 30 days is forgotten, one with a living grant stays", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const idle = await kb.client();
    const used = await kb.client();
    const ask = { clientId: used };
    const tokens = await kb.letIn(owner, ask);
    kb.advance(29 * 86_400_000);
    const latest = (await (await kb.refresh(ask, tokens.refresh_token)).json()) as { refresh_token: string };
    kb.advance(CLIENT_UNUSED_MS - 29 * 86_400_000);
    await kb.deps.oauth.sweep();
    expect(await kb.store.oauth.findClient(idle)).toBeUndefined();
    expect(await kb.store.oauth.findClient(used)).toBeDefined();
    expect((await kb.refresh(ask, latest.refresh_token)).status).toBe(200);
    kb.advance(61 * 86_400_000);
    await kb.deps.oauth.sweep();
    expect(await kb.store.oauth.findClient(used)).toBeUndefined();
    expect(await kb.database.read.selectFrom("oauth_records").select("model").execute()).toEqual(
      expect.not.arrayContaining([{ model: "AccessToken" }]),
    );
  });

  test("of clients that no one used only the newest are kept", async () => {
    const kb = await startServer();
    const at = (n: number) => kb.clock.now() + n;
    for (let n = 0; n < 6; n++) {
      await kb.store.oauth.insertClient({
        clientId: `cli_${n}`,
        metadata: {},
        ip: null,
        createdAt: at(n),
        lastUsedAt: null,
      });
    }
    const gone = await kb.store.oauth.sweepClients({ unusedSince: at(-1), keepUnused: 4, now: at(10) });
    expect(gone).toBe(2);
    const left = await kb.database.read.selectFrom("oauth_clients").select("clientId").orderBy("clientId").execute();
    expect(left.map((row) => row.clientId)).toEqual(["cli_2", "cli_3", "cli_4", "cli_5"]);
  });
});

describe("redirect addresses", () => {
  test.each([
    "https://app.test/callback",
    "https://app.test:8443/callback?x=1",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:1234/callback",
    "http://localhost:3000/",
    "http://[::1]/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://app.continue/callback",
    "zed://oauth",
    "com.example.app:/oauth",
  ])("%s is taken", (uri) => {
    expect(faultOfRedirectUri(uri, NO_RULES)).toBeUndefined();
  });

  test.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "blob:https://app.test/x",
    "vbscript:x",
    "intent://x#Intent;end",
    "about:blank",
    "ms-settings:x",
    "ms-appinstaller:?source=https://evil.test",
    "x-apple-helpbasic://x",
    "x-callback.evil://x",
    "mailto:a@b.test",
    "ftp://app.test/x",
    "ws://app.test/x",
    "myapp://callback",
    "http://app.test/callback",
    "http://127.0.0.2/callback",
    "http://127.0.0.1.evil.test/callback",
    "http://localhost.evil.test/callback",
    "https://user@app.test/callback",
    "https://app.test/call back",
    "https://app.test\\@evil.test/",
    "https://app.test/callback#fragment",
    "https://localhost/callback",
    "https://app.test/\u202ex",
    "//app.test/callback",
    "/callback",
    "",
    `https://app.test/${"x".repeat(2_000)}`,
  ])("%s is refused", (uri) => {
    expect(faultOfRedirectUri(uri, NO_RULES)).toBeDefined();
  });
});

describe("a client that is described by a document at its own identifier", () => {
  const ID = "https://app.test/client.json";
  const document = { client_id: ID, client_name: "App", redirect_uris: [REDIRECT], logo_uri: "https://app.test/x.png" };

  async function serverWith(answer: Partial<GuardedAnswer> & { document?: unknown }) {
    const asked: string[] = [];
    const kb = await startServer({
      outside: {
        fetchDocument: async (url) => {
          asked.push(url);
          const body = Buffer.from(JSON.stringify(answer.document ?? document));
          return { url, status: 200, headers: {}, body, ...answer };
        },
      },
    });
    return { kb, asked, owner: await kb.addOwner() };
  }

  test("test 28: is let in like any other", async () => {
    const { kb, asked, owner } = await serverWith({});
    const browser = kb.browser(owner);
    const uid = await kb.reachConsent(browser, { clientId: ID }, challengeOf(newVerifier()));
    const shown = (await (await browser.get(`/oauth/consent/${uid}/request`)).json()) as Record<string, unknown>;
    expect(shown).toMatchObject({ client: { id: ID, name: "App", isOurs: false }, scopes: ["mcp:read"] });
    const tokens = await kb.letIn(owner, { clientId: ID, scope: "mcp:read kb:admin" });
    expect(tokens.scope).toBe("mcp:read");
    expect((await kb.mcp(tokens.access_token)).status).toBe(200);
    expect(new Set(asked)).toEqual(new Set([ID]));
  });

  test.each([
    ["names another client", { document: { ...document, client_id: "https://app.test/other.json" } }],
    ["holds a secret", { document: { ...document, client_secret: "x" } }],
    [
      "wants to prove itself by a secret",
      { document: { ...document, token_endpoint_auth_method: "client_secret_post" } },
    ],
    ["sends people to plain http", { document: { ...document, redirect_uris: ["http://evil.test/"] } }],
    ["redirects", { status: 302, headers: { location: "https://evil.test/" } }],
    ["is not there", { status: 404 }],
    ["is no object", { document: [document] }],
  ])("test 28: is refused when the document %s", async (_name, answer) => {
    const { kb, owner } = await serverWith(answer);
    const response = await kb.browser(owner).get(kb.authorizeUrl({ clientId: ID }, challengeOf(newVerifier())));
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
  });

  test("test 28: a document of more than 5 kB is not read", async () => {
    const answer = await fetchDocument(
      async (_url, { maxBytes }) => {
        expect(maxBytes).toBe(5 * 1024);
        throw new ApiError("payload_too_large", { message: "Too large." });
      },
      ID,
      NO_RULES,
    );
    expect(answer).toEqual({ type: "none", why: "Too large." });
  });

  test.each([
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://2130706433/client.json",
    "https://0x7f.1/client.json",
    "https://localhost/client.json",
    "https://app.test:8443/client.json",
    "https://app.test/",
    "http://app.test/client.json",
    "https://APP.test/client.json",
    "https://app.test/a/../client.json",
    "https://app.test/client.json#x",
  ])("test 56: %s is not fetched at all", async (clientId) => {
    expect(isFetchableClientId(clientId)).toBe(false);
    const { kb, asked, owner } = await serverWith({});
    const answer = await kb.browser(owner).get(kb.authorizeUrl({ clientId }, challengeOf(newVerifier())));
    expect([answer.status, asked]).toEqual([400, []]);
  });

  test("test 56: a name that leads to this machine is refused before anything connects", async () => {
    let connections = 0;
    const listener = createServer(() => void connections++);
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const guard = makeAddressGuard({
      privateHosts: [],
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
      isOwn: () => false,
    });
    expect(await fetchDocument(makeGuardedFetch(guard), ID, NO_RULES)).toMatchObject({ type: "other" });
    await new Promise((resolve) => listener.close(resolve));
    expect(connections).toBe(0);
  });
});
