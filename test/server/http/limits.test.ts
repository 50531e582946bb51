import * as fc from "fast-check";
import { describe, test } from "vitest";
import { LIMITS, makeLimits } from "#server/http/limits.ts";
import { makeThrottle } from "#server/http/throttle.ts";
import type { Actor } from "#storage/access/actor.ts";
import { makeServer, makeTestClock, TEST_PASSWORD } from "../../helpers.ts";
import { makeKit } from "../mcp/kit.ts";

const actor = (over: Partial<Actor> = {}): Actor => ({
  workspaceId: "wsp_1",
  userId: "usr_1",
  role: "member",
  scopes: ["mcp:read"],
  credential: { type: "pat", id: "tok_1" },
  timeZone: "UTC",
  ...over,
});

/** How many of `times` are let through. */
function passes(times: number, one: () => unknown): number {
  let passed = 0;
  for (let i = 0; i < times; i++) {
    try {
      if (one() === undefined) passed++;
    } catch {
      // Refused.
    }
  }
  return passed;
}

describe("limits", () => {
  test("a token has its burst at once and its rate after, in each mode", ({ expect }) => {
    for (const mode of ["self-hosted", "managed"] as const) {
      const clock = makeTestClock();
      const limits = makeLimits({ mode, clock });
      const { burst, perMinute } = LIMITS[mode].mcpToken;
      expect(passes(burst + 50, () => limits.chargeCall(actor()))).toBe(burst);
      clock.advance(6_000);
      expect(passes(perMinute, () => limits.chargeCall(actor()))).toBe(Math.min(burst, perMinute / 10));
    }
    expect([LIMITS["self-hosted"].mcpToken, LIMITS["self-hosted"].apiUser.perMinute]).toEqual([
      { perMinute: 6_000, burst: 600 },
      1_200,
    ]);
    expect([LIMITS.managed.mcpToken.perMinute, LIMITS.managed.apiUser.perMinute]).toEqual([600, 300]);
  });

  test("many tokens of one person, of one client or of one workspace do not add up", ({ expect }) => {
    const { mcpUser, mcpClient, mcpWorkspace } = LIMITS.managed;
    const spread = (makeActor: (n: number) => Partial<Actor>) => {
      const limits = makeLimits({ mode: "managed", clock: makeTestClock() });
      return passes(2_000, () => limits.chargeCall(actor(makeActor(passed++))));
    };
    let passed = 0;
    const pat = (n: number) => ({ type: "pat" as const, id: `tok_${n}` });
    expect(spread((n) => ({ credential: pat(n) }))).toBe(mcpUser.burst);
    const client = (n: number) => ({ type: "oauth" as const, id: `grt_${n}`, clientId: "claude" });
    expect(spread((n) => ({ credential: client(n), userId: `usr_${n}` }))).toBe(mcpClient.burst);
    expect(spread((n) => ({ credential: pat(n), userId: `usr_${n}` }))).toBe(mcpWorkspace.burst);
    expect(spread((n) => ({ credential: pat(n), userId: `usr_${n}`, workspaceId: `wsp_${n}` }))).toBe(2_000);
  });

  test("open routes count by /64, a sign-in by its failures alone, and a client of this machine is not everyone behind a proxy", ({
    expect,
  }) => {
    const limits = makeLimits({ mode: "self-hosted", clock: makeTestClock() });
    const from = (clientIp: string, method: string, path: string) => () => limits.admit({ clientIp, method, path });
    const { open, registration, address } = LIMITS["self-hosted"];
    expect(passes(500, from("203.0.113.1", "POST", "/api/session"))).toBe(500);
    const charge = (clientIp: string, shown?: string) => () => limits.chargeOpen({ clientIp, shown });
    expect(passes(500, charge("2001:db8::1"))).toBe(open.burst);
    expect(passes(5, charge("2001:db8::ffff"))).toBe(0);
    expect(passes(5, charge("2001:db8:0:1::1"))).toBe(5);
    // What is shown counts by itself, wherever it comes from.
    expect(passes(60, charge("2001:db8::ffff", "grt_1"))).toBe(60);
    expect(passes(500, charge("203.0.113.9", "grt_1"))).toBe(open.burst - 60);
    // 27: registration of clients, per address.
    expect(passes(50, from("198.51.100.1", "POST", "/oauth/register"))).toBe(registration.burst);
    expect(passes(5_000, from("192.0.2.1", "GET", "/api/session"))).toBe(address.burst);
    expect(passes(5_000, from("127.0.0.1", "GET", "/api/session"))).toBe(5_000);
    expect(passes(5_000, from("192.0.2.77", "GET", "/healthz"))).toBe(address.burst);
  });

  test("27: clients registered from everywhere have a limit together", ({ expect }) => {
    const limits = makeLimits({ mode: "managed", clock: makeTestClock() });
    let n = 0;
    const made = passes(500, () =>
      limits.admit({ clientIp: `198.51.${n++ >> 8}.${n & 255}`, method: "POST", path: "/oauth/register" }),
    );
    expect(made).toBe(LIMITS.managed.registrations.burst);
  });

  test("never let more through than burst and rate allow, whatever the times", ({ expect }) => {
    const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 300 }),
        (waits, burst, perMinute) => {
          const clock = makeTestClock();
          const throttle = makeThrottle({ perMinute, burst, clock, message: "" });
          let taken = 0;
          let passedMs = 0;
          for (const ms of waits) {
            clock.advance(ms);
            passedMs += ms;
            const wait = throttle.tryTake("a");
            if (wait === 0) taken++;
            else expect(wait).toBeLessThanOrEqual(60_000 / perMinute + 1);
            expect(taken).toBeLessThanOrEqual(burst + (passedMs * perMinute) / 60_000 + 1e-6);
          }
        },
      ),
    );
  });

  test("keep bounded memory, and a flood of new keys does not free one that is used again and again", ({ expect }) => {
    const clock = makeTestClock();
    const throttle = makeThrottle({ perMinute: 1, burst: 2, clock, message: "", maxBuckets: 1_000 });
    for (let n = 0; n < 950; n++) throttle.take(`early ${n}`);
    throttle.take("busy");
    for (let n = 0; n < 100_000; n++) {
      throttle.take(`key ${n}`);
      // What is used again and again is not what goes.
      if (n % 50 === 0) throttle.tryTake("busy");
    }
    expect(throttle.tryTake("busy")).toBeGreaterThan(0);
  });
});

test("what is known already makes no room: nobody's bucket goes for a key that has one", ({ expect }) => {
  const throttle = makeThrottle({ perMinute: 1, burst: 1, clock: makeTestClock(), message: "", maxBuckets: 10 });
  const keys = Array.from({ length: 10 }, (_, n) => `key ${n}`);
  for (const key of keys) throttle.take(key);
  for (const key of keys.toReversed()) expect(throttle.tryTake(key)).toBeGreaterThan(0);
  for (const key of keys) expect(throttle.waitOf(key)).toBeGreaterThan(0);
});

describe("over HTTP", () => {
  test("the REST API answers 429 with Retry-After, counted for the person and not for the neighbour", async ({
    expect,
  }) => {
    const kb = await makeServer({ settings: { mode: "managed" } });
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const { burst } = LIMITS.managed.apiUser;
    const token = await kb.token(ana, ["kb:api"]);
    for (let n = 0; n < burst; n++) await (n % 2 ? kb.as(ana) : kb.withToken(token)).get("/api/workspace");
    const refused = await kb.as(ana).get("/api/workspace");
    expect(refused).toMatchObject({ status: 429, json: { code: "rate_limited" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await kb.as(bo).get("/api/workspace")).status).toBe(200);
    kb.clock.advance(1_000);
    expect((await kb.as(ana).get("/api/workspace")).status).toBe(200);
  });

  test("/mcp tells the model to wait, counts each element of a batch, and says 429 far beyond the limit", async ({
    expect,
  }) => {
    const kb = await makeServer({ settings: { mode: "managed" } }, () => ({
      tools: { call: async () => ({ text: "done" }) },
    }));
    const ana = await kb.addOwner();
    const client = kb.withToken(await kb.token(ana));
    const one = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "kb_search" } });
    const headers = { accept: "application/json", "mcp-protocol-version": "2025-03-26" };
    const post = (body: unknown) => client.request("POST", "/mcp", { body, headers });
    const { burst } = LIMITS.managed.mcpToken;
    const batch = Array.from({ length: 20 }, (_, n) => one(n));
    const results: { result?: { isError?: boolean } }[] = [];
    for (let n = 0; n < burst / 20 + 1; n++) results.push(...(await post(batch)).json);
    expect(results.map(({ result }) => result?.isError === true).indexOf(true)).toBe(burst);
    const soft = await post(one(1));
    expect(soft).toMatchObject({ status: 200, json: { result: { isError: true } } });
    expect(soft.json.result.content[0].text).toMatch(/^rate_limited: .*Wait 1 seconds/);
    // Listing costs nothing and goes on.
    expect((await post({ jsonrpc: "2.0", id: 1, method: "tools/list" })).json.result.tools).toHaveLength(4);
    for (let n = 0; n < (burst * 4) / 20; n++) await post(batch);
    const hard = await post(one(7));
    expect(hard).toMatchObject({
      status: 429,
      json: { id: 7, error: { code: -32029, data: { code: "rate_limited" } } },
    });
    expect(hard.headers.get("retry-after")).toBe("1");
  });

  test("an address over its limit gets a JSON-RPC error on /mcp", async ({ expect }) => {
    const kb = await makeServer({ settings: { mode: "managed" } }, () => ({
      tools: { call: async () => ({ text: "done" }) },
    }));
    const post = () =>
      kb.anyone().request("POST", "/mcp", { body: { jsonrpc: "2.0", id: 1, method: "ping" }, ip: "203.0.113.9" });
    for (let n = 0; n < LIMITS.managed.address.burst; n++) await post();
    const refused = await post();
    expect(refused).toMatchObject({ status: 429, json: { jsonrpc: "2.0", error: { code: -32029 } } });
    expect(refused.headers.get("retry-after")).toBe("1");
  });

  test("are off when the settings say so", async ({ expect }) => {
    const kb = await makeKit();
    const ana = await kb.addOwner();
    const client = kb.as(ana);
    for (let n = 0; n < 700; n++) expect((await client.get("/api/workspace")).status).toBe(200);
  });
});

describe("40: wrong sign-ins", () => {
  test("50 at once from one network are throttled; others, and the same account from elsewhere, are served meanwhile", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const wrong = (n: number) =>
      kb.anyone().request("POST", "/api/session", {
        body: { email: ana.email, password: `guess number ${n}` },
        ip: `2001:db8:0:7::${n + 1}`,
      });
    const guesses = Promise.all(Array.from({ length: 50 }, (_, n) => wrong(n)));
    const others = Promise.all([
      kb.as(bo).get("/api/workspace"),
      kb.anyone().request("POST", "/api/session", {
        body: { email: bo.email, password: TEST_PASSWORD },
        ip: "203.0.113.5",
      }),
    ]);
    expect((await others).map(({ status }) => status)).toEqual([200, 200]);
    const statuses = (await guesses).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(40).fill(429)]);
    const right = { email: ana.email, password: TEST_PASSWORD };
    const fromThere = await kb.anyone().request("POST", "/api/session", { body: right, ip: "2001:db8:0:7::99" });
    // The right password from the guesser's network waits too; it is told for how long.
    expect([fromThere.status, fromThere.headers.get("retry-after")]).toEqual([429, "6"]);
    expect((await kb.anyone().post("/api/session", right)).status).toBe(200);
  });

  test("an address is one whatever account it tries, IPv6 by its /64", async ({ expect }) => {
    const kb = await makeServer();
    await kb.addOwner();
    const answers = [];
    for (let n = 0; n < 12; n++) {
      const body = { email: `nobody${n}@acme.test`, password: "guess of a password" };
      answers.push(await kb.anyone().request("POST", "/api/session", { body, ip: `2001:db8::${n + 1}` }));
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429, 429]);
  });
});
