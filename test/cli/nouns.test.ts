import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { kb, makeWorld, problem, type FakeWorld } from "./fakes.ts";

const ana = {
  userId: "usr_2222222222222222",
  name: "Ana",
  email: "ana@one.test",
  role: "owner",
  joinedAt: "2026-01-02T00:00:00.000Z",
};
const bo = {
  userId: "usr_3333333333333333",
  name: "Bo",
  email: "bo@one.test",
  role: "member",
  joinedAt: "2026-01-03T00:00:00.000Z",
};
const design = {
  id: "grp_2222222222222222",
  name: "Design",
  memberIds: [ana.userId],
  groupIds: [],
  createdAt: "2026-01-02T00:00:00.000Z",
};
const workspace = {
  id: "wsp_2222222222222222",
  name: "One",
  timeZone: "UTC",
  secrets: "mask",
  createdAt: "2026-01-02T00:00:00.000Z",
};
const session = {
  user: {
    id: ana.userId,
    name: "Ana",
    email: ana.email,
    emailVerifiedAt: null,
    timeZone: null,
    createdAt: "2026-01-02T00:00:00.000Z",
  },
  workspace,
  role: "owner",
  scopes: ["kb:api"],
  mode: "self-hosted",
  signup: "invite",
  notices: [],
};
const signedIn = { body: session, headers: { "set-cookie": "kb_session=NEW; Path=/; HttpOnly" } };

function world(routes: FakeWorld["routes"], more: Partial<FakeWorld> = {}): FakeWorld {
  return makeWorld({
    routes: {
      "GET /api/workspace/members": { body: { members: [ana, bo], nextCursor: null } },
      "GET /api/groups": { body: { groups: [design], nextCursor: null } },
      ...routes,
    },
    ...more,
  });
}

const last = (sent: FakeWorld["sent"]) => sent.at(-1);

describe("every change carries a key of its own", () => {
  test("one for all attempts of one call, another for the next call, none on reads", async ({ expect }) => {
    const here = world({ "POST /api/groups": { status: 201, body: { group: design } } });
    await kb(here, "groups", "create", "Design");
    await kb(here, "groups", "create", "Design");
    const keys = here.sent.filter(({ method }) => method === "POST").map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    await kb(here, "groups", "list");
    expect(last(here.sent)?.headers["idempotency-key"]).toBeUndefined();
  });
});

describe("groups", () => {
  test("show and change people by email and groups by name", async ({ expect }) => {
    const here = world({
      "GET /api/groups/grp_2222222222222222": { body: { group: design } },
      "PATCH /api/groups/grp_2222222222222222": { body: { group: { ...design, memberIds: [bo.userId] } } },
    });
    expect((await kb(here, "groups", "show", "Design")).stdout).toContain("ana@one.test");
    const run = await kb(
      here,
      "groups",
      "update",
      "Design",
      "--add-member",
      "BO@one.test",
      "--remove-member",
      ana.userId,
    );
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("bo@one.test")]);
    expect(here.sent.find(({ method }) => method === "PATCH")?.body).toEqual({ memberIds: [bo.userId] });
  });

  test("an unknown one is exit code 3 with the near name; nothing to change is exit code 2", async ({ expect }) => {
    const run = await kb(world({}), "groups", "show", "Desing");
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('Did you mean "Design"?')]);
    expect((await kb(world({}), "groups", "update", "Design")).code).toBe(2);
  });

  test("removing asks, and without a terminal wants --yes", async ({ expect }) => {
    const here = world({ "DELETE /api/groups/grp_2222222222222222": { status: 204 } });
    expect((await kb(here, "groups", "remove", "Design")).code).toBe(2);
    expect((await kb(here, "groups", "remove", "Design", "--yes")).code).toBe(0);
  });
});

describe("members", () => {
  test("a role is changed by name", async ({ expect }) => {
    const here = world({
      "PATCH /api/workspace/members/usr_3333333333333333": { body: { member: { ...bo, role: "admin" } } },
    });
    const run = await kb(here, "members", "role", "bo@one.test", "admin");
    expect([run.code, last(here.sent)?.body]).toEqual([0, { role: "admin" }]);
    expect((await kb(here, "members", "role", "bo@one.test", "boss")).code).toBe(2);
  });

  test.for([
    ["https://kb.test/reset#token=LINK", "https://kb.test/reset#token=LINK\n", "Give this link to bo@one.test"],
    [null, "", "Sent a password reset link to bo@one.test"],
  ] as const)(
    "the link %s for a new password is data, and a mailed one is talk",
    async ([url, stdout, said], { expect }) => {
      const here = world({
        "POST /api/workspace/members/usr_3333333333333333/password-reset": {
          status: 201,
          body: { url, expiresAt: "2026-11-22T10:00:00.000Z" },
        },
      });
      const run = await kb(here, "members", "reset-password", "bo@one.test");
      expect([run.stdout, run.stderr]).toEqual([stdout, expect.stringContaining(said)]);
    },
  );
});

describe("the audit", () => {
  const rows = Array.from({ length: 3 }, (_, seq) => JSON.stringify({ seq, hash: "h" }))
    .join("\n")
    .concat("\n");

  test("is exported to stdout byte for byte, or to a private file, whole", async ({ expect }) => {
    const here = world({
      "GET /api/audit/export": { body: rows, headers: { "content-type": "application/x-ndjson" } },
    });
    const run = await kb(here, "audit", "export", "--since", "2026-01-31");
    expect([run.stdout, run.stderr]).toEqual([rows, expect.stringContaining("Exported 3 rows")]);
    expect(last(here.sent)?.url).toContain("since=2026-01-31T00%3A00%3A00.000Z");
    await kb(here, "audit", "export", "-o", "audit.ndjson");
    const path = join(here.dir, "audit.ndjson");
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual([rows, 0o600]);
  });

  test("an export that breaks off leaves no file and is exit code 7", async ({ expect }) => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(rows)),
      pull: (controller) => controller.error(new TypeError("terminated")),
    });
    const here = world({}, { real: { fetch: async () => new Response(broken) } });
    const run = await kb(here, "audit", "export", "-o", "audit.ndjson");
    expect([run.code, run.stderr]).toEqual([7, expect.stringContaining("stopped after")]);
    expect([existsSync(join(here.dir, "audit.ndjson")), existsSync(join(here.dir, "audit.ndjson.part"))]).toEqual([
      false,
      false,
    ]);
  });

  test("a broken chain is exit code 1 and names the row", async ({ expect }) => {
    const check = { isIntact: false, entries: 9, brokenAt: 4, firstSeq: 1, lastSeq: 9, lastHash: "x" };
    const run = await kb(world({ "GET /api/audit/check": { body: check } }), "audit", "check");
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("row 4")]);
    const intact = world({ "GET /api/audit/check": { body: { ...check, isIntact: true, brokenAt: null } } });
    expect((await kb(intact, "audit", "check")).code).toBe(0);
  });
});

describe("what only a session may do", () => {
  const routes: FakeWorld["routes"] = {
    "GET /api/session": { body: session },
    "POST /api/session": signedIn,
    "DELETE /api/session": { status: 204 },
    "POST /api/workspaces": { status: 201, body: { workspace: { ...workspace, name: "Two" } } },
  };

  test("with a token the password opens a session for the one command, and the session ends", async ({ expect }) => {
    const here = world(routes, { stdin: "correct horse\n" });
    const run = await kb(here, "workspace", "create", "Two", "--password-stdin");
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('You own "Two"')]);
    expect(here.sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /api/session",
      "POST /api/session",
      "POST /api/workspaces",
      "DELETE /api/session",
    ]);
    expect(here.sent[1]?.body).toMatchObject({ email: "ana@one.test", password: "correct horse" });
    expect(here.sent[2]?.headers["cookie"]).toBe("kb_session=NEW");
  });

  test("the session ends when the act fails, and without a terminal the way is named", async ({ expect }) => {
    const here = world(
      { ...routes, "POST /api/workspaces": problem(409, "workspace_limit_reached", "Enough.") },
      { stdin: "x\n" },
    );
    expect((await kb(here, "workspace", "create", "Two", "--password-stdin")).code).toBe(5);
    expect(last(here.sent)?.method).toBe("DELETE");
    const run = await kb(world(routes), "workspace", "create", "Two");
    expect([run.code, run.stderr]).toEqual([4, expect.stringContaining("--password-stdin")]);
  });

  test("the password is changed by two lines of stdin, which are printed nowhere", async ({ expect }) => {
    const here = world(
      { ...routes, "POST /api/profile/password": { status: 204 } },
      { stdin: "old secret\nnew secret\n" },
    );
    const run = await kb(here, "profile", "password", "--password-stdin");
    expect(run.code).toBe(0);
    expect(here.sent.find(({ path }) => path === "/api/profile/password")?.body).toEqual({
      currentPassword: "old secret",
      newPassword: "new secret",
    });
    expect(run.stdout + run.stderr).not.toContain("secret");
  });

  test("a new password that was typed differently the second time changes nothing", async ({ expect }) => {
    const answers = ["old", "new", "other"];
    const here = world(routes, { isTty: true, prompts: { password: async () => answers.shift() ?? "" } });
    expect((await kb(here, "profile", "password")).code).toBe(2);
    expect(here.sent).toEqual([]);
  });

  test("a login by token stays in its workspace, and is told how to change", async ({ expect }) => {
    const mine = [
      { id: workspace.id, name: "One", role: "owner", joinedAt: "2026-01-02T00:00:00.000Z", current: true },
      { id: "wsp_3333333333333333", name: "Two", role: "member", joinedAt: "2026-01-02T00:00:00.000Z", current: false },
    ];
    const here = world({ "GET /api/workspaces": { body: { workspaces: mine, nextCursor: null } } });
    const run = await kb(here, "workspace", "use", "Two");
    expect([run.code, run.stderr]).toEqual([5, expect.stringContaining('choose "Two" there')]);
    expect((await kb(here, "workspace", "use", "One")).stderr).toContain("already");
  });
});

describe("allowed folders", () => {
  const root = (id: string | null, path: string) => ({ id, path, createdAt: null, createdBy: null });
  const roots = [
    root("rot_1", "/srv/Notes"),
    root("rot_2", "/srv/plans"),
    root("rot_3", "/srv/Plans"),
    root(null, "/d"),
  ];

  function roomOf(cwd: string): FakeWorld {
    const routes = { "GET /api/local-roots": { body: { roots } }, "DELETE /api/local-roots/rot_1": { status: 204 } };
    const here = makeWorld({ env: {}, routes, real: { cwd } });
    const files = {
      "config.json": { version: 1, currentProfile: "work", profiles: { work: { url: "https://work.test" } } },
      "credentials.json": { origins: { "https://work.test": { session: "kb_session=s" } } },
    };
    mkdirSync(join(here.dir, "config"), { mode: 0o700 });
    for (const [name, value] of Object.entries(files)) {
      writeFileSync(join(here.dir, "config", name), JSON.stringify(value), { mode: 0o600 });
    }
    return here;
  }

  test.for(["/srv/notes", "/srv/NOTES/", "notes", "rot_1"])(
    "%s is removed by its path in any case",
    async (word, { expect }) => {
      const run = await kb(roomOf("/srv"), "roots", "remove", word);
      expect([run.code, run.stderr]).toEqual([0, "Connectors can no longer read /srv/Notes.\n"]);
    },
  );

  test("none is removed where two could be meant, or none is", async ({ expect }) => {
    const two = await kb(roomOf("/srv"), "roots", "remove", "PLANS");
    expect([two.code, two.stderr]).toEqual([2, expect.stringContaining("rot_2 (/srv/plans), rot_3 (/srv/Plans)")]);
    const near = await kb(roomOf("/srv"), "roots", "remove", "note");
    expect([near.code, near.stderr]).toEqual([
      3,
      'kb: No allowed folder is "/srv/note". Did you mean "/srv/Notes"?\n    kb roots list\n',
    ]);
    const set = await kb(roomOf("/"), "roots", "remove", "D");
    expect([set.code, set.stderr]).toEqual([3, expect.stringContaining("KB_LOCAL_ROOTS")]);
  });
});

describe("stored servers", () => {
  async function two(): Promise<FakeWorld> {
    const here = makeWorld({
      env: {},
      stdin: "kb_pat_GIVEN12345\n",
      routes: { "GET /api/session": { body: session } },
    });
    await kb(here, "login", "https://one.test", "--with-token");
    await kb(here, "login", "https://two.test", "--with-token");
    return here;
  }

  test("are listed, chosen and forgotten, the last of a server only after logout", async ({ expect }) => {
    const here = await two();
    expect((await kb(here, "context", "list")).stdout).toBe(
      "one.test\thttps://one.test\tana@one.test\t\ntwo.test\thttps://two.test\tana@one.test\tyes\n",
    );
    await kb(here, "context", "use", "one.test");
    expect((await kb(here, "whoami")).stdout).toContain("server\thttps://one.test");
    const kept = await kb(here, "context", "remove", "two.test");
    expect([kept.code, kept.stderr]).toEqual([5, expect.stringContaining("kb logout --profile two.test")]);
    await kb(here, "logout", "--profile", "two.test");
    expect((await kb(here, "context", "remove", "two.test")).code).toBe(0);
    expect((await kb(here, "context", "use", "two.test")).code).toBe(3);
  });

  test("are named in any case where only one is meant", async ({ expect }) => {
    const here = await two();
    await kb(here, "login", "https://one.test/", "--profile-name", "Two.Test", "--with-token");
    const used = await kb(here, "context", "use", "ONE.test");
    expect([used.code, used.stderr]).toEqual([0, "Commands now go to https://one.test.\n"]);
    expect((await kb(here, "whoami", "--profile", "One.Test")).stdout).toContain("server\thttps://one.test");
    expect((await kb(here, "whoami", "--profile", "two.test")).stdout).toContain("server\thttps://two.test");
    const several = await kb(here, "whoami", "--profile", "TWO.TEST");
    expect([several.code, several.stderr]).toEqual([
      2,
      'kb: 2 profiles are named "TWO.TEST".\n    Use the full name: two.test, Two.Test\n',
    ]);
    const none = await kb(here, "context", "remove", "on.test");
    expect([none.code, none.stderr]).toEqual([
      3,
      'kb: There is no profile "on.test". Did you mean "one.test"?\n    kb context list\n',
    ]);
    expect((await kb(here, "context", "remove", "TWO.test")).code).toBe(2);
  });

  test("auth status names who and where, asks no server and shows no token", async ({ expect }) => {
    const here = await two();
    const asked = here.sent.length;
    const run = await kb(here, "auth", "status");
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("signed in with\tpersonal access token");
    expect(run.stdout + run.stderr).not.toContain("GIVEN");
    expect(here.sent.length).toBe(asked);
    await kb(here, "logout");
    expect((await kb(here, "auth", "status")).code).toBe(4);
  });
});

describe("kb open", () => {
  test("opens a page of this server and prints its address", async ({ expect }) => {
    const here = makeWorld({ env: { KB_URL: "https://kb.test", DISPLAY: ":0" } });
    expect((await kb(here, "open", "settings")).stdout).toBe("https://kb.test/settings/mcp-access\n");
    expect((await kb(here, "open", "kbi_2222222222222222")).code).toBe(0);
    expect(here.opened).toEqual(["https://kb.test/settings/mcp-access", "https://kb.test/i/kbi_2222222222222222"]);
  });

  test.for(["https://evil.test", "//evil.test", "javascript:alert(1)", "../x"])(
    "%s is no page",
    async (what, { expect }) => {
      const here = makeWorld({ env: { KB_URL: "https://kb.test", DISPLAY: ":0" } });
      expect([(await kb(here, "open", what)).code, here.opened]).toEqual([2, []]);
    },
  );
});

describe("names in another case", () => {
  const twin = { ...design, id: "grp_3333333333333333", name: "design" };

  test("mean the one thing that is called so", async ({ expect }) => {
    const shown = { "GET /api/groups/grp_2222222222222222": { body: { group: design } } };
    expect((await kb(world(shown), "groups", "show", "dESIGN")).stdout).toContain(design.id);
    const routes = { "DELETE /api/workspace/members/usr_3333333333333333": { status: 204 } };
    expect((await kb(world(routes), "members", "remove", "bo", "--yes")).stderr).toContain("Removed bo@one.test");
  });

  test("mean the exact one of two, and neither where none is exact", async ({ expect }) => {
    const both = {
      "GET /api/groups": { body: { groups: [twin, design], nextCursor: null } },
      "GET /api/groups/grp_2222222222222222": { body: { group: design } },
    };
    expect((await kb(world(both), "groups", "show", "Design")).stdout).toContain(design.id);
    const run = await kb(world(both), "groups", "show", "DESIGN");
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("Use an id: grp_3333333333333333 (design), grp_2222222222222222 (Design)");
  });
});
