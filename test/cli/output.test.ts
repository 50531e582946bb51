import { describe, test } from "vitest";
import { count } from "#api/plural.ts";
import { redact } from "#cli/host/failure.ts";
import { bytes, duration } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";
import { fit } from "#cli/terminal/table.ts";
import { widthOf } from "#cli/terminal/width.ts";
import { kb, makeWorld, problem, type FakeWorld } from "./fakes.ts";

// OSC 52 writes the clipboard, OSC 8 hides a link's target, CSI moves the cursor, bidi and tags hide what follows.
const ATTACK = "a\u001b]52;c;ZXZpbA==\u0007b\u001b]8;;https://evil.test\u001b\\c\u009b2Jd\u202ee\u{e0041}f\r\ng\th";

const result = (more: Record<string, unknown>): Record<string, unknown> => ({
  kbId: "kbi_1",
  providerId: "push",
  source: ATTACK,
  url: null,
  title: ATTACK,
  kind: "task",
  snippet: ATTACK,
  highlights: [],
  updatedAt: null,
  indexedAt: "2026-11-21T00:00:00.000Z",
  author: null,
  status: "open",
  assignees: [{ name: ATTACK, entityId: null, claimed: true }],
  dueAt: null,
  path: [ATTACK],
  section: ATTACK,
  sectionUrl: null,
  ...more,
});

const answer = {
  results: [result({})],
  total: 1,
  totalIsExact: true,
  returned: 1,
  nextCursor: null,
  asOf: "2026-11-21T00:00:00.000Z",
  match: "all",
  order: "relevance",
  notes: [ATTACK],
  tookMs: 2,
};

// oxlint-disable-next-line no-control-regex -- exactly these are looked for
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;
// oxlint-disable-next-line no-control-regex -- our own colours
const COLOURS = /\u001b\[\d+m/g;

/** What a terminal could act on: controls but line feed, C1, bidi, tags. Our own colours are taken out first. */
function actions(text: string): string[] {
  return text.replace(COLOURS, "").match(ACTING) ?? [];
}

describe("text of others", () => {
  test.for([
    ["on a terminal", true, []],
    ["in tabs", false, []],
    ["as JSON", false, ["--json"]],
    ["as JSON on a terminal", true, ["--json"]],
  ] as const)("cannot act on a terminal: %s", async ([, isTty, more], { expect }) => {
    const world = makeWorld({ isTty, routes: { "GET /api/connectors/search": { body: answer } } });
    const run = await kb(world, "search", "x", ...more);
    expect(run.code).toBe(0);
    expect(actions(run.stdout)).toEqual([]);
    expect(actions(run.stderr)).toEqual([]);
  });

  test("one hit is one line of tabs whatever its fields hold", async ({ expect }) => {
    const run = await kb(makeWorld({ routes: { "GET /api/connectors/search": { body: answer } } }), "search", "x");
    expect(run.stdout.split("\n").length).toBe(2);
    expect(run.stdout.split("\t").length).toBe(7);
  });

  test("JSON says exactly what the server said", async ({ expect }) => {
    const run = await kb(
      makeWorld({ routes: { "GET /api/connectors/search": { body: answer } } }),
      "search",
      "x",
      "--json",
    );
    expect(JSON.parse(run.stdout)).toEqual(answer);
  });

  test("a file's text is cleaned on a terminal and unchanged in a pipe", async ({ expect }) => {
    const routes = {
      "GET /api/connectors/files/kbi_1/content": { body: ATTACK, headers: { "content-type": "text/plain" } },
    };
    expect(actions((await kb(makeWorld({ routes, isTty: true }), "files", "get", "kbi_1")).stdout)).toEqual([]);
    expect((await kb(makeWorld({ routes }), "files", "get", "kbi_1")).stdout).toBe(ATTACK);
  });
});

test("words that an item does not hold are said to be missing, with exit code 1", async ({ expect }) => {
  const found = (body: string, passages: string) => ({
    "GET /api/connectors/files/kbi_1/content": {
      body,
      headers: { "x-total-chars": "90", "x-total-passages": passages },
    },
  });
  const none = await kb(makeWorld({ routes: found("", "0") }), "files", "get", "kbi_1", "--find", "zebra");
  expect([none.code, none.stdout, none.stderr]).toEqual([1, "", 'This item contains none of "zebra".\n']);
  const one = await kb(
    makeWorld({ routes: found("at 3:\nthe zebra\n", "1") }),
    "files",
    "get",
    "kbi_1",
    "--find",
    "zebra",
  );
  expect([one.code, one.stdout]).toEqual([0, "at 3:\nthe zebra\n"]);
});

describe("form", () => {
  test("a terminal gets a header and aligned columns, a pipe neither header nor colour", async ({ expect }) => {
    const member = {
      userId: "usr_1",
      name: "Ana 日本",
      email: "ana@one.test",
      role: "owner",
      joinedAt: "2026-11-21T00:00:00.000Z",
    };
    const routes = {
      "GET /api/workspace/members": { body: { members: [member, { ...member, name: "Bo" }], nextCursor: null } },
    };
    const pipe = await kb(makeWorld({ routes }), "members", "list");
    expect(pipe.stdout).toBe(
      "usr_1\tAna 日本\tana@one.test\towner\t2026-11-21\nusr_1\tBo\tana@one.test\towner\t2026-11-21\n",
    );
    const screen = await kb(
      makeWorld({ routes, isTty: true, env: { ...makeWorld().env, NO_COLOR: "1" } }),
      "members",
      "list",
    );
    expect(screen.stdout).toBe(
      [
        "NAME      EMAIL         ROLE   JOINED      ID",
        "Ana 日本  ana@one.test  owner  2026-11-21  usr_1",
        "Bo        ana@one.test  owner  2026-11-21  usr_1",
        "",
      ].join("\n"),
    );
  });

  test("no row of a table is wider than 80 columns; what is cut ends in …, ids stay whole", async ({ expect }) => {
    const file = {
      kbId: "kbi_2345abcd2345abcd",
      kind: "file",
      title: "A long title of a document about the quarterly planning of everything",
      source: "filesystem:Shared documents of the whole company",
      path: ["projects", "2026", "planning", "quarter-three"],
      indexState: "unsearchable",
      textState: { state: "none", reason: "unsupported_type", message: null, chars: 0 },
      updatedAt: "2026-11-20T00:00:00.000Z",
    };
    const body = { files: [file], nextCursor: null, total: 1 };
    const routes = { "GET /api/connectors/all-files": { body } };
    const world = makeWorld({ routes, isTty: true, columns: 80, env: { ...makeWorld().env, NO_COLOR: "1" } });
    const { stdout } = await kb(world, "files", "list");
    expect(stdout).toMatchInlineSnapshot(`
      "KIND  TITLE                   STATE             UPDATED     KBID
      file  A long title of a doc…  unsupported type  2026-11-20  kbi_2345abcd2345abcd
      "
    `);
    expect(Math.max(...stdout.split("\n").map(widthOf))).toBeLessThanOrEqual(80);
    const piped = await kb(makeWorld({ routes }), "files", "list");
    expect(piped.stdout).toContain(`${file.kbId}\tfile\t${file.title}\t${file.source}\t`);
  });

  test("what matched is bold on a terminal, and lines break between words", async ({ expect }) => {
    const snippet =
      "Everything about the yearly budget stands in this paragraph, and the Budget of next year in the other one.";
    const highlights = [...snippet.matchAll(/budget/gi)].map(({ index }) => ({ start: index, end: index + 6 }));
    const body = { ...answer, notes: [], results: [result({ snippet, highlights, title: "Plan" })] };
    const routes = { "GET /api/connectors/search": { body } };
    const run = async (more: Partial<Parameters<typeof makeWorld>[0]>) =>
      (await kb(makeWorld({ routes, columns: 60, ...more }), "search", "budget")).stdout;
    const lines = (await run({ isTty: true })).split("\n").filter((line) => line.startsWith("   > "));
    expect(lines).toEqual([
      "   > Everything about the yearly \u001b[1mbudget\u001b[22m stands in this",
      "   > paragraph, and the \u001b[1mBudget\u001b[22m of next year in the other",
      "   > one.",
    ]);
    expect(await run({})).not.toContain("\u001b");
  });

  test("people are counted with their role where the server says it", async ({ expect }) => {
    const facets = {
      person: [
        { value: "ent_1", name: "Bo Lind", count: 3, assigned: 1 },
        { value: "ent_2", name: "Ana", count: 1_000 },
      ],
    };
    const routes = { "GET /api/connectors/search": { body: { ...answer, notes: [], results: [], facets } } };
    const { stderr } = await kb(makeWorld({ routes }), "search", "budget", "--group-by", "person");
    expect(stderr).toContain("person: Bo Lind 3 (assignee: 1, author or other: 2), Ana 1,000\n");
  });

  test("errors break between words on a terminal, under their first word; commands and pipes stay whole", async ({
    expect,
  }) => {
    const detail = `The folder /srv/documents/of/the/whole/company/and/of/more is outside of what this server may read.`;
    const hint = "kb roots add /srv/documents/of/the/whole/company/and/of/more";
    const routes = { "GET /api/groups": problem(422, "connector_config_invalid", detail, { hint }) };
    const error = async (more: Partial<FakeWorld>) =>
      (await kb(makeWorld({ routes, ...more }), "groups", "list")).stderr;
    expect(await error({ isTty: true, columns: 50 })).toBe(
      [
        "kb: The folder",
        "    /srv/documents/of/the/whole/company/and/of/more",
        "    is outside of what this server may read.",
        `    ${hint}`,
        "",
      ].join("\n"),
    );
    expect(await error({ columns: 50 })).toBe(`kb: ${detail}\n    ${hint}\n`);
  });

  test("a new token is the only thing on stdout, and errors never show one", async ({ expect }) => {
    const token = {
      id: "tok_1",
      name: "ci",
      prefix: "kb_pat_abcd",
      createdAt: "",
      lastUsedAt: null,
      revokedAt: null,
      scopes: [],
      expiresAt: null,
    };
    const routes = {
      "POST /api/api-tokens": {
        status: 201,
        body: { token, plaintext: "kb_pat_SECRET123456", mcpUrl: "https://kb.test/mcp" },
      },
    };
    const session = { user: { email: "ana@one.test" } };
    const signIn = {
      "GET /api/session": { body: session },
      "POST /api/session": { body: session, headers: { "set-cookie": "kb_session=COOKIE" } },
      "DELETE /api/session": { status: 204 },
    };
    const world = makeWorld({ routes: { ...routes, ...signIn }, stdin: "correct horse\n" });
    const run = await kb(world, "tokens", "create", "ci", "--expires", "36h", "--password-stdin");
    expect(run.stdout).toBe("kb_pat_SECRET123456\n");
    expect(run.stderr).not.toContain("SECRET");
    expect(run.sent.find(({ path }) => path === "/api/api-tokens")?.body).toEqual({ name: "ci", expiresInDays: 2 });
    const text =
      "Bearer kb_pat_SECRET1 cookie kb_session=SECRET2; x https://h/#token=SECRET3 kb_con_SECRET4_0123456789";
    expect(redact(text)).not.toContain("SECRET");
    // A display prefix and a variable are no secrets.
    expect(redact("kb_pat_abcd Bearer ${KB_TOKEN}")).toBe("kb_pat_abcd Bearer ${KB_TOKEN}");
  });

  test.for([
    [0, "0"],
    [999, "999"],
    [1000, "1,000"],
    [1_234_567, "1,234,567"],
  ] as const)("%d is counted as %s", ([value, text], { expect }) => expect(count(value)).toBe(text));

  test.for([
    [400, "0.4 s"],
    [61_000, "1:01"],
    [3_723_000, "1:02:03"],
  ] as const)("%d ms reads %s", ([value, text], { expect }) => expect(duration(value)).toBe(text));

  test("bytes, wide letters and cuts are measured as they are seen", ({ expect }) => {
    expect([bytes(999), bytes(1500), bytes(2_000_000_000)]).toEqual(["999 B", "1.5 kB", "2.0 GB"]);
    expect(widthOf("日本e\u0301")).toBe(5);
    expect(fit("日本語", 4)).toBe("日…");
  });
});

describe("progress", () => {
  function progressOn(isStderrTty: boolean): {
    text: () => string;
    at: (ms: number) => void;
    progress: ReturnType<typeof makeProgress>;
  } {
    let now = 0;
    let text = "";
    const io = { isStderrTty, columns: () => 100, stderr: { write: (part: string) => (text += part) } };
    // The progress bar touches these members only.
    const deps = { io, env: {}, clock: { now: () => now, sleep: async () => undefined } } as unknown as Parameters<
      typeof makeProgress
    >[0];
    return { text: () => text, at: (ms) => (now = ms), progress: makeProgress(deps, "docs", "items") };
  }

  test("a terminal sees bar, rate, time left and the current item, on one line", ({ expect }) => {
    const { text, at, progress } = progressOn(true);
    progress.update({ done: 0, total: 1000 });
    at(2000);
    progress.update({ done: 500, total: 1000, note: "a/b.md\u001b[2J" });
    expect(text().split("\r").at(-1)).toBe(
      "docs  [############------------] 50 %  500/1,000 items  250/s  2.0 s left  a/b.md[2J\u001b[K",
    );
    progress.stop();
    expect(text().endsWith("\r\u001b[K")).toBe(true);
  });

  test("elsewhere there is one line in ten seconds", ({ expect }) => {
    const { text, at, progress } = progressOn(false);
    for (let ms = 0; ms <= 25_000; ms += 250) {
      at(ms);
      progress.update({ done: ms / 10, total: null });
    }
    expect(text().trimEnd().split("\n").length).toBe(2);
    expect(text()).not.toContain("\u001b");
  });
});
