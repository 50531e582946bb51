import { describe, test } from "vitest";
import { ROUTE_ACCESS } from "#server/http/auth.ts";
import { LIMITS } from "#server/http/limits.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, TEST_PASSWORD, type TestRequest, type TestServer } from "../../helpers.ts";

const JSON_TYPE = { "content-type": "application/json" };
const DEEP = "[".repeat(10_000);
const STRANGER = "203.0.113.7";
const { burst } = LIMITS["self-hosted"].malformed;

/** Sends until nothing more of this address is read. */
async function useUp(kb: TestServer, path = "/api/session"): Promise<void> {
  const statuses: number[] = [];
  for (let n = 0; n < burst + 5; n++) {
    const { status } = await kb.anyone().request("POST", path, { raw: DEEP, headers: JSON_TYPE, ip: STRANGER });
    statuses.push(status);
  }
  if (statuses.at(-1) !== 429) throw new Error(`The address was not used up: ${statuses.join(" ")}.`);
}

const asJson = (body: unknown): TestRequest => ({ body, ip: STRANGER });

describe("a body without a credential", () => {
  test("is refused by its size, its depth and its number of keys before anything is made of it", async ({ expect }) => {
    const kb = await makeServer();
    const send = async (raw: string) => {
      const { status, json } = await kb.anyone().request("POST", "/api/session", { raw, headers: JSON_TYPE });
      return [status, json.detail];
    };
    expect(await send(DEEP)).toEqual([400, "The body nests deeper than 64 levels. Send a flatter one."]);
    const keys = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, 1]));
    expect(await send(JSON.stringify(keys))).toEqual([
      400,
      "The body has more than 200 keys and list entries. Send fewer.",
    ]);
    expect(await send(`{"email":"${"a".repeat(16 * 1024)}"}`)).toEqual([413, "The body is larger than 16 KiB."]);
  });

  test("tells at most 50 fields at fault", async ({ expect }) => {
    const kb = await makeServer();
    const body = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`k${n}`, 1]));
    const { json } = await kb.anyone().request("POST", "/api/session", { body });
    expect(json.errors).toHaveLength(50);
    expect(json.detail).toContain("(and 91 more)");
  });

  test("is read no more once too many of its address could not be read, until some time has passed", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    await useUp(kb);
    const good = asJson({ email: ana.email, password: TEST_PASSWORD });
    const refused = await kb.anyone().request("POST", "/api/session", good);
    expect(refused).toMatchObject({ status: 429, json: { code: "rate_limited" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // Another address has a count of its own, and so has this one a second later.
    expect((await kb.anyone().request("POST", "/api/session", { ...good, ip: "203.0.113.8" })).status).toBe(200);
    kb.clock.advance(1_000);
    expect((await kb.anyone().request("POST", "/api/session", good)).status).toBe(200);
  });

  test("S69: a stranger at the same address keeps out no one with a session, a token or a known browser", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const token = await kb.token(ana, ["kb:api"]);
    const known = await kb
      .anyone()
      .request("POST", "/api/session", asJson({ email: ana.email, password: TEST_PASSWORD }));
    const browser =
      known.headers
        .getSetCookie()
        .find((cookie) => cookie.startsWith("kb_known="))
        ?.split(";")[0] ?? "";
    await useUp(kb);
    const signIn = (headers: Record<string, string>) =>
      kb
        .anyone()
        .request("POST", "/api/session", { ...asJson({ email: ana.email, password: TEST_PASSWORD }), headers });
    expect((await signIn({})).status).toBe(429);
    expect((await signIn({ cookie: browser })).status).toBe(200);
    const made = browser.replace(/=.{22}/, `=${"a".repeat(22)}`);
    expect([made === browser, (await signIn({ cookie: made })).status]).toEqual([false, 429]);
    const check = asJson({ token: "x".repeat(40) });
    const path = "/api/invitations/check";
    expect((await kb.anyone().request("POST", path, check)).status).toBe(429);
    expect((await kb.as(ana).request("POST", path, check)).status).toBe(410);
    expect((await kb.withToken(token).request("POST", path, check)).status).toBe(410);
    expect((await kb.withToken(`${token.slice(0, -1)}_`).request("POST", path, check)).status).toBe(429);
    // Routes with a credential ask only for theirs.
    expect((await kb.withToken(token).request("GET", "/api/workspace", { ip: STRANGER })).status).toBe(200);
  });

  test("what a known sender can't have read counts for them alone", async ({ expect }) => {
    const kb = await makeServer();
    const [ana, bo] = [await kb.addOwner(), await kb.addOwner("Other")];
    await useUp(kb);
    const send = (user: typeof ana) =>
      kb.as(user).request("POST", "/api/invitations/check", { raw: DEEP, headers: JSON_TYPE, ip: STRANGER });
    for (let n = 0; n < burst; n++) expect((await send(ana)).status).toBe(400);
    expect([(await send(ana)).status, (await send(bo)).status]).toEqual([429, 400]);
  });

  test("S69: where an address has used up what any request or an open route may have, who is known goes on", async ({
    expect,
  }) => {
    const kb = await makeServer({ settings: { mode: "managed" } });
    const ana = await kb.addOwner();
    const statusOf = async (client: ReturnType<TestServer["anyone"]>) =>
      (await client.request("GET", "/api/sso/authorize", { ip: STRANGER })).status;
    for (let n = 0; n < LIMITS.managed.open.burst; n++) await statusOf(kb.anyone());
    expect([await statusOf(kb.anyone()), await statusOf(kb.as(ana))]).toEqual([429, 404]);
    const look = async (client: ReturnType<TestServer["anyone"]>) =>
      (await client.request("GET", "/api/session", { ip: STRANGER })).status;
    for (let n = 0; n < LIMITS.managed.address.burst; n++) await look(kb.anyone());
    expect([await look(kb.anyone()), await look(kb.as(ana))]).toEqual([429, 200]);
  });
});

test("S69: no route that takes a credential touches a body before it is proven", async ({ expect }) => {
  const kb = await makeServer({ settings: { rateLimits: "off" } }, composeFeatures);
  const touched: string[] = [];
  for (const [route, rule] of Object.entries(ROUTE_ACCESS)) {
    const [method = "", template = ""] = route.split(" ");
    if (rule.public || method === "GET") continue;
    const path = template.replaceAll(/\{[^}]+\}/g, "con_2222222222222222");
    for (const headers of [{}, { authorization: `Bearer kb_pat_${"0".repeat(38)}` }, { cookie: "kb_session=nobody" }]) {
      const body = new ReadableStream({ pull: () => void touched.push(route) }, { highWaterMark: 0 });
      const init = { method, headers: { ...headers, ...JSON_TYPE }, body, duplex: "half" } as RequestInit;
      const answer = await kb.app.request(`${kb.settings.baseUrl}${path}`, init);
      expect([route, answer.status]).toEqual([route, 401]);
    }
  }
  expect(touched).toEqual([]);
});

test("on /mcp a token's unreadable messages count as its calls", async ({ expect }) => {
  const kb = await makeServer({ settings: { mode: "managed" } }, composeFeatures);
  const token = await kb.token(await kb.addOwner());
  const send = async (raw: string) =>
    kb.withToken(token).request("POST", "/mcp", { raw, headers: JSON_TYPE, ip: STRANGER });
  expect((await send(DEEP)).json.error).toMatchObject({ code: -32700 });
  for (let n = 1; n < LIMITS.managed.mcpToken.burst; n++) await send(DEEP);
  const refused = await send(DEEP);
  expect(refused).toMatchObject({ status: 429, json: { error: { data: { code: "rate_limited" } } } });
});
