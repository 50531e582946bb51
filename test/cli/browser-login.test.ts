import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { KeychainUnavailable } from "#cli/host/keychain.ts";
import { kb, makeWorld, type FakeWorld } from "./fakes.ts";
import { startStandIn, type StandIn } from "./stand-in.ts";

/** A person at a desk: a display, and a browser that signs in as soon as it is opened. */
function desk(server: StandIn, more: Partial<FakeWorld> = {}): FakeWorld & { pages: Promise<{ text: string }>[] } {
  const pages: Promise<{ status: number; text: string }>[] = [];
  const world = makeWorld({ env: { DISPLAY: ":0" }, ...more });
  world.real = {
    fetch: globalThis.fetch,
    openUrl: async (address) => {
      world.opened.push(address);
      pages.push(server.visit(address));
      return true;
    },
    ...more.real,
  };
  return Object.assign(world, { pages });
}

/** A box without a browser. */
function headless(more: Partial<FakeWorld> = {}): FakeWorld {
  return makeWorld({ env: {}, ...more, real: { fetch: globalThis.fetch, ...more.real } });
}

const fileOf = (world: FakeWorld): string => join(world.dir, "config", "credentials.json");
const stored = (world: FakeWorld): string => readFileSync(fileOf(world), "utf8");

describe("kb login in the browser", () => {
  test("signs in by a code with PKCE, for the tools and the API, and prints no secret", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    const run = await kb(world, "login", server.url);
    expect(run.stderr).toContain('as ana@one.test (admin of "One")');
    expect(run.code).toBe(0);
    const address = new URL(world.opened[0] ?? "");
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "kb-cli",
      scope: "mcp:read kb:api",
      code_challenge_method: "S256",
    });
    expect(address.searchParams.getAll("resource")).toEqual([`${server.url}/mcp`, `${server.url}/api`]);
    expect(address.searchParams.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    for (const token of [...server.live().access, ...server.live().refresh]) {
      expect(run.stdout + run.stderr).not.toContain(token);
      expect(stored(world)).toContain(token);
    }
    expect((await world.pages[0])?.text).toMatch(
      /<p>You can close this page and return to the terminal\.<\/p><\/html>$/,
    );
  });

  test("the next commands use the login, and whoami says how one is signed in", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    await kb(world, "login", server.url);
    const run = await kb(world, "whoami");
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("browser login")]);
  });

  test("a refusal in the browser is exit code 4 and stores nothing", async ({ expect }) => {
    const server = await startStandIn();
    server.decision = "deny";
    const run = await kb(desk(server), "login", server.url);
    expect([run.code, run.stderr]).toEqual([4, expect.stringContaining("refused in the browser")]);
  });

  test("a new login ends the one that it replaces", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    await kb(world, "login", server.url);
    await kb(world, "login", server.url);
    expect(server.live().refresh).toHaveLength(1);
    expect(stored(world)).toContain(server.live().refresh[0]);
  });

  test("an address of another origin in the metadata is refused before anything is opened", async ({ expect }) => {
    const server = await startStandIn();
    server.tamper = (path, answer) =>
      path.startsWith("/.well-known") ? { ...answer, token_endpoint: "https://evil.test/token" } : answer;
    const world = desk(server);
    const run = await kb(world, "login", server.url);
    expect([run.code, run.stderr, world.opened]).toEqual([7, expect.stringContaining("https://evil.test"), []]);
  });

  test("a server without sign-in by browser names the way that works", async ({ expect }) => {
    const server = await startStandIn();
    server.tamper = (path, answer) => (path.startsWith("/.well-known") ? { code: "not_found", detail: "no" } : answer);
    const run = await kb(desk(server), "login", server.url);
    expect([run.code, run.stderr]).toEqual([7, expect.stringContaining(`kb login ${server.url} --email`)]);
  });

  test("a browser that does not open gives way to a code", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server, { real: { openUrl: async () => false } });
    const run = await kb(world, "login", server.url);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("BCDF-GHJK")]);
  });

  test("ways that contradict each other are refused", async ({ expect }) => {
    const run = await kb(headless(), "login", "https://kb.test", "--device", "--admin");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("--device and --admin can't be combined")]);
  });
});

describe("kb login with a code", () => {
  test.for([
    ["--device", { DISPLAY: ":0" }, ["--device"]],
    ["SSH", { DISPLAY: ":0", SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, []],
    ["no display", {}, []],
    ["CI", { DISPLAY: ":0", CI: "true" }, []],
  ] as const)("is chosen for %s", async ([, env, flags], { expect }) => {
    const server = await startStandIn();
    server.polls = ["authorization_pending", "slow_down", "authorization_pending"];
    const run = await kb(headless({ env }), "login", server.url, ...flags);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining(`${server.url}/oauth/device`)]);
    expect(run.stderr).toContain("BCDF-GHJK");
    const asked = server.seen.find(({ path }) => path === "/oauth/device_authorization");
    expect(asked?.form.get("scope")).toBe("mcp:read kb:api");
  });

  test("works with a server that doesn't publish where, since only the command line may ask there", async ({
    expect,
  }) => {
    const server = await startStandIn();
    server.tamper = (path, value) => {
      if (!path.startsWith("/.well-known/")) return value;
      const { device_authorization_endpoint: _left, ...rest } = value;
      return rest;
    };
    const run = await kb(headless(), "login", server.url, "--device");
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("BCDF-GHJK")]);
  });

  test("a refusal is exit code 4, a code that is over exit code 9", async ({ expect }) => {
    const server = await startStandIn();
    server.decision = "deny";
    expect((await kb(headless(), "login", server.url)).code).toBe(4);
    server.polls = Array.from({ length: 100 }, () => "authorization_pending");
    expect((await kb(headless(), "login", server.url)).code).toBe(9);
  });

  test("--no-input says that a person is needed", async ({ expect }) => {
    const server = await startStandIn();
    const run = await kb(headless(), "login", server.url, "--no-input");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("--with-token")]);
  });
});

describe("kb login --admin", () => {
  test("adds admin rights for an hour and leaves the login as it is", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    await kb(world, "login", server.url);
    const [refresh] = server.live().refresh;
    const run = await kb(world, "login", server.url, "--admin");
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("admin rights for 60 minutes")]);
    expect(new URL(world.opened[1] ?? "").searchParams.get("scope")).toBe("kb:api kb:admin");
    expect((await kb(world, "whoami")).stdout).toContain("with admin rights for now");
    world.now += 3_600_000;
    expect((await kb(world, "whoami")).stdout).not.toContain("admin rights");
    expect(server.seen.some(({ form }) => form.get("refresh_token") === refresh)).toBe(true);
  });

  test("takes no one else's rights, and none from who is no admin", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    await kb(world, "login", server.url);
    server.email = "bo@one.test";
    const other = await kb(world, "login", server.url, "--admin");
    expect([other.code, other.stderr]).toEqual([5, expect.stringContaining("bo@one.test")]);
    server.email = "ana@one.test";
    server.allowed = ["kb:api"];
    const member = await kb(world, "login", server.url, "--admin");
    expect([member.code, member.stderr]).toEqual([4, expect.stringContaining("no admin rights")]);
    expect((await kb(world, "whoami")).stdout).not.toContain("admin rights");
  });

  test("without a browser it names the session", async ({ expect }) => {
    const run = await kb(headless(), "login", "https://kb.test", "--admin");
    expect([run.code, run.stderr]).toEqual([4, expect.stringContaining("--email")]);
  });
});

describe("where each is kept", () => {
  test("in the keychain when there is one: the file names only who and where", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server, { keychain: new Map() });
    const run = await kb(world, "login", server.url);
    expect(run.stderr).toContain("in the system's keychain");
    expect(JSON.parse(stored(world))).toEqual({
      version: 1,
      origins: { [server.url]: { store: "keychain", email: "ana@one.test" } },
    });
    expect((await kb(world, "whoami")).code).toBe(0);
    await kb(world, "logout");
    expect([world.keychain?.size, server.live().refresh]).toEqual([0, []]);
  });

  test("--insecure-storage keeps it in the file without a notice, and moves it there", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server, { keychain: new Map() });
    await kb(world, "login", server.url);
    const run = await kb(world, "login", server.url, "--insecure-storage");
    expect(run.stderr).not.toContain("Notice");
    expect(stored(world)).toContain(server.live().refresh[0]);
    expect(world.keychain?.size).toBe(0);
  });

  test("test 58: the file is 0600, and one that others can read is refused by every command", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    await kb(world, "login", server.url);
    expect(statSync(fileOf(world)).mode & 0o777).toBe(0o600);
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(fileOf(world), mode);
      for (const command of ["whoami", "logout", "login"]) {
        const run = await kb(world, command);
        expect([run.code, run.stderr]).toEqual([4, expect.stringContaining(`chmod 600 ${fileOf(world)}`)]);
      }
      expect(statSync(fileOf(world)).mode & 0o777).toBe(mode);
    }
    chmodSync(fileOf(world), 0o600);
    expect((await kb(world, "whoami")).code).toBe(0);
  });

  test("test 58: no token is in what is printed, however the command ends", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server);
    const runs = [await kb(world, "login", server.url)];
    const secrets = new Set([...server.live().access, ...server.live().refresh]);
    // A careless server quotes what it was sent, and one that fails does so at any point.
    server.expireAccess();
    server.tamper = (path, answer) =>
      path === "/oauth/token"
        ? { error: "invalid_request", error_description: `bad ${[...secrets].join(" ")}` }
        : answer;
    world.env = { ...world.env, KB_DEBUG: "1" };
    runs.push(await kb(world, "whoami"), await kb(world, "whoami", "--json"));
    server.tamper = () => 500;
    runs.push(await kb(world, "whoami"), await kb(world, "logout"));
    await server.close();
    runs.push(await kb(world, "login", server.url));
    expect(runs.map(({ code }) => code)).toEqual([0, 7, 4, 7, 7, 7]);
    const text = runs.map(({ stdout, stderr }) => stdout + stderr).join("\n");
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test("test 59: a keychain that is missing, locked or fails while saving costs no token", async ({ expect }) => {
    const server = await startStandIn();
    const failing = new KeychainUnavailable("it did not answer within 3 s");
    const keychain = {
      find: () => Promise.reject(failing),
      save: () => Promise.reject(failing),
      remove: () => Promise.reject(failing),
    };
    const world = desk(server, { real: { keychain } });
    const run = await kb(world, "login", server.url);
    expect([run.code, run.stderr]).toEqual([
      0,
      expect.stringContaining("can't be used (it did not answer within 3 s)"),
    ]);
    expect(stored(world)).toContain(server.live().refresh[0]);
    expect((await kb(world, "whoami")).code).toBe(0);
  });

  test("test 59: a keychain that fails when a token was renewed loses nothing", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server, { keychain: new Map() });
    await kb(world, "login", server.url);
    const entries = world.keychain ?? new Map<string, string>();
    server.expireAccess();
    world.real.keychain = {
      find: async (account) => entries.get(account),
      save: () => Promise.reject(new KeychainUnavailable("it is locked")),
      remove: async () => undefined,
    };
    expect((await kb(world, "whoami")).code).toBe(0);
    expect(stored(world)).toContain(server.live().refresh[0]);
    server.expireAccess();
    expect((await kb(world, "whoami")).code).toBe(0);
  });

  test("test 59: a locked keychain that holds the login is named, with what to do", async ({ expect }) => {
    const server = await startStandIn();
    const world = desk(server, { keychain: new Map() });
    await kb(world, "login", server.url);
    world.keychain = undefined;
    const run = await kb(world, "whoami");
    expect([run.code, run.stderr]).toEqual([4, expect.stringContaining("--insecure-storage")]);
    expect((await kb(world, "login", server.url)).code).toBe(0);
    expect((await kb(world, "whoami")).code).toBe(0);
  });
});

describe("test 61: where a login may go", () => {
  test.for(["http://kb.test", "http://10.0.0.7:7700", "http://127.0.0.1.evil.test"])(
    "%s is refused, for signing in and for every token",
    async (url, { expect }) => {
      const world = headless({
        env: { DISPLAY: ":0" },
        real: { fetch: () => Promise.reject(new Error("no request")) },
      });
      expect((await kb(world, "login", url)).code).toBe(2);
      world.env = { KB_URL: url, KB_TOKEN: "kb_pat_0123456789abcdef" };
      const run = await kb(world, "whoami");
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("is not encrypted")]);
    },
  );

  test("who trusts the network says so, and it is used", async ({ expect }) => {
    const world = makeWorld({
      env: { KB_URL: "http://kb:7700", KB_TOKEN: "kb_pat_0123456789abcdef", KB_ALLOW_HTTP: "1" },
    });
    world.routes["GET /api/api-tokens"] = { body: { tokens: [], mcpUrl: "" } };
    expect((await kb(world, "tokens", "list")).code).toBe(0);
  });

  test.for(["/api/session", "/oauth/token", "/oauth/revoke", "/.well-known/oauth-authorization-server"])(
    "a redirect of %s is an error, and nothing is sent on",
    async (path, { expect }) => {
      const server = await startStandIn();
      const world = desk(server);
      await kb(world, "login", server.url);
      const elsewhere: string[] = [];
      world.real.fetch = async (input, init) => {
        if (!String(input).startsWith(server.url)) elsewhere.push(String(input));
        return await fetch(input, init);
      };
      server.tamper = (seen, answer) => (seen === path ? 307 : answer);
      if (path === "/oauth/token") server.expireAccess();
      const command =
        path === "/oauth/revoke" ? ["logout"] : path.startsWith("/.") ? ["login", server.url] : ["whoami"];
      const run = await kb(world, ...command);
      expect([run.code, run.stderr, elsewhere]).toEqual([7, expect.stringContaining("redirect"), []]);
    },
  );

  test("a stored login is not sent to another server, nor to an endpoint that a file moved", async ({ expect }) => {
    const [server, other] = [await startStandIn(), await startStandIn()];
    const world = desk(server);
    await kb(world, "login", server.url);
    expect((await kb(world, "whoami", "--url", other.url)).code).toBe(4);
    const moved = stored(world).replaceAll(`${server.url}/oauth/`, `${other.url}/oauth/`);
    writeFileSync(fileOf(world), moved, { mode: 0o600 });
    server.expireAccess();
    expect((await kb(world, "whoami")).code).toBe(4);
    await kb(world, "logout");
    expect(other.seen).toEqual([]);
  });
});
