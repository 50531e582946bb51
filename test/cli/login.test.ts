import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { kb, makeWorld, problem, type FakeWorld, type Reply } from "./fakes.ts";

const session = {
  user: { id: "usr_1", name: "Ana", email: "ana@one.test", emailVerifiedAt: null, timeZone: null, createdAt: "" },
  workspace: { id: "wsp_1", name: "One", timeZone: "UTC", createdAt: "" },
  role: "owner",
  scopes: ["mcp:read", "kb:api"],
  mode: "self-hosted",
  signup: "invite",
  notices: [],
};
const signedIn: Reply = { body: session, headers: { "set-cookie": "kb_session=COOKIE; Path=/; HttpOnly" } };
const token = {
  id: "tok_1",
  name: "kb mcp",
  prefix: "kb_pat_abcd",
  createdAt: "",
  lastUsedAt: null,
  revokedAt: null,
  scopes: [],
  expiresAt: null,
};

function loginWorld(more: Partial<FakeWorld> = {}): FakeWorld {
  return makeWorld({
    env: {},
    stdin: "correct horse\nSETUP-CODE\n",
    routes: {
      "GET /api/onboarding": { body: { needed: false } },
      "POST /api/session": signedIn,
      "POST /api/onboarding": { ...signedIn, status: 201 },
      "POST /api/invitations/accept": { ...signedIn, status: 201 },
      "GET /api/session": { body: session },
      "GET /api/api-tokens": { body: { tokens: [], mcpUrl: "" } },
      "POST /api/api-tokens": { status: 201, body: { token, plaintext: "kb_pat_MADE", mcpUrl: "" } },
      "DELETE /api/api-tokens/tok_1": { body: { token } },
      "DELETE /api/session": { status: 204 },
    },
    ...more,
  });
}

const LOGIN = ["login", "https://kb.test", "--email", "ana@one.test", "--password-stdin"];

function stored(world: FakeWorld, name = "credentials.json"): Record<string, unknown> {
  return JSON.parse(readFileSync(join(world.dir, "config", name), "utf8")) as Record<string, unknown>;
}

test("login keeps session and bridge token for their origin in a file of mode 0600, and prints neither", async ({
  expect,
}) => {
  const world = loginWorld();
  const run = await kb(world, ...LOGIN);
  expect(run.code).toBe(0);
  expect(stored(world)["origins"]).toEqual({
    "https://kb.test": {
      store: "file",
      email: "ana@one.test",
      session: "kb_session=COOKIE",
      mcpToken: { id: "tok_1", plaintext: "kb_pat_MADE" },
    },
  });
  expect(statSync(join(world.dir, "config", "credentials.json")).mode & 0o777).toBe(0o600);
  expect(stored(world, "config.json")).toMatchObject({
    currentProfile: "kb.test",
    profiles: { "kb.test": { url: "https://kb.test" } },
  });
  expect(run.stdout + run.stderr).not.toMatch(/COOKIE|kb_pat_MADE|correct horse/);
  expect(world.sent.find((sent) => sent.path === "/api/api-tokens" && sent.method === "POST")?.body).toMatchObject({
    scopes: ["mcp:read"],
  });
});

test("the next commands use the stored session", async ({ expect }) => {
  const world = loginWorld();
  await kb(world, ...LOGIN);
  const run = await kb(world, "whoami");
  expect(run.stdout).toContain("ana@one.test");
  expect(world.sent.at(-1)?.headers["cookie"]).toBe("kb_session=COOKIE");
});

test("a second login keeps a bridge token that is still alive", async ({ expect }) => {
  const world = loginWorld();
  await kb(world, ...LOGIN);
  world.routes["GET /api/api-tokens"] = { body: { tokens: [token], mcpUrl: "" } };
  world.routes["POST /api/api-tokens"] = new Error("no second token");
  expect((await kb(world, ...LOGIN)).code).toBe(0);
  const inSpring = { ...token, expiresAt: "2027-04-01T00:00:00.000Z" };
  world.routes["GET /api/api-tokens"] = { body: { tokens: [inSpring], mcpUrl: "" } };
  expect((await kb(world, ...LOGIN)).code).toBe(0);
});

test("login says that it made a token, named after the machine, for a year, and replaces it in its last month", async ({
  expect,
}) => {
  const world = loginWorld();
  const made = { ...token, expiresAt: "2027-11-21T00:00:00.000Z" };
  world.routes["POST /api/api-tokens"] = { status: 201, body: { token: made, plaintext: "kb_pat_MADE", mcpUrl: "" } };
  const run = await kb(world, ...LOGIN);
  expect(run.stderr).toMatch(/Created the token "kb mcp on [\w.-]+" .* It expires on 2027-11-21\. .*revoke tok_1/);
  const asked = () => world.sent.filter(({ path, method }) => path === "/api/api-tokens" && method === "POST");
  expect(asked().map(({ body }) => body)).toEqual([
    { name: expect.stringMatching(/^kb mcp on [\w.-]+$/), scopes: ["mcp:read"], expiresInDays: 365 },
  ]);
  const nearlyOver = { ...token, expiresAt: "2026-12-01T00:00:00.000Z" };
  world.routes["GET /api/api-tokens"] = { body: { tokens: [nearlyOver], mcpUrl: "" } };
  await kb(world, ...LOGIN);
  expect(asked().length).toBe(2);
});

test("a server without users is taken over with the setup code from stdin", async ({ expect }) => {
  const world = loginWorld();
  world.routes["GET /api/onboarding"] = { body: { needed: true } };
  const run = await kb(world, ...LOGIN, "--name", "Ana", "--workspace-name", "One");
  expect(run.code).toBe(0);
  expect(world.sent.find((sent) => sent.path === "/api/onboarding" && sent.method === "POST")?.body).toMatchObject({
    setupCode: "SETUP-CODE",
    password: "correct horse",
    workspaceName: "One",
  });
});

test("an invitation's address names the server and carries the token", async ({ expect }) => {
  const world = loginWorld();
  const url = "https://kb.test/invitations#token=INVITED";
  const run = await kb(
    world,
    "login",
    "--invitation",
    url,
    "--name",
    "Bo",
    "--email",
    "bo@one.test",
    "--password-stdin",
  );
  expect(run.code).toBe(0);
  expect(world.sent[0]).toMatchObject({
    path: "/api/invitations/accept",
    body: { token: "INVITED", email: "bo@one.test" },
  });
  expect(run.stdout + run.stderr).not.toContain("INVITED");
});

test("without a terminal nothing is asked: the missing option is named", async ({ expect }) => {
  const run = await kb(loginWorld(), "login", "https://kb.test", "--password-stdin");
  expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("--email is needed")]);
  const noInput = await kb(loginWorld({ isTty: true }), "login", "https://kb.test", "--email", "a@b.c", "--no-input");
  expect([noInput.code, noInput.stderr]).toEqual([2, expect.stringContaining("--password-stdin is needed")]);
});

test("on a terminal what is missing beside the email is asked", async ({ expect }) => {
  const world = loginWorld({ isTty: true, prompts: { password: async () => "typed" } });
  expect((await kb(world, "login", "https://kb.test", "--email", "ana@one.test")).code).toBe(0);
  expect(world.sent.find((sent) => sent.path === "/api/session")?.body).toMatchObject({
    email: "ana@one.test",
    password: "typed",
  });
});

test("a wrong password is exit code 4, stores nothing and says where a new one comes from", async ({ expect }) => {
  const world = loginWorld();
  world.routes["POST /api/session"] = problem(401, "sign_in_failed", "Email or password is wrong.");
  const run = await kb(world, ...LOGIN);
  expect([run.code, existsSync(join(world.dir, "config", "credentials.json"))]).toEqual([4, false]);
  expect(run.stderr).toContain("/forgot-password or ask an admin for a link.");
});

test("a given token is checked and kept for its origin", async ({ expect }) => {
  const world = loginWorld({ stdin: "kb_pat_GIVEN12345\n" });
  expect((await kb(world, "login", "https://kb.test", "--with-token")).code).toBe(0);
  await kb(world, "whoami");
  expect(world.sent.at(-1)?.headers["authorization"]).toBe("Bearer kb_pat_GIVEN12345");
  const other = await kb(world, "whoami", "--url", "https://other.test");
  expect([other.code, other.sent.filter((sent) => sent.url.includes("other"))]).toEqual([4, []]);
});

test("logout revokes token and session, then forgets them", async ({ expect }) => {
  const world = loginWorld();
  await kb(world, ...LOGIN);
  const run = await kb(world, "logout");
  expect(run.code).toBe(0);
  expect(world.sent.slice(-2).map((sent) => `${sent.method} ${sent.path}`)).toEqual([
    "DELETE /api/api-tokens/tok_1",
    "DELETE /api/session",
  ]);
  expect(stored(world)["origins"]).toEqual({});
});

test("logout without the server forgets the login and says what is still alive", async ({ expect }) => {
  const world = loginWorld();
  await kb(world, ...LOGIN);
  world.routes["DELETE /api/api-tokens/tok_1"] = new TypeError("fetch failed");
  const run = await kb(world, "logout");
  expect([run.code, run.stderr]).toEqual([7, expect.stringContaining("could not revoke it")]);
  expect(stored(world)["origins"]).toEqual({});
});

test("a broken settings file is named, not overwritten", async ({ expect }) => {
  const world = loginWorld();
  await kb(world, ...LOGIN);
  const path = join(world.dir, "config", "config.json");
  writeFileSync(path, "{broken");
  const run = await kb(world, "whoami");
  expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(path)]);
  expect(readFileSync(path, "utf8")).toBe("{broken");
});
