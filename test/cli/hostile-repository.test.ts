import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { COMMANDS } from "#cli/generated/table.ts";
import { argumentsOf } from "#cli/line/options.ts";
import { kb, makeWorld, type FakeWorld } from "./fakes.ts";

const EVIL = "https://evil.test";
const HOSTILE_FILES: [string, unknown][] = [
  ["url", { url: EVIL }],
  ["headers", { headers: { authorization: "x" } }],
  ["proxy", { proxy: EVIL }],
  ["token", { token: "kb_pat_x" }],
  ["command", { command: "curl evil" }],
  ["a known key beside a bad one", { profile: "work", url: EVIL }],
  ["no object", [EVIL]],
];

const TOOL_CALL = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "kb_search" } })}\n`;

/** A folder with a kb.json of a stranger, and a person who is signed in to https://work.test as profile "work". */
function hostileWorld(file: unknown, env: Record<string, string> = {}): FakeWorld {
  const world = makeWorld({ env, stdin: TOOL_CALL });
  writeFileSync(join(world.dir, "kb.json"), JSON.stringify(file));
  storeLogin(join(world.dir, "config"), "work", "https://work.test");
  return world;
}

function storeLogin(config: string, profile: string, url: string): void {
  mkdirSync(config, { recursive: true });
  writeFileSync(
    join(config, "config.json"),
    JSON.stringify({ currentProfile: profile, profiles: { [profile]: { url } } }),
  );
  const login = { session: "kb_session=s", mcpToken: { id: "tok_2", plaintext: "kb_pat_stored" } };
  writeFileSync(join(config, "credentials.json"), JSON.stringify({ origins: { [url]: login } }), { mode: 0o600 });
}

const REMOTE = COMMANDS.filter((spec) => spec.isRemote === true);

describe("a kb.json in the working directory", () => {
  test.for(HOSTILE_FILES)("with %s makes every command fail before a request", async ([, file], { expect }) => {
    expect(REMOTE.length).toBeGreaterThan(35);
    const envs = [{}, { KB_TOKEN: "kb_pat_environment", KEY: "kb_con_key12345" }];
    const worlds = envs.map((env) => hostileWorld(file, env));
    for (const spec of REMOTE.filter((item) => item.name !== "mcp")) {
      const values = argumentsOf(spec)
        .filter(({ term }) => term.startsWith("<"))
        .map(({ term, choices }) => choices?.[0] ?? (term === "<path>" ? "/api/session" : "GET"));
      const extra = spec.name === "push" ? ["--key", "env:KEY"] : [];
      for (const world of worlds) {
        const run = await kb(world, ...spec.name.split(" "), ...values, ...extra);
        expect([spec.name, run.code, run.sent]).toEqual([spec.name, 2, []]);
        expect(run.stderr).toContain("kb.json");
      }
    }
  });

  test("an address given beside the token is the only one a hostile folder leaves: still an error", async ({
    expect,
  }) => {
    const env = { KB_TOKEN: "kb_pat_environment", KB_URL: "https://work.test" };
    const run = await kb(hostileWorld({ url: EVIL }, env), "whoami");
    expect([run.code, run.sent]).toEqual([2, []]);
  });

  test("an unknown profile is an error, a known one is used with its own login", async ({ expect }) => {
    const unknown = await kb(hostileWorld({ profile: "evil" }), "tokens", "list");
    expect([unknown.code, unknown.sent]).toEqual([3, []]);
    const world = hostileWorld({ profile: "work" });
    world.routes["GET /api/api-tokens"] = { body: { tokens: [], mcpUrl: "" } };
    const known = await kb(world, "tokens", "list");
    expect(known.code).toBe(0);
    expect(known.sent.map((sent) => [sent.url, sent.headers["cookie"]])).toEqual([
      ["https://work.test/api/api-tokens", "kb_session=s"],
    ]);
  });

  test("a token of the environment never goes to an address from a file", async ({ expect }) => {
    const run = await kb(hostileWorld({ profile: "work" }, { KB_TOKEN: "kb_pat_environment" }), "tokens", "list");
    expect([run.code, run.sent]).toEqual([2, []]);
    expect(run.stderr).toContain("set KB_URL");
  });

  test("its harmless defaults are used", async ({ expect }) => {
    const world = hostileWorld({ source: "filesystem:docs", limit: 3 });
    const answer = {
      results: [],
      total: 0,
      totalIsExact: true,
      returned: 0,
      nextCursor: null,
      notes: [],
      match: "all",
      tookMs: 1,
    };
    world.routes["GET /api/connectors/search"] = { body: answer };
    const run = await kb(world, "search", "plan");
    expect(Object.fromEntries(new URL(run.sent[0]?.url ?? "").searchParams)).toEqual({
      query: "plan",
      source: "filesystem:docs",
      limit: "3",
    });
  });
});
