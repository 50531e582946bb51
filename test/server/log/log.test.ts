import { describe, test } from "vitest";
import { makeLog } from "#server/log/log.ts";
import { TEST_PASSWORD, type TestAnswer } from "../../helpers.ts";
import { makeConnectorServer, pushed } from "../connectors/server.ts";

/** The real log at its most talkative, and everything it wrote. */
function makeCaptured() {
  const written: string[] = [];
  return { log: makeLog("debug", { write: (line: string) => void written.push(line) }), text: () => written.join("") };
}

describe("S54, 49: secrets in the log", () => {
  test("none that went through the server stands in any line, whatever happened", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const { log, text } = makeCaptured();
    const secrets: Record<string, string> = { password: TEST_PASSWORD, session: kb.owner.sessionSecret };
    const me = kb.as(kb.owner);
    const remember = (name: string, secret: string) => void (secrets[name] = secret);
    const answers: TestAnswer[] = [];
    const keep = async (answer: Promise<TestAnswer>) => {
      answers.push(await answer);
      return (await answer).json;
    };

    remember("wrong password", "almost Right 77 guess");
    await keep(kb.anyone().post("/api/session", { email: kb.owner.email, password: secrets["wrong password"] }));
    const signedIn = await kb.anyone().post("/api/session", { email: kb.owner.email, password: TEST_PASSWORD });
    remember("cookie", /=([^;]+)/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1] ?? "");
    remember("token", (await keep(me.post("/api/api-tokens", { name: "ci", scopes: ["kb:api"] }))).plaintext);
    const feed = { providerId: "push", name: "Feed", config: {}, access: { visibility: "workspace" } };
    const { key, connector } = await keep(me.post("/api/connectors", feed));
    remember("connector key", key);
    const invited = await keep(me.post("/api/workspace/invitations", { email: "cy@acme.test", role: "member" }));
    remember("link", String(invited.url).split("#token=")[1] ?? "");
    remember("setup code", "7Q2M-K9XD-4PWT-ZB3C-HN6R-VY8F");
    await keep(
      kb.anyone().post("/api/onboarding", {
        setupCode: secrets["setup code"],
        name: "Eve",
        email: "eve@evil.test",
        password: "eve's Own 9 password",
        workspaceName: "X",
      }),
    );
    remember("another password", "eve's Own 9 password");
    const raw = JSON.stringify(pushed("1"));
    const line = { raw, headers: { "content-type": "application/x-ndjson" } };
    await keep(kb.withToken(key).request("POST", `/api/connectors/${connector.id}/items`, line));
    // In places where they do not belong.
    const token = secrets["token"] ?? "";
    await keep(kb.anyone().get(`/api/session?access_token=${token}`));
    await keep(kb.anyone().get(`/nothing/${token}`));
    await keep(kb.anyone().request("GET", "/api/session", { headers: { authorization: `Bearer ${token}, Bearer x` } }));
    await keep(
      kb.anyone().request("POST", "/oauth/token", { raw: `code=${secrets["link"]}&code_verifier=${"v".repeat(43)}` }),
    );

    // A bug deep inside, with everything in its causes.
    const cause = Object.assign(new Error(`fetch https://user:${key}@api.test/x?access_token=${token} failed`), {
      request: { headers: { Authorization: `Bearer ${token}`, cookie: `kb_session=${secrets["session"]}` } },
      response: { body: JSON.stringify({ refresh_token: secrets["cookie"], url: `/reset#token=${secrets["link"]}` }) },
      config: { credentials: { password: TEST_PASSWORD }, setupCode: secrets["setup code"] },
    });
    kb.deps.groups.list = async () => {
      throw new Error(`Authorization: Bearer ${token}`, {
        cause: new Error(`Set-Cookie: __Host-kb=${secrets["cookie"]}`, { cause }),
      });
    };
    expect((await me.get("/api/groups")).status).toBe(500);

    for (const { level, fields, message } of kb.log.lines) log[level as "debug"](fields, message);
    for (const level of ["debug", "info", "warn", "error"] as const) {
      log[level](
        { err: cause, headers: new Headers({ authorization: `Bearer ${key}` }), ...secrets },
        `key ${key} token ${token}`,
      );
    }
    expect(kb.log.lines.length).toBeGreaterThan(10);
    const found = Object.entries(secrets).filter(([, secret]) => secret.length < 12 || text().includes(secret));
    expect(found.map(([name]) => name)).toEqual([]);
    // What helps is still there.
    expect(text()).toContain("request failed");
    expect(text()).toContain("api.test");
  });

  test("a value is bounded: deep, wide, circular, large and binary ones", ({ expect }) => {
    const { log, text } = makeCaptured();
    const circular: Record<string, unknown> = { name: "a" };
    circular["self"] = circular;
    log.info({ circular, wide: Array.from({ length: 10_000 }, (_, n) => n), large: "x ".repeat(100_000) }, "m");
    log.info({ bytes: new Uint8Array(5), big: 10n, none: null, at: new Date(0), token: null, tookMs: 5 }, "m");
    const [first = "", second = ""] = text().trim().split("\n");
    expect(first.length).toBeLessThan(20_000);
    expect(JSON.parse(second)).toMatchObject({ bytes: "[5 bytes]", big: "10", none: null, token: null, tookMs: 5 });
  });

  test("ordinary lines stay as they are", ({ expect }) => {
    const { log, text } = makeCaptured();
    const fields = {
      requestId: "req_abcdefghijk23456",
      code: "connector_scope_invalid",
      path: "/api/connectors/con_2222222222222222/syncs",
      status: 409,
      hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      counts: { seen: 3, failed: 0 },
      tokenId: "tok_2222222222222222",
    };
    log.warn(fields, "the index proposed items that the records refuse");
    expect(JSON.parse(text())).toMatchObject({ ...fields, msg: "the index proposed items that the records refuse" });
    log.debug({}, "not below its level");
    const quiet: string[] = [];
    makeLog("warn", { write: (line: string) => void quiet.push(line) }).info({}, "unheard");
    expect(quiet).toEqual([]);
  });
});
