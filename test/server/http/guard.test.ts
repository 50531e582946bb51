import { describe, test } from "vitest";
import { makeClientIp, throttleKeyOfIp } from "#net/client-ip.ts";
import { makeGuard } from "#server/http/guard.ts";
import { makeThrottle } from "#server/http/throttle.ts";
import { makeServer, makeTestClock } from "../../helpers.ts";

const guardOf = (baseUrl: string) => makeGuard({ baseUrl, allowedHosts: ["kb.internal"], trustedProxies: [] });

describe("the Host header", () => {
  test.for([
    "kb.acme.test",
    "KB.acme.test:8443",
    "kb.acme.test.",
    "kb.internal",
    "localhost:7700",
    "127.0.0.1",
    "127.1.2.3:80",
    "[::1]:7700",
    "dev.localhost",
  ])("%s is ours", (host, { expect }) => {
    expect(() => guardOf("https://kb.acme.test").checkHost(new Headers({ host }), "http://x/")).not.toThrow();
  });

  test.for([
    "evil.test",
    "kb.acme.test.evil.test",
    "127.0.0.1.evil.test",
    "localhost.evil.test",
    "10.0.0.1",
    "0.0.0.0",
    "kb.acme.test@evil.test",
    "",
  ])("%s is not", (host, { expect }) => {
    expect(() => guardOf("https://kb.acme.test").checkHost(new Headers({ host }), "http://x/")).toThrow(
      expect.objectContaining({ code: "host_not_allowed" }),
    );
  });

  test("of another name is refused on every route, the open ones too", async ({ expect }) => {
    const kb = await makeServer();
    for (const path of ["/healthz", "/api/onboarding", "/api/session", "/nothing"]) {
      const answer = await kb.anyone().request("GET", path, { headers: { host: "evil.test" } });
      expect(answer).toMatchObject({ status: 403, json: { code: "host_not_allowed" } });
    }
  });
});

describe("what a browser sends for another site", () => {
  const CASES: [name: string, headers: Record<string, string>, isAllowed: boolean][] = [
    ["a program without Origin", {}, true],
    ["the page itself", { origin: "http://127.0.0.1:7700", "sec-fetch-site": "same-origin" }, true],
    [
      "the page under its other loopback name",
      { origin: "http://localhost:7700", "sec-fetch-site": "same-origin" },
      true,
    ],
    ["a typed address", { "sec-fetch-site": "none" }, true],
    ["another site", { origin: "https://evil.test", "sec-fetch-site": "cross-site" }, false],
    ["another port of this machine", { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }, false],
    ["another port, old browser", { origin: "http://127.0.0.1:3000" }, false],
    ["another scheme", { origin: "https://127.0.0.1:7700" }, false],
    ["a sandboxed frame", { origin: "null" }, false],
    ["a lying Origin", { origin: "http://127.0.0.1:7700", "sec-fetch-site": "cross-site" }, false],
    ["a name that only begins so", { origin: "http://127.0.0.1:7700.evil.test" }, false],
  ];

  test.for(CASES)("%s", async ([, headers, isAllowed], { expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const unsafe: [string, string][] = [
      ["POST", "/api/groups"],
      ["PATCH", "/api/workspace"],
      ["DELETE", "/api/session"],
      ["POST", "/api/session"],
      ["POST", "/api/onboarding"],
    ];
    for (const [method, path] of unsafe) {
      const who = await kb.signIn(owner);
      const answer = await kb.as(who).request(method, path, { body: method === "DELETE" ? undefined : {}, headers });
      expect([path, answer.json?.code === "origin_not_allowed"]).toEqual([path, !isAllowed]);
    }
    expect((await kb.as(owner).request("GET", "/api/workspace", { headers })).status).toBe(200);
  });

  test("a Bearer token is its own proof, and a form's body is not JSON", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const token = await kb.token(owner, ["kb:admin"]);
    const headers = { origin: "https://evil.test" };
    const body = { name: "Ops" };
    expect((await kb.withToken(token).request("POST", "/api/groups", { body, headers })).status).toBe(201);
    const form = { raw: '{"name":"Ops"}', headers: { "content-type": "text/plain" } };
    expect(await kb.as(owner).request("POST", "/api/groups", form)).toMatchObject({ status: 415 });
  });
});

describe("every answer", () => {
  test("carries a request id of ours, hardening headers, and is not kept under /api", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    for (const path of ["/api/workspace", "/api/nothing", "/healthz"]) {
      const { headers } = await kb.as(owner).request("GET", path, { headers: { "x-request-id": "mine" } });
      expect(headers.get("x-request-id")).toMatch(/^req_[2-9a-z]{16}$/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      if (path.startsWith("/api")) expect(headers.get("cache-control")).toBe("no-store");
    }
  });

  test("of an unknown path is 404, of a wrong verb 405 with Allow, both as problems", async ({ expect }) => {
    const kb = await makeServer();
    const unknown = await kb.anyone().get("/api/nothing");
    expect(unknown).toMatchObject({ status: 404, json: { code: "not_found", title: "Not found", status: 404 } });
    expect(unknown.headers.get("content-type")).toBe("application/problem+json");
    const wrong = await kb.anyone().request("PUT", "/api/api-tokens");
    expect(wrong).toMatchObject({ status: 405, json: { code: "method_not_allowed" } });
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST");
    const one = await kb.anyone().get("/api/api-tokens/tok_2222222222222222");
    expect([one.status, one.headers.get("allow")]).toEqual([405, "DELETE"]);
  });

  test("an unexpected error is 500 with nothing of its inside, logged once with the request id", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    kb.deps.groups.list = async () => {
      throw new Error("password=hunter2");
    };
    const answer = await kb.as(owner).get("/api/groups");
    expect(answer).toMatchObject({ status: 500, json: { code: "internal" } });
    expect(answer.text).not.toContain("hunter2");
    const errors = kb.log.lines.filter((line) => line.level === "error");
    expect(errors).toMatchObject([{ fields: { requestId: answer.json.requestId, path: "/api/groups" } }]);
  });

  test("/healthz lives on while /readyz refuses; neither names a version", async ({ expect }) => {
    let isReady = true;
    const kb = await makeServer({ isReady: () => isReady });
    expect((await kb.anyone().get("/readyz")).json).toEqual({ status: "ok" });
    isReady = false;
    expect((await kb.anyone().get("/healthz")).json).toEqual({ status: "ok" });
    const detail = "The server is starting or shutting down.";
    expect(await kb.anyone().get("/readyz")).toMatchObject({ status: 503, json: { code: "unavailable", detail } });
  });
});

describe("the client's address", () => {
  const clientIp = makeClientIp(["10.0.0.0/8", "::1"]);
  test.for([
    ["203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["10.0.0.1", "1.2.3.4", "1.2.3.4"],
    ["10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"],
    ["10.0.0.1", "junk", "10.0.0.1"],
    ["::ffff:10.0.0.1", "2001:db8::1", "2001:db8::1"],
    ["::1", undefined, "::1"],
    ["10.0.0.1", "::ffff:a00:2, ::ffff:cb00:7109, 10.0.0.2", "203.0.113.9"],
    ["10.0.0.1", "1.2.3.4, 010.0.0.2", "10.0.0.1"],
    ["10.0.0.1", "1.2.3.4:5678", "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["fe80::1%eth0", "1.2.3.4", "fe80::1"],
  ] as const)("peer %s, X-Forwarded-For %s → %s", ([peer, forwarded, expected], { expect }) => {
    expect(clientIp(peer, forwarded)).toBe(expected);
  });

  test("IPv6 neighbours of one /64 share a bucket", ({ expect }) => {
    expect(throttleKeyOfIp("2001:db8:0:1::5")).toBe(throttleKeyOfIp("2001:db8:0:1:ffff::"));
    expect(throttleKeyOfIp("2001:db8:0:1::5")).not.toBe(throttleKeyOfIp("2001:db8:0:2::5"));
    expect(throttleKeyOfIp("::1")).toBe("0:0:0:0::/64");
    expect(throttleKeyOfIp("10.0.0.1")).toBe("10.0.0.1");
    expect(throttleKeyOfIp("2001:db8::1.2.3.4")).toBe("2001:db8:0:0::/64");
    expect(["::ffff:10.0.0.1", "::ffff:a00:1"].map(throttleKeyOfIp)).toEqual(["10.0.0.1", "10.0.0.1"]);
  });
});

describe("a throttle", () => {
  test("refills evenly and says when to come back", ({ expect }) => {
    const clock = makeTestClock();
    const throttle = makeThrottle({ perMinute: 2, clock, message: "Wait." });
    throttle.take("a");
    throttle.take("a");
    throttle.take("b");
    expect(() => throttle.take("a")).toThrow(expect.objectContaining({ code: "rate_limited", retryAfterMs: 30_000 }));
    clock.advance(30_000);
    expect(() => throttle.take("a")).not.toThrow();
    expect(() => throttle.take("a")).toThrow();
    throttle.giveBack("a");
    expect(() => throttle.take("a")).not.toThrow();
  });
});
