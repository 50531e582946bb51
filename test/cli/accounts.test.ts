import { describe, test } from "vitest";
import { kb, makeWorld, type FakeWorld } from "./fakes.ts";

const account = {
  id: "acc_2222222222222222",
  label: "Anna (anna)",
  scopes: ["read:user"],
  state: "active",
  expiresAt: null,
  providerId: "gitea",
  providerName: "Gitea",
  baseUrl: "https://git.acme.test",
  login: "anna",
  principal: "user:gitea:git.acme.test:7",
  stateReason: null,
  way: "oauth",
  confirmedAt: "2026-11-21T09:30:00.000Z",
  isLinked: true,
  connectors: [{ id: "con_2222222222222222", name: "Forge" }],
  createdAt: "2026-11-21T09:30:00.000Z",
};
const provider = {
  providerId: "gitea",
  name: "Gitea",
  configured: true,
  baseUrl: "https://git.acme.test",
  scopes: ["read:user"],
  ownTokens: { steps: "Make one.", instances: [{ baseUrl: "https://git.acme.test", url: null }] },
  setUp: {
    url: "https://git.acme.test/-/admin/applications",
    steps: "Create one.",
    redirectUrl: "https://kb.acme.test/api/accounts/gitea/callback",
    env: ["KB_GITEA_URL", "KB_GITEA_CLIENT_ID"],
  },
};

const world = (routes: FakeWorld["routes"], more: Partial<FakeWorld> = {}) =>
  makeWorld({
    routes: { "GET /api/accounts": { body: { accounts: [account], providers: [provider] } }, ...routes },
    ...more,
  });

describe("kb accounts", () => {
  test("list shows who someone is elsewhere", async ({ expect }) => {
    const { stdout } = await kb(world({}), "accounts", "list");
    expect(stdout).toMatch(/acc_2{16}\s+gitea\s+Anna \(anna\)\s+active\s+yes/);
  });

  test("connect --token sends the token of stdin, and prints nothing of it", async ({ expect }) => {
    const here = world({ "POST /api/accounts": { status: 201, body: { account } } }, { stdin: "kb-canary-token\n" });
    const { stdout, stderr, code } = await kb(here, "accounts", "connect", "gitea", "--token");
    expect(code).toBe(0);
    expect(here.sent.at(-1)?.body).toEqual({ providerId: "gitea", credentials: { token: "kb-canary-token" } });
    expect(stdout + stderr).not.toContain("canary");
  });

  test("connect prints the page's address, and says what the operator has to do", async ({ expect }) => {
    const { stdout } = await kb(world({}), "accounts", "connect", "gitea", "--print");
    expect(stdout.trim()).toMatch(/\/settings\/accounts\?connect=gitea$/);
    const without = world({
      "GET /api/accounts": { body: { accounts: [], providers: [{ ...provider, configured: false }] } },
    });
    const { code, stderr } = await kb(without, "accounts", "connect", "gitea");
    expect(code).toBe(1);
    expect(stderr).toContain("https://kb.acme.test/api/accounts/gitea/callback");
  });

  test("disconnect finds the account by its service, and asks first", async ({ expect }) => {
    const here = world({ "DELETE /api/accounts/acc_2222222222222222": { status: 204 } });
    expect((await kb(here, "accounts", "disconnect", "gitea")).code).toBe(2);
    expect(here.sent.some(({ method }) => method === "DELETE")).toBe(false);
    const { code, stderr } = await kb(here, "accounts", "disconnect", "gitea", "--yes");
    expect([code, stderr]).toEqual([0, "Disconnected Anna (anna) at Gitea.\n"]);
    expect((await kb(here, "accounts", "disconnect", "slack", "--yes")).code).toBe(3);
  });

  describe("at a service that takes tokens alone", () => {
    const at = (...hosts: string[]) => ({
      ...provider,
      providerId: "jira",
      name: "Jira",
      configured: false,
      baseUrl: null,
      scopes: [],
      ownTokens: {
        steps: "Open your profile.",
        instances: hosts.map((host) => ({ baseUrl: `https://${host}`, url: `https://${host}/tokens` })),
      },
      setUp: null,
    });
    const here = (hosts: string[], more: Partial<FakeWorld> = {}) =>
      makeWorld({
        routes: {
          "GET /api/accounts": { body: { accounts: [], providers: [at(...hosts)] } },
          "POST /api/accounts": { status: 201, body: { account } },
        },
        ...more,
      });
    const terminal = { isTty: true };

    test("says how a token is made, asks where it is from, and hides it", async ({ expect }) => {
      const asked: string[] = [];
      const one = here(["a.test", "b.test"], {
        ...terminal,
        prompts: {
          select: async (message, choices) => (asked.push(message), choices[1]?.value ?? ""),
          password: async (message) => (asked.push(message), " kb-canary-token "),
        },
      });
      const { code, stderr, stdout } = await kb(one, "accounts", "connect", "jira");
      expect([code, asked]).toEqual([0, ["Which Jira?", "Token of Jira"]]);
      expect(stderr).toContain("Open your profile.\n\n  https://b.test/tokens\n");
      expect(stdout + stderr).not.toContain("canary");
      expect(one.sent.at(-1)?.body).toEqual({
        providerId: "jira",
        baseUrl: "https://b.test",
        credentials: { token: "kb-canary-token" },
      });
    });

    test("takes the token from stdin, says which instances there are, and what an admin does first", async ({
      expect,
    }) => {
      const piped = await kb(
        here(["a.test"], { stdin: "kb-canary-token\n" }),
        "accounts",
        "connect",
        "jira",
        "--token",
      );
      expect(piped.code).toBe(0);
      const silent = await kb(here(["a.test"]), "accounts", "connect", "jira");
      expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining("--token < token.txt")]);
      const several = await kb(here(["a.test", "b.test"], { stdin: "x" }), "accounts", "connect", "jira", "--token");
      expect([several.code, several.stderr]).toEqual([2, expect.stringContaining("https://a.test, https://b.test")]);
      const none = await kb(here([], { stdin: "x" }), "accounts", "connect", "jira", "--token");
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("--add-instance jira=URL")]);
    });
  });
});
