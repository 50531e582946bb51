import { describe, expect, test } from "vitest";
import { isApiError } from "#api/errors.ts";
import { type Answer, connectTo, failing, inTurn, makePool, say, serve } from "./fixture.ts";

const limited = (retryAfter?: string, status = 429): Answer =>
  say(status, "", retryAfter === undefined ? {} : { "retry-after": retryAfter });
const broken: Answer = (_got, response) => void response.destroy();
const brokenInside: Answer = (_got, response) => {
  response.writeHead(200, { "content-length": "10" }).write("half", () => response.destroy());
};

describe("what fails in passing", () => {
  test.each<[string, Answer]>([
    ["429", limited()],
    ["502", say(502)],
    ["503", say(503)],
    ["504", say(504)],
    ["a connection that breaks", broken],
    ["a connection that breaks inside the body", brokenInside],
  ])("%s: is tried again, later and later, five times at most", async (_what, answer) => {
    const well = await connectTo(inTurn(answer, answer, say(200, "ok")));
    expect((await well.http.request({ url: `${well.server.origin}/x`, auth: true })).text()).toBe("ok");
    expect(well.slept).toEqual([500, 1_000]);
    const never = await connectTo(answer);
    await expect(
      never.http.request({ method: "PROPFIND", url: `${never.server.origin}/x`, auth: true }),
    ).rejects.toSatisfy(
      (error) => isApiError(error) && (error.code === "source_unavailable" || error.code === "source_rate_limited"),
    );
    expect([never.server.requests.length, never.http.sent]).toEqual([5, 5]);
  });

  test.each([503, 429])("a POST is sent again after %d only when it may be", async (status) => {
    const { http, server } = await connectTo(inTurn(say(status), say(200, "ok")));
    const post = { method: "POST", url: `${server.origin}/x`, json: {}, auth: true } as const;
    await expect(http.request(post)).rejects.toThrow(String(status));
    expect(server.requests.length).toBe(1);
    const other = await connectTo(inTurn(say(status), broken, say(200, "ok")));
    const again = { ...post, url: `${other.server.origin}/x`, isIdempotent: true } as const;
    expect((await other.http.request(again)).text()).toBe("ok");
    expect(other.server.requests.map(({ body }) => body)).toEqual(["{}", "{}", "{}"]);
  });

  test.each([400, 404, 500, 501])("a %d is not tried again", async (status) => {
    const { http, server } = await connectTo(say(status));
    await expect(http.request({ url: `${server.origin}/x` })).rejects.toThrow(String(status));
    expect(server.requests.length).toBe(1);
  });
});

describe("in a run, a server that fails for a moment", () => {
  const inRun = (answer: Answer) => connectTo(answer, { isRun: true });

  test.each([408, 500, 502, 503, 504])("is asked again after a %d, three times at most", async (status) => {
    const well = await inRun(inTurn(say(status), say(status), say(status), say(200, "ok")));
    expect((await well.http.request({ url: `${well.server.origin}/x`, auth: true })).text()).toBe("ok");
    expect(well.slept).toEqual([1_000, 4_000, 16_000]);
    const never = await inRun(say(status));
    await expect(never.http.request({ url: `${never.server.origin}/x`, auth: true })).rejects.toThrow(String(status));
    expect(never.server.requests.length).toBe(4);
  });

  test.each([400, 404, 501, 505, 507, 508])("is not asked again after a %d", async (status) => {
    const { http, server } = await inRun(say(status));
    await expect(http.request({ url: `${server.origin}/x` })).rejects.toThrow(String(status));
    expect(server.requests.length).toBe(1);
  });

  test("is asked when it says, and a POST only when it may be sent twice", async () => {
    const { http, server, slept } = await inRun(inTurn(say(500, "", { "retry-after": "7" }), say(200, "ok")));
    expect((await http.request({ url: `${server.origin}/x` })).text()).toBe("ok");
    expect(slept).toEqual([7_000]);
    const long = await inRun(say(500, "", { "retry-after": "3600" }));
    await expect(long.http.request({ url: `${long.server.origin}/x` })).rejects.toThrow("500");
    const posted = await inRun(inTurn(say(500), say(200, "ok")));
    await expect(posted.http.request({ method: "POST", url: `${posted.server.origin}/x`, json: {} })).rejects.toThrow(
      "500",
    );
    expect([long.server.requests.length, posted.server.requests.length]).toEqual([1, 1]);
  });

  test("is asked 30 times again in all, whatever fails", async () => {
    const { http, server } = await inRun(say(500));
    for (let at = 0; at < 100; at++) {
      await expect(http.request({ url: `${server.origin}/${at}` })).rejects.toThrow("500");
    }
    expect(server.requests.length).toBe(130);
  });
});

describe("a provider's limit", () => {
  test("short waits are waited, by seconds or by date", async () => {
    const { http, server, slept, clock } = await connectTo((_got, response) => {
      const waits = ["7", new Date(clock.now + 9_000).toUTCString()];
      const wait = waits[server.requests.length - 1];
      response.writeHead(wait === undefined ? 200 : 429, { "retry-after": wait ?? "" }).end();
    });
    await http.request({ url: `${server.origin}/x`, auth: true });
    expect(slept).toEqual([7_000, 9_000]);
  });

  test.each([
    ["21", 21_000],
    ["3600", 3_600_000],
    ["99999999", 24 * 3_600_000],
    ["9".repeat(400), 24 * 3_600_000],
  ])("a wait of %s s is thrown: the worker has other work", async (seconds, retryAfterMs) => {
    const { http, server, slept } = await connectTo(limited(seconds));
    await expect(http.request({ url: `${server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_rate_limited", { retryAfterMs }),
    );
    expect([server.requests.length, slept]).toEqual([1, []]);
  });

  test("a 429 that says to come at once doesn't spin", async () => {
    const { http, server, slept } = await connectTo(limited("0"));
    await expect(http.request({ url: `${server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_rate_limited"),
    );
    expect(server.requests.length).toBe(5);
    expect(slept.every((ms) => ms >= 500)).toBe(true);
    // A caller that asks at once is told to wait, or waits: nothing is sent before.
    const before = slept.length;
    await http.request({ url: `${server.origin}/x`, auth: true }).catch(() => undefined);
    expect(slept[before]).toBeGreaterThan(0);
  });

  test("holds for every connector with that credential at that host, and for no other", async () => {
    const server = await serve(inTurn(limited("600"), say(200, "ok")));
    const other = await serve(say(200, "ok"));
    const { open, clock } = makePool([server, other]);
    const ask = (place: { origin: string; port: number }, token: string) =>
      open({ servers: [place], credentials: { token } }).http.request({ url: `${place.origin}/x`, auth: true });
    await expect(ask(server, "one")).rejects.toMatchObject(failing("source_rate_limited"));
    await expect(ask(server, "one")).rejects.toMatchObject(failing("source_rate_limited", { retryAfterMs: 600_000 }));
    expect(server.requests.length).toBe(1);
    await ask(server, "two");
    await ask(other, "one");
    clock.now += 600_000;
    await ask(server, "one");
    expect([server.requests.length, other.requests.length]).toEqual([3, 1]);
  });

  test("a 503 that says when is one, too", async () => {
    const { http, server } = await connectTo(limited("120", 503));
    await expect(http.request({ url: `${server.origin}/x` })).rejects.toMatchObject(
      failing("source_rate_limited", { retryAfterMs: 120_000 }),
    );
  });

  const LIMITS = {
    windows: [{ remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset", unit: "epoch_seconds" }],
    forbidden: [
      { header: "x-ratelimit-remaining", value: "0" },
      { path: "error.errors.*.reason", values: ["rateLimitExceeded", "userRateLimitExceeded"] },
      { phrase: "secondary rate limit" },
    ],
  } as const;

  test.each<[string, unknown, Record<string, string>]>([
    ["by its header", "", { "x-ratelimit-remaining": "0" }],
    ["by a reason in its JSON", { error: { errors: [{ reason: "other" }, { reason: "userRateLimitExceeded" }] } }, {}],
    ["by a phrase", "You have exceeded a SECONDARY rate limit.", {}],
  ])("a 403 is a limit %s", async (_how, body, headers) => {
    const { http, server } = await connectTo(inTurn(say(403, body, { ...headers, "retry-after": "60" }), say(200)), {
      spec: { limits: LIMITS },
    });
    await expect(http.request({ url: `${server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_rate_limited", { retryAfterMs: 60_000 }),
    );
  });

  test.each<[string, unknown, Record<string, string>]>([
    ["of a file whose download is off", { error: { errors: [{ reason: "cannotDownloadFile" }] } }, {}],
    ["while something is left", "", { "x-ratelimit-remaining": "3" }],
    ["that asks to wait but is none", "", { "retry-after": "600" }],
    ["with a broken body", '{"error":', {}],
  ])("a 403 %s is a refusal", async (_how, body, headers) => {
    const { http, server } = await connectTo(say(403, body, headers), { spec: { limits: LIMITS } });
    await expect(http.request({ url: `${server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_forbidden"),
    );
    expect(server.requests.length).toBe(1);
  });

  test("a host that is not the connector's can't make it wait by such a 403", async () => {
    const other = await serve(say(403, "secondary rate limit", { "x-ratelimit-remaining": "0" }));
    const server = await serve(say(200));
    const { open } = makePool([server, other]);
    const { http } = open({ servers: [server], spec: { limits: LIMITS } });
    await expect(http.request({ url: `${other.origin}/x` })).rejects.toMatchObject(failing("source_forbidden"));
    await http.request({ url: `${server.origin}/x`, auth: true });
  });

  test.each([
    ["epoch_seconds", (now: number) => now / 1_000 + 300],
    ["epoch_ms", (now: number) => now + 300_000],
    ["seconds", () => 300],
  ] as const)(
    "the last request of a window is the last: nothing is sent until its end, told as %s",
    async (unit, at) => {
      const server = await serve((_got, response) => {
        const reset = String(at(clock.now));
        response
          .writeHead(200, { "ratelimit-remaining": server.requests.length === 2 ? "0" : "1", "ratelimit-reset": reset })
          .end();
      });
      const { open, clock } = makePool([server]);
      const limits = { windows: [{ remaining: "ratelimit-remaining", reset: "ratelimit-reset", unit }] };
      const { http } = open({ servers: [server], spec: { limits } });
      const ask = () => http.request({ url: `${server.origin}/x`, auth: true });
      await ask();
      await ask();
      await expect(ask()).rejects.toMatchObject(failing("source_rate_limited", { retryAfterMs: 300_000 }));
      expect(server.requests.length).toBe(2);
      clock.now += 300_000;
      await ask();
    },
  );
});

describe("our own pace", () => {
  test("after a burst requests are spread, and who would wait long is told so", async () => {
    const server = await serve(say(200));
    const { open, slept, clock } = makePool([server]);
    const one = open({ servers: [server], spec: { limits: { perMinute: 60, burst: 2 } } });
    const two = open({ servers: [server], spec: { limits: { perMinute: 60, burst: 2 } } });
    for (const { http } of [one, two, one, two]) await http.request({ url: `${server.origin}/x`, auth: true });
    expect(slept).toEqual([1_000, 1_000]);
    clock.now += 60_000;
    await one.http.request({ url: `${server.origin}/x`, auth: true });
    expect(slept.length).toBe(2);
    const slow = open({
      servers: [server],
      spec: { limits: { perMinute: 2, burst: 1 } },
      credentials: { token: "slow" },
    });
    await slow.http.request({ url: `${server.origin}/x`, auth: true });
    await expect(slow.http.request({ url: `${server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_rate_limited", { retryAfterMs: 30_000 }),
    );
  });
});
