import * as argon2 from "@node-rs/argon2";
import { describe, test } from "vitest";
import { makeServer, TEST_NOW, TEST_PASSWORD, TEST_PASSWORD_COSTS } from "../../../helpers.ts";
import { makePasswords } from "#server/identity/sessions/passwords.ts";

const DAY_MS = 86_400_000;
const secretOf = (setCookie: string | null) => /^[^=]+=([^;]*)/.exec(setCookie ?? "")?.[1] ?? "";

describe("a web session", () => {
  test("opens with email and password and says who, where and what", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const signedIn = await kb
      .anyone()
      .post("/api/session", { email: ana.email.toUpperCase(), password: TEST_PASSWORD, timeZone: "Europe/Vienna" });
    expect(signedIn).toMatchObject({
      status: 200,
      json: {
        user: { id: ana.userId, email: ana.email, emailVerifiedAt: null, timeZone: "Europe/Vienna" },
        workspace: { id: ana.workspaceId, name: "Acme", timeZone: "UTC" },
        role: "owner",
        scopes: ["mcp:read", "kb:api", "kb:admin"],
        mode: "self-hosted",
        signup: "invite",
      },
    });
    const [cookie = "", known] = signedIn.headers.getSetCookie();
    expect(known).toMatch(/^kb_known=[\w-]{22}(?:\.[\w-]{22}){2}; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(cookie).toMatch(/^kb_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
    const again = await kb.anyone().request("GET", "/api/session", { headers: { cookie: cookie.split(";")[0] ?? "" } });
    expect(again.json).toEqual(signedIn.json);
  });

  test("signing in from elsewhere leaves the time zone that a person chose", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    await kb.as(ana).patch("/api/profile", { timeZone: "Europe/Berlin" });
    const body = { email: ana.email, password: TEST_PASSWORD, timeZone: "America/New_York" };
    const signedIn = await kb.anyone().post("/api/session", body);
    expect(signedIn.json.user.timeZone).toBe("Europe/Berlin");
  });

  test("test 36: has a Secure __Host- cookie behind https, and only that one counts", async ({ expect }) => {
    const kb = await makeServer({ settings: { baseUrl: "https://kb.test" } });
    const ana = await kb.addOwner();
    const signedIn = await kb.anyone().post("/api/session", { email: ana.email, password: TEST_PASSWORD });
    const [cookie = "", known] = signedIn.headers.getSetCookie();
    expect(known).toMatch(/^__Host-kb-known=/);
    expect(cookie).toMatch(/^__Host-kb=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const planted = { cookie: `kb_session=${secretOf(cookie)}` };
    expect((await kb.anyone().request("GET", "/api/session", { headers: planted })).status).toBe(401);
    expect(signedIn.headers.get("strict-transport-security")).toBe("max-age=31536000");
  });

  test("test 35: signing in gives a new session and ends the one that the browser held before", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const body = { email: ana.email, password: TEST_PASSWORD };
    const fresh = await kb.as(ana).post("/api/session", body);
    expect(secretOf(fresh.headers.get("set-cookie"))).not.toBe(ana.sessionSecret);
    expect((await kb.as(ana).get("/api/session")).status).toBe(401);
  });

  test("test 35: a cookie that someone planted is never made a session", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const planted = { headers: { cookie: `kb_session=${"A".repeat(43)}` } };
    const body = { email: ana.email, password: TEST_PASSWORD };
    const signedIn = await kb.anyone().request("POST", "/api/session", { body, ...planted });
    expect(signedIn.status).toBe(200);
    expect(secretOf(signedIn.headers.get("set-cookie"))).not.toBe("A".repeat(43));
    expect((await kb.anyone().request("GET", "/api/session", planted)).status).toBe(401);
  });

  test("ends by signing out; a failed sign-in leaves it alone", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    expect((await kb.as(ana).post("/api/session", { email: ana.email, password: "wrong" })).status).toBe(401);
    const out = await kb.as(ana).delete("/api/session");
    expect(out.status).toBe(204);
    expect(out.headers.get("set-cookie")).toMatch(/^kb_session=; Max-Age=0/);
    expect((await kb.as(ana).get("/api/session")).status).toBe(401);
  });

  test("ends after 7 idle days, and after 30 days however busy", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const idle = await kb.signIn(ana);
    for (let day = 1; day < 30; day++) {
      kb.clock.advance(DAY_MS);
      expect((await kb.as(ana).get("/api/session")).status).toBe(200);
      if (day === 6) expect((await kb.as(ana).get("/api/sessions")).json.sessions).toHaveLength(2);
      if (day === 8) expect((await kb.as(idle).get("/api/session")).status).toBe(401);
    }
    kb.clock.advance(DAY_MS);
    expect((await kb.as(ana).get("/api/session")).status).toBe(401);
  });

  test("ends at the moment at which it has been idle for 7 days, and is listed until then", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    kb.clock.advance(3 * DAY_MS);
    const phone = await kb.signIn(ana);
    const listed = async () => (await kb.as(phone).get("/api/sessions")).json.sessions.length;
    kb.clock.advance(4 * DAY_MS - 1);
    expect(await listed()).toBe(2);
    kb.clock.advance(1);
    expect(await listed()).toBe(1);
    expect((await kb.as(ana).get("/api/session")).status).toBe(401);
  });

  test("is deleted a day after it ended, however it ended", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    await kb.signIn(ana);
    expect((await kb.as(ana).delete("/api/session")).status).toBe(204);
    const left = async () => (await kb.database.read.selectFrom("sessions").select("sessionId").execute()).length;
    const counts: number[] = [];
    for (const days of [1, 0.01, 7]) {
      kb.clock.advance(days * 86_400_000);
      await kb.deps.sessions.sweep();
      counts.push(await left());
    }
    expect(counts).toEqual([2, 1, 0]);
  });

  test("is listed with its device, page by page, and can be ended from another one", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const phone = await kb.signIn(ana);
    const bo = await kb.addMember(ana.workspaceId);
    const [first, second] = [
      await kb.as(ana).get("/api/sessions?limit=1"),
      await kb.as(ana).get("/api/sessions?limit=200"),
    ];
    const rest = await kb.as(ana).get(`/api/sessions?limit=1&cursor=${first.json.nextCursor}`);
    expect(first.json.nextCursor).toMatch(/^[\w-]{28}$/);
    expect([...first.json.sessions, ...rest.json.sessions]).toEqual(second.json.sessions);
    expect(rest.json.nextCursor).toBeNull();
    const other = second.json.sessions.find((session: { current: boolean }) => !session.current);
    expect((await kb.as(bo).delete(`/api/sessions/${other.id}`)).status).toBe(404);
    expect((await kb.as(ana).delete(`/api/sessions/${other.id}`)).status).toBe(204);
    expect((await kb.as(phone).get("/api/session")).status).toBe(401);
    expect((await kb.as(ana).delete(`/api/sessions/${other.id}`)).status).toBe(404);
    const { entries } = (await kb.as(ana).get("/api/audit?action=session.ended")).json;
    expect(entries).toEqual([
      expect.objectContaining({ actorUserId: ana.userId, targetType: "session", targetId: other.id }),
    ]);
  });

  test("the database holds no secret of it", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const rows = await kb.database.read.selectFrom("sessions").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(ana.sessionSecret);
  });
});

describe("signing in", () => {
  test("test 39: an unknown account and a wrong password read the same", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const wrong = await kb.anyone().post("/api/session", { email: ana.email, password: "not it at all" });
    const unknown = await kb.anyone().post("/api/session", { email: "nobody@acme.test", password: "not it at all" });
    expect(wrong).toMatchObject({ status: 401, json: { code: "sign_in_failed" } });
    expect({ ...unknown.json, requestId: "" }).toEqual({ ...wrong.json, requestId: "" });
    expect([...unknown.headers.keys()]).toEqual([...wrong.headers.keys()]);
  });

  test("wrong passwords from one place keep no one out who comes from another", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const attempt = (password: string, ip: string) =>
      kb.anyone().request("POST", "/api/session", { body: { email: ana.email, password }, ip });
    const wrong = [];
    for (let i = 0; i < 11; i++) wrong.push((await attempt("not it at all", "9.9.9.9")).status);
    expect(wrong).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    expect((await attempt(TEST_PASSWORD, "9.9.9.9")).status).toBe(429);
    for (const ip of ["8.8.8.8", "8.8.8.9"]) expect((await attempt(TEST_PASSWORD, ip)).status).toBe(200);
  });

  test("a browser that the person signed in with before gets in, however many guess at the account", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const [ana, bo] = [await kb.addOwner(), await kb.addOwner("Other")];
    const attempt = (email: string, password: string, ip: string, cookie = "") =>
      kb.anyone().request("POST", "/api/session", { body: { email, password }, ip, headers: { cookie } });
    const known = async ({ email }: { email: string }) =>
      (await attempt(email, TEST_PASSWORD, "10.9.9.9")).headers.getSetCookie()[1]?.split(";")[0] ?? "";
    const [mine, others] = [await known(ana), await known(bo)];
    const wrong: number[] = [];
    for (let i = 0; i < 110; i++) wrong.push((await attempt(ana.email, "not it at all", `10.0.${i}.1`)).status);
    expect(wrong.filter((status) => status === 401)).toHaveLength(100);
    // Even from the network of those who guess.
    const right = (cookie?: string) =>
      attempt(ana.email, TEST_PASSWORD, "10.0.0.1", cookie).then(({ status }) => status);
    expect(await right(mine)).toBe(200);
    // One that is known for somebody else, or made up, is none.
    const forged = `${others.split(".")[0]}.${mine.split(".")[1]}`;
    for (const cookie of ["", others, forged, "kb_known=x", `${mine}.x`]) expect(await right(cookie)).toBe(429);
    // Guessing in a known browser has an end of its own.
    const inside = [];
    for (let i = 0; i < 12; i++) inside.push((await attempt(ana.email, "no", "10.8.8.8", mine)).status);
    expect(inside).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  });

  test("a browser is known for each of several people, and the cookie opens nothing", async ({ expect }) => {
    const kb = await makeServer();
    const [ana, bo] = [await kb.addOwner(), await kb.addOwner("Other")];
    const signIn = ({ email }: { email: string }, cookie = "") =>
      kb.anyone().request("POST", "/api/session", { body: { email, password: TEST_PASSWORD }, headers: { cookie } });
    const knownOf = (answer: { headers: Headers }) => answer.headers.getSetCookie()[1]?.split(";")[0] ?? "";
    const first = knownOf(await signIn(ana));
    const both = knownOf(await signIn(bo, first));
    const { knownBrowsers } = kb.deps;
    const value = both.slice(both.indexOf("=") + 1);
    expect(knownBrowsers.idFor(value, ana.userId)).toBe(knownBrowsers.idFor(value, bo.userId));
    expect(both).not.toContain(ana.userId);
    expect((await kb.anyone().request("GET", "/api/session", { headers: { cookie: both } })).status).toBe(401);
  });

  test("test 40: is throttled per account from many addresses, and per IPv6 /64 for many accounts", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const attempt = (email: string, ip: string) =>
      kb.anyone().request("POST", "/api/session", { body: { email, password: "not it at all" }, ip });
    const byAccount = [];
    for (let i = 0; i < 102; i++) byAccount.push((await attempt(ana.email, `10.0.0.${i}`)).status);
    expect(byAccount).toEqual([...Array.from({ length: 100 }, () => 401), 429, 429]);
    const byNetwork = [];
    for (let i = 0; i < 12; i++) byNetwork.push((await attempt(`a${i}@x.test`, `2001:db8:1:2::${i + 1}`)).status);
    expect(byNetwork).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    expect((await attempt("b@x.test", "2001:db8:1:3::1")).status).toBe(401);
    const refused = await attempt(ana.email, "10.0.1.1");
    expect(refused).toMatchObject({ status: 429, json: { code: "rate_limited" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    kb.clock.advance(1000);
    const body = { email: ana.email, password: TEST_PASSWORD };
    expect((await kb.anyone().request("POST", "/api/session", { body, ip: "10.0.1.1" })).status).toBe(200);
  });

  test("test 46: 50 wrong ones at once cost 10 hashes, and another request is answered meanwhile", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    let isDone = false;
    const attempts = Promise.all(
      Array.from({ length: 50 }, () =>
        kb.anyone().post("/api/session", { email: ana.email, password: "not it at all" }),
      ),
    ).finally(() => (isDone = true));
    expect((await kb.anyone().get("/healthz")).status).toBe(200);
    expect(isDone).toBe(false);
    const statuses = (await attempts).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  test("wrong ones are written into the audit of the person's workspaces, after the answer", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const refuse = (email: string) =>
      kb.anyone().request("POST", "/api/session", { body: { email, password: "not it at all" }, ip: "10.1.2.3" });
    await Promise.all([refuse(ana.email), refuse("nobody@acme.test")]);
    await kb.deps.afterwards.idle();
    const acts = await kb.store.in(ana.workspaceId).audit.list({ limit: 9, action: "session.refused" });
    expect(acts).toMatchObject([
      { targetId: ana.userId, outcome: "refused", ip: "10.1.2.3", actorUserId: null, credential: "system" },
    ]);
  });

  test("right ones are not counted", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    for (let i = 0; i < 15; i++) {
      const answer = await kb.anyone().post("/api/session", { email: ana.email, password: TEST_PASSWORD });
      expect(answer.status).toBe(200);
    }
  });

  test("someone in no workspace is told so", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    await kb.as(ana).delete(`/api/workspace/members/${bo.userId}`);
    expect(await kb.anyone().post("/api/session", { email: bo.email, password: TEST_PASSWORD })).toMatchObject({
      status: 403,
      json: { code: "forbidden" },
    });
  });

  test.for([
    ["no password", { email: "a@b" }, "password"],
    ["no address", { email: "ab", password: "x" }, "email"],
    ["too long a password", { email: "a@b", password: "x".repeat(1025) }, "password"],
    ["an unknown key", { email: "a@b", password: "x", remember: true }, "remember"],
    ["an unknown zone", { email: "a@b", password: "x", timeZone: "Mars/Base" }, "timeZone"],
    ["an offset as zone", { email: "a@b", password: "x", timeZone: "+02:00" }, "timeZone"],
    ["a wrong type", { email: ["a@b"], password: "x" }, "email"],
  ] as const)("refuses %s", async ([, body, field], { expect }) => {
    const kb = await makeServer();
    expect(await kb.anyone().post("/api/session", body)).toMatchObject({ status: 400, json: { field } });
  });
});

describe("passwords", () => {
  const passwords = makePasswords(TEST_PASSWORD_COSTS);

  test.for([
    ["elevenchars", "too short"],
    ["a".repeat(40), "one character"],
    ["abababababababab", "few characters"],
    ["é".repeat(60) + "abcdefghijklm", "over 128 bytes"],
    ["ana@acme.test1", "the address"],
    ["Correct Horse Battery Staple", "published"],
  ] as const)("%s is refused: %s", ([password], { expect }) => {
    expect(() => passwords.check(password, { email: "ana@acme.test" })).toThrow(
      expect.objectContaining({ code: "password_too_weak" }),
    );
  });

  test("12 characters of any script will do", ({ expect }) => {
    expect(() => passwords.check("grüne Türen 7", { email: "ana@acme.test" })).not.toThrow();
  });

  test("test 46: input over 128 bytes never matches, not even itself cut", async ({ expect }) => {
    const hash = await passwords.hash("");
    expect(await passwords.verify(hash, "x".repeat(129))).toBe(false);
    expect(await passwords.verify(null, "anything")).toBe(false);
    expect(await passwords.verify(hash, "")).toBe(true);
  });

  test("test 39: an unknown account costs the work of a wrong password, the first one too", async ({ expect }) => {
    const stored = await makePasswords().hash(TEST_PASSWORD);
    const work: string[][] = [];
    for (const who of [stored, null]) {
      const done: string[] = [];
      const counted = makePasswords(undefined, {
        hash: (password, options) => {
          done.push(`hash ${options?.memoryCost} ${options?.timeCost}`);
          return argon2.hash(password, options);
        },
        verify: (hashed, password) => {
          const { memoryCost, timeCost, parallelism } = argon2.parseOptions(String(hashed));
          done.push(`verify ${memoryCost} ${timeCost} ${parallelism} of ${String(password).length}`);
          return argon2.verify(hashed, password);
        },
      });
      for (let i = 0; i < 2; i++) expect(await counted.verify(who, "not it at all")).toBe(false);
      work.push(done);
    }
    expect(work[0]).toHaveLength(3);
    expect(work[1]).toEqual(work[0]);
  });

  test("beyond 200 that wait the next ones are told at once, and afterwards all goes on", async ({ expect }) => {
    const fresh = makePasswords(TEST_PASSWORD_COSTS);
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => fresh.hash(TEST_PASSWORD)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(refused).toHaveLength(98);
    expect(refused[0]).toMatchObject({ code: "unavailable", retryAfterMs: 5_000 });
    expect(await fresh.verify(await fresh.hash(TEST_PASSWORD), TEST_PASSWORD)).toBe(true);
  });

  test("a hash with other costs is renewed at the next sign-in", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    await kb.store.users.setPasswordHash(
      ana.userId,
      await makePasswords({ memoryKib: 16, passes: 2 }).hash(TEST_PASSWORD),
    );
    expect((await kb.anyone().post("/api/session", { email: ana.email, password: TEST_PASSWORD })).status).toBe(200);
    expect((await kb.store.users.find(ana.userId))?.passwordHash).toContain("$m=8,t=1,p=1$");
  });
});

test("a test server stands at its fixed time", async ({ expect }) => {
  expect((await makeServer()).clock.now()).toBe(TEST_NOW);
});

test("when a session was last seen is written once in five minutes", async ({ expect }) => {
  const kb = await makeServer();
  const ana = await kb.addOwner();
  const seen = async () => (await kb.as(ana).get("/api/sessions")).json.sessions[0].lastSeenAt as string;
  const first = await seen();
  kb.clock.advance(5 * 60_000 - 1);
  expect(await seen()).toBe(first);
  kb.clock.advance(1);
  await seen();
  expect(Date.parse(await seen()) - Date.parse(first)).toBe(5 * 60_000);
});
