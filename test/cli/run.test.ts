import { describe, test } from "vitest";
import { VERSION } from "#api/version.ts";
import { EXIT_CODES } from "#cli/host/exit-codes.ts";
import { COMMANDS, SECTIONS } from "#cli/generated/table.ts";
import { kb, makeWorld, problem, type Reply } from "./fakes.ts";

const EMPTY_LIST = { body: { tokens: [], mcpUrl: "https://kb.test/mcp" } };

describe("the command line", () => {
  test.for([
    ["an unknown command names the near one", ["serch", "x"], "Did you mean kb search?"],
    ["an unknown verb names the near one", ["tokens", "lst"], "Did you mean kb tokens list?"],
    ["an unknown option names the near one", ["search", "x", "--knd", "page"], "Did you mean --kind?"],
    ["a near noun keeps the verb that was typed", ["token", "create", "ci"], "Did you mean kb tokens create?"],
    ["another program's word names ours", ["status"], "Did you mean kb auth status or kb connectors progress?"],
    ["a verb without its noun names the whole command", ["sync"], "Did you mean kb connectors sync?"],
    ["another program's verb names ours", ["connectors", "edit", "docs"], "Did you mean kb connectors update?"],
    ["a help topic that is not there is an error", ["help", "conectors"], "Did you mean kb connectors?"],
    ["a help topic's verb is checked too", ["help", "tokens", "creat"], "Did you mean kb tokens create?"],
    ["help after a name that is not there is an error", ["serch", "--help"], "Did you mean kb search?"],
    ["a misspelt field is no search word", ["search", "budget", "--json", "titel"], "Did you mean title?"],
    ["a word after --json is a field", ["search", "--json", "plan"], "kb search plan --json"],
    ["fields before the words are checked too", ["search", "--json=titel", "plan"], "Did you mean title?"],
    ["a missing argument is named", ["tokens", "revoke"], "'id'"],
    ["an argument too many is refused", ["whoami", "me"], "oo many arguments"],
    [
      "a value outside the choices lists them",
      ["search", "x", "--kind", "event"],
      '--kind "event" is not one of: task, file',
    ],
    ["an option without its value is named", ["search", "x", "--kind"], "kb: --kind needs a value.\n"],
    [
      "a repeated value outside the choices lists them",
      ["tokens", "create", "x", "--scope", "root"],
      "mcp:read, kb:api",
    ],
    ["a limit that is no number is refused", ["search", "x", "--limit", "many"], "--limit"],
    ["a limit out of range is refused", ["search", "x", "--limit", "51"], "1 to 50"],
    ["a duration without sense is refused", ["tokens", "create", "x", "--expires", "soon"], "not a duration"],
    ["a range without sense is refused", ["files", "get", "kbi_2", "--range", "9-3"], "--range"],
    ["an unknown field lists the known ones", ["whoami", "--json", "usr"], "user, workspace, role"],
    ["an id that climbs is refused", ["files", "get", ".."], "is not an ID"],
    ["an origin is no path", ["api", "GET", "https://evil.test/"], "is not a path"],
    ["a path of another origin is refused", ["api", "GET", "//evil.test/x"], "is not a path"],
    ["a server address with a password is refused", ["whoami", "--url", "https://a:b@kb.test"], "user name"],
    ["a server address of another scheme is refused", ["whoami", "--url", "ftp://kb.test"], "starts with http"],
  ] as const)("%s", async ([, argv, text], { expect }) => {
    const run = await kb(makeWorld(), ...argv);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(text);
    expect(run.stdout).toBe("");
    expect(run.sent).toEqual([]);
  });

  test("help goes to stdout with exit code 0, for the program, a noun and a command", async ({ expect }) => {
    for (const argv of [
      [],
      ["--help"],
      ["help"],
      ["tokens"],
      ["help", "tokens", "create"],
      ["search", "--help"],
      ["tokens", "help"],
    ]) {
      const run = await kb(makeWorld(), ...argv);
      expect([run.code, run.stderr, run.sent]).toEqual([0, "", []]);
      expect(run.stdout).toMatch(/^Usage: kb/);
    }
  });

  test("the help of the program lists each command once, under the heading of its task", async ({ expect }) => {
    const { stdout } = await kb(makeWorld(), "help");
    const headings = stdout.match(/^[A-Z][a-z' ]+:$/gm);
    expect(headings).toEqual(["Options:", ...SECTIONS.map(({ title }) => `${title}:`)]);
    const listed = stdout.match(/^ {2}[a-z]+/gm)?.map((line) => line.trim());
    expect(listed?.toSorted()).toEqual([...new Set(COMMANDS.map(({ name }) => name.split(" ")[0] ?? ""))].toSorted());
    expect(stdout).not.toContain("[options] ");
  });

  test("every command's help names its summary and a real example", async ({ expect }) => {
    expect(COMMANDS.length).toBeGreaterThan(40);
    for (const spec of COMMANDS) {
      const run = await kb(makeWorld(), ...spec.name.split(" "), "--help");
      expect(run.stdout.replace(/\s+/g, " ")).toContain(spec.summary);
      expect(run.stdout).toContain(`  ${spec.examples[0]}`);
      expect(spec.examples.every((example) => example.startsWith("kb "))).toBe(true);
    }
  });

  test("the exit codes are one table", async ({ expect }) => {
    const run = await kb(makeWorld(), "help", "exit-codes");
    for (const { code, name } of EXIT_CODES) expect(run.stdout).toMatch(new RegExp(`^ +${code} +${name} `, "m"));
  });

  test("--json means the same before and after the words", async ({ expect }) => {
    const answer = {
      results: [{ kbId: "kbi_1", title: "Plan" }],
      total: 1,
      totalIsExact: true,
      returned: 1,
      nextCursor: null,
      notes: [],
    };
    const world = makeWorld({ routes: { "GET /api/connectors/search": { body: answer } } });
    const asked: [string[], unknown][] = [
      [["plan", "--json", "title"], [{ title: "Plan" }]],
      [["--json", "title", "plan"], [{ title: "Plan" }]],
      [["--json=title", "plan"], [{ title: "Plan" }]],
      [["--json=title,kbId", "plan"], answer.results],
      [["plan", "--json"], answer.results],
      [["--json", "--", "plan"], answer.results],
    ];
    for (const [argv, results] of asked) {
      const run = await kb(world, "search", ...argv);
      expect(JSON.parse(run.stdout)).toEqual({ ...answer, results });
      expect(new URL(run.sent.at(-1)?.url ?? "").searchParams.get("query")).toBe("plan");
    }
  });

  test("create, add and new, remove, delete and rm, list and ls name the same command of every noun", async ({
    expect,
  }) => {
    const names = (noun: string, verb: string): string[] => {
      const spec = COMMANDS.find(({ name }) => name === `${noun} ${verb}`);
      return (spec?.aliases ?? []).map((alias) => alias.split(" ")[1] ?? "");
    };
    expect(names("connectors", "add")).toEqual(["create", "new"]);
    expect(names("groups", "create")).toEqual(["add", "new"]);
    expect(names("tokens", "revoke")).toEqual(["remove", "delete", "rm"]);
    for (const { name, aliases = [] } of COMMANDS) {
      if (/ (list)$/.test(name)) expect(aliases).toEqual([name.replace("list", "ls")]);
      if (/ (add|create|remove|revoke)$/.test(name)) expect(aliases.length).toBeGreaterThan(1);
    }
    const world = makeWorld({ routes: { "GET /api/api-tokens": EMPTY_LIST } });
    expect((await kb(world, "tokens", "ls")).code).toBe(0);
    expect((await kb(makeWorld(), "tokens", "rm")).stderr).toContain("kb tokens revoke --help");
    expect((await kb(makeWorld(), "help", "tokens", "rm")).stdout).toMatch(/^Usage: kb tokens revoke /);
  });

  test.for([["version"], ["-v"], ["-V"], ["--version"], ["version", "--no-color"]])(
    "kb %s prints the version",
    async (argv, { expect }) => {
      const run = await kb(makeWorld(), ...argv);
      expect([run.code, run.stdout, run.stderr]).toEqual([0, `${VERSION}\n`, ""]);
    },
  );
});

describe("exit codes", () => {
  const cases: [string, Reply, number, string][] = [
    ["401", problem(401, "unauthenticated", "The token is revoked."), 4, "KB_TOKEN"],
    [
      "403",
      problem(403, "insufficient_scope", "The token lacks kb:api.", { hint: "kb tokens create NAME --scope kb:api" }),
      4,
      "--scope kb:api",
    ],
    ["404", problem(404, "not_found", "No such thing."), 3, "No such thing."],
    ["409", problem(409, "connector_state_conflict", "It is paused."), 5, "It is paused."],
    ["422", problem(422, "root_not_allowed", "Not allowed."), 2, "Not allowed."],
    ["429", problem(429, "rate_limited", "Wait 3 s."), 6, "Wait 3 s."],
    ["500", problem(500, "internal", "It broke."), 1, "req_9"],
    ["503", problem(503, "unavailable", "It starts."), 7, "It starts."],
    ["a code of a newer server", problem(409, "brand_new", "New."), 5, "New."],
    ["a page that is no kb server", { status: 502, body: "<html>" }, 7, "look like a kb server"],
    ["a redirect", { status: 302, headers: { location: "https://evil.test" } }, 7, "follow redirects"],
    [
      "no one there",
      Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
      7,
      "connection refused",
    ],
    ["success", EMPTY_LIST, 0, ""],
  ];

  test.for(cases)("%s", async ([, reply, code, text], { expect }) => {
    const run = await kb(makeWorld({ routes: { "GET /api/api-tokens": reply } }), "tokens", "list");
    expect(run.code).toBe(code);
    expect(run.stderr).toContain(text);
  });

  test("what is not found is looked for in its list, unless the server knows better", async ({ expect }) => {
    const run = async (more: Record<string, unknown>) => {
      const routes = { "DELETE /api/api-tokens/tok_x": problem(404, "not_found", "No such thing.", more) };
      return (await kb(makeWorld({ routes }), "tokens", "rm", "tok_x")).stderr;
    };
    expect(await run({})).toBe("kb: No such thing.\n    kb tokens list\n");
    expect(await run({ hint: "kb whoami" })).toBe("kb: No such thing.\n    kb whoami\n");
  });

  test("a request is named when the server is at fault, or when asked", async ({ expect }) => {
    const run = async (reply: Reply, ...more: string[]) =>
      (await kb(makeWorld({ routes: { "GET /api/api-tokens": reply } }), "tokens", "list", ...more)).stderr;
    const [missing, broken] = [problem(404, "not_found", "No such thing."), problem(503, "unavailable", "Wait.")];
    expect(await run(missing)).not.toContain("req_9");
    expect(await run(missing, "--verbose")).toContain("Request id: req_9");
    expect(await run(broken)).toContain("Request id: req_9");
  });

  test("with --json a failure is one JSON object on stderr", async ({ expect }) => {
    const routes = {
      "GET /api/api-tokens": problem(404, "not_found", "No \u001b[31msuch\u009b thing.", { hint: "kb tokens list" }),
    };
    const run = await kb(makeWorld({ routes }), "tokens", "list", "--json");
    expect(run.code).toBe(3);
    expect(JSON.parse(run.stderr)).toEqual({
      error: {
        code: "not_found",
        message: "No \u001b[31msuch\u009b thing.",
        hint: "kb tokens list",
        requestId: "req_9",
      },
    });
    // oxlint-disable-next-line no-control-regex -- no control byte may reach the terminal
    expect(run.stderr).not.toMatch(/[\u001b\u009b]/);
  });

  test("without a login the command that signs in is named", async ({ expect }) => {
    const run = await kb(makeWorld({ env: {} }), "whoami");
    expect(run.code).toBe(4);
    expect(run.stderr).toContain("kb login http://127.0.0.1:7700");
    expect(run.sent).toEqual([]);
  });
});
