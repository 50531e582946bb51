/** A login outlives its client's document, as `docs/oauth.md` says, and no longer. */
import { describe, expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";
import { challengeOf, newVerifier, startServer } from "./harness.ts";

const ID = "https://app.test/client.json";
const [ONE, OTHER] = ["http://127.0.0.1/callback", "http://127.0.0.1/other"];
const DOCUMENT = { client_id: ID, client_name: "App", redirect_uris: [ONE, OTHER] };
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** What the client's address answers: a status, a body, or a failure of the network. */
type Answer = number | object | string | Error;

async function makeDocumented(settings: { oauthClientDocuments?: "on" | "off" } = {}) {
  let answer: Answer = DOCUMENT;
  let asked = 0;
  const fetchDocument: GuardedFetch = async (url) => {
    asked += 1;
    if (answer instanceof Error) throw answer;
    if (typeof answer === "number") return { url, status: answer, headers: {}, body: Buffer.from("no") };
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    return { url, status: 200, headers: {}, body: Buffer.from(text) };
  };
  const kb = await startServer({ outside: { fetchDocument }, settings: { rateLimits: "off", ...settings } });
  const owner = await kb.addOwner();
  const ask = { clientId: ID };
  /** Signs in as a person does, and gives what the browser is answered. */
  const signIn = async (redirectUri = ONE) =>
    kb.browser(owner).get(kb.authorizeUrl({ ...ask, redirectUri }, challengeOf(newVerifier())), {
      accept: "application/json",
    });
  return {
    kb,
    owner,
    ask,
    signIn,
    asked: () => asked,
    answerWith: (next: Answer) => void (answer = next),
    letIn: () => kb.letIn(owner, ask),
    /** Refreshes again and again, each time with the newest token. */
    refresher(first: string | undefined) {
      let token = first;
      return async () => {
        const response = await kb.refresh(ask, token);
        const body = (await response.json()) as { refresh_token?: string; error?: string };
        token = body.refresh_token ?? token;
        return { status: response.status, error: body.error, retryAfter: response.headers.get("retry-after") };
      };
    },
  };
}

const UNREACHABLE = new ApiError("source_unavailable", { message: "app.test can't be reached now." });

describe("while the document is out of reach", () => {
  test.each<[string, Answer]>([
    ["the network fails", UNREACHABLE],
    ["it takes too long", new DOMException("timed out", "TimeoutError")],
    ["it is forbidden", 403],
    ["it asks to come later", 429],
    ["the server fails", 503],
    ["it leads elsewhere", 302],
  ])("%s: refresh and sign-in go on by the copy, for 30 days", async (_name, answer) => {
    const { kb, answerWith, letIn, signIn, refresher } = await makeDocumented();
    const refresh = refresher((await letIn()).refresh_token);
    answerWith(answer);
    for (const days of [1, 14, 14]) {
      kb.advance(days * DAY);
      expect(await refresh()).toMatchObject({ status: 200 });
      expect((await signIn()).headers.get("location")).toContain("consent");
    }
    kb.advance(2 * DAY);
    const isKnownToBeOut = answer !== 302;
    expect(await refresh()).toMatchObject(
      isKnownToBeOut ? { status: 503, error: "temporarily_unavailable" } : { status: 401, error: "invalid_client" },
    );
    expect((await signIn()).status).toBe(isKnownToBeOut ? 503 : 400);
    answerWith(DOCUMENT);
    kb.advance(MINUTE);
    expect(await refresh()).toMatchObject({ status: 200 });
  });

  test("a client that no one let in is told to come again, never that it is unknown", async () => {
    const { answerWith, signIn, kb, ask } = await makeDocumented();
    answerWith(UNREACHABLE);
    const response = await signIn();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "60"]);
    expect(await response.json()).toMatchObject({ error: "temporarily_unavailable" });
    const token = await kb.refresh(ask, "x".repeat(43));
    expect([token.status, token.headers.get("retry-after")]).toEqual([503, "60"]);
    expect(await token.json()).toMatchObject({ error: "temporarily_unavailable" });
  });

  test("strangers' clients leave nothing in the database", async () => {
    const { signIn, kb } = await makeDocumented();
    await signIn();
    expect(await kb.database.read.selectFrom("client_documents").selectAll().execute()).toEqual([]);
  });

  test("the document is asked for once a minute, and the log says why it could not be read", async () => {
    const { kb, answerWith, letIn, refresher, asked } = await makeDocumented();
    const refresh = refresher((await letIn()).refresh_token);
    kb.advance(MINUTE);
    answerWith(UNREACHABLE);
    const before = asked();
    for (let n = 0; n < 4; n++) await refresh();
    expect(asked() - before).toBe(1);
    const told = kb.log.lines.filter(({ message }) => message.startsWith("a client's document could not be read"));
    expect(told.map(({ level, fields }) => [level, fields["clientId"], fields["why"]])).toEqual([
      ["warn", ID, "app.test can't be reached now."],
    ]);
  });

  test("the page of consent and the list of clients say when it was last read", async () => {
    const { kb, owner, answerWith, letIn, ask } = await makeDocumented();
    await letIn();
    const readAt = new Date(kb.clock.now()).toISOString();
    answerWith(503);
    kb.advance(3 * DAY);
    const browser = kb.browser(owner);
    const uid = await kb.reachConsent(browser, ask, challengeOf(newVerifier()));
    const shown = (await (await browser.get(`/oauth/consent/${uid}/request`)).json()) as { client: unknown };
    expect(shown.client).toMatchObject({ id: ID, documentReadAt: readAt });
    const registered = await kb.client();
    await kb.letIn(owner, { clientId: registered });
    const { grants } = (await kb.as(owner).get("/api/grants")).json;
    expect(grants.map((grant: { documentReadAt: unknown }) => grant.documentReadAt)).toEqual([null, readAt]);
  });
});

describe("the client's own word", () => {
  test.each<[string, Answer]>([
    ["that it is not there", 404],
    ["that it is gone", 410],
    ["that names another client", { ...DOCUMENT, client_id: "https://app.test/other.json" }],
    ["that is no JSON", "<html>"],
    ["that holds a secret", { ...DOCUMENT, client_secret: "x" }],
    ["that has no address left", { ...DOCUMENT, redirect_uris: ["javascript:alert(1)"] }],
  ])("%s ends sign-in and refresh when it is heard twice an hour apart", async (_name, answer) => {
    const { kb, answerWith, letIn, signIn, refresher } = await makeDocumented();
    const refresh = refresher((await letIn()).refresh_token);
    answerWith(answer);
    kb.advance(HOUR);
    expect(await refresh()).toMatchObject({ status: 200 });
    kb.advance(HOUR - MINUTE);
    expect(await refresh()).toMatchObject({ status: 200 });
    kb.advance(MINUTE);
    expect(await refresh()).toMatchObject({ status: 401, error: "invalid_client" });
    expect((await signIn()).status).toBe(400);
    // It stays so while nobody answers, and a readable document takes it back.
    answerWith(UNREACHABLE);
    kb.advance(MINUTE);
    expect(await refresh()).toMatchObject({ status: 401, error: "invalid_client" });
    answerWith(DOCUMENT);
    expect(await refresh()).toMatchObject({ status: 200 });
  });

  test("a readable document in between begins the hour again", async () => {
    const { kb, answerWith, letIn, refresher } = await makeDocumented();
    const refresh = refresher((await letIn()).refresh_token);
    for (const answer of [404, DOCUMENT, 404]) {
      answerWith(answer);
      kb.advance(2 * HOUR);
      expect(await refresh()).toMatchObject({ status: 200 });
    }
  });

  test("an address that is taken out of the document is refused, also when it is out of reach afterwards", async () => {
    const { kb, answerWith, letIn, signIn } = await makeDocumented();
    await letIn();
    expect((await signIn(OTHER)).status).toBe(302);
    answerWith({ ...DOCUMENT, redirect_uris: [ONE] });
    kb.advance(MINUTE);
    expect([(await signIn(OTHER)).status, (await signIn(ONE)).status]).toEqual([400, 302]);
    answerWith(UNREACHABLE);
    kb.advance(HOUR);
    expect([(await signIn(OTHER)).status, (await signIn(ONE)).status]).toEqual([400, 302]);
  });

  test("what is revoked here stays so, whatever the document says", async () => {
    const { kb, owner, letIn, refresher } = await makeDocumented();
    const tokens = await letIn();
    const { grants } = (await kb.as(owner).get("/api/grants")).json;
    await kb.as(owner).delete(`/api/grants/${grants[0].id}`);
    kb.advance(MINUTE);
    expect(await refresher(tokens.refresh_token)()).toMatchObject({ status: 400, error: "invalid_grant" });
  });

  test("a strange address in it refuses itself alone", async () => {
    const { answerWith, signIn } = await makeDocumented();
    answerWith({ ...DOCUMENT, redirect_uris: ["newide://auth", ONE] });
    expect([(await signIn("newide://auth")).status, (await signIn(ONE)).status]).toEqual([400, 302]);
  });
});

test("a copy of which no one has a login is deleted after 30 days", async () => {
  const { kb, owner, letIn } = await makeDocumented();
  await letIn();
  const { grants } = (await kb.as(owner).get("/api/grants")).json;
  await kb.as(owner).delete(`/api/grants/${grants[0].id}`);
  kb.advance(31 * DAY);
  await kb.deps.oauth.sweep();
  expect(await kb.database.read.selectFrom("client_documents").selectAll().execute()).toEqual([]);
});

test("switched off, no document is advertised or fetched, and the client is told to register", async () => {
  const { kb, signIn, asked } = await makeDocumented({ oauthClientDocuments: "off" });
  expect(kb.metadata["client_id_metadata_document_supported"]).toBeUndefined();
  const response = await signIn();
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: "invalid_client",
    error_description: expect.stringContaining("register the client"),
  });
  expect(asked()).toBe(0);
});

describe("schemes of apps that the operator adds", () => {
  test("are served at sign-in and registration; others are missing from the answer", async () => {
    const kb = await startServer({ settings: { oauthAppSchemes: ["windsurf-next"] } });
    const owner = await kb.addOwner();
    const { status, body } = await kb.register({ redirect_uris: ["positron://auth", "windsurf-next://auth/callback"] });
    expect([status, body["redirect_uris"]]).toEqual([201, ["windsurf-next://auth/callback"]]);
    const tokens = await kb.letIn(owner, { clientId: body.client_id, redirectUri: "windsurf-next://auth/callback" });
    expect((await kb.mcp(tokens.access_token)).status).toBe(200);
    const refused = await kb.register({ redirect_uris: ["positron://auth"] });
    expect([refused.status, refused.body.error_description]).toEqual([
      400,
      expect.stringContaining("KB_OAUTH_APP_SCHEMES"),
    ]);
  });
});
