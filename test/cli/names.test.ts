import { describe, test } from "vitest";
import { widthOf } from "#cli/terminal/width.ts";
import { kb, makeWorld, type FakeWorld } from "./fakes.ts";

const ANA = {
  userId: "usr_aaaa2222aaaa2222",
  name: "Ana",
  email: "ana@one.test",
  role: "member",
  joinedAt: "2026-11-01",
};
const TEAM = { id: "grp_bbbb2222bbbb2222", name: "Finance", memberIds: [ANA.userId], groupIds: [] };
const NOTES = { id: "con_cccc2222cccc2222", name: "Notes", providerId: "filesystem", state: "active" };

const LISTS = {
  "GET /api/workspace/members": { body: { members: [ANA], nextCursor: null } },
  "GET /api/groups": { body: { groups: [TEAM], nextCursor: null } },
  "GET /api/connectors": { body: { connectors: [NOTES], nextCursor: null } },
};

const access = {
  kbId: "kbi_1",
  userId: ANA.userId,
  isAllowed: true,
  reason: "allowed",
  title: "Budget",
  connectorId: NOTES.id,
  lists: [
    {
      origin: "source",
      isMet: true,
      size: 1,
      chain: [`user:${ANA.userId}`, `group:${TEAM.id}`],
      principals: [`group:${TEAM.id}`],
    },
  ],
  names: { [ANA.userId]: "Ana", [TEAM.id]: "Finance", [NOTES.id]: "Notes" },
};

function screen(routes: FakeWorld["routes"]): FakeWorld {
  return makeWorld({ routes, isTty: true, columns: 80, env: { ...makeWorld().env, NO_COLOR: "1" } });
}

describe("names in place of ids", () => {
  const routes = { ...LISTS, "GET /api/connectors/files/kbi_1/access": { body: access } };

  test("access explain tells a person who reads by which group, and a program the ids", async ({ expect }) => {
    const world = screen({ ...routes, "GET /api/groups": { status: 403 }, "GET /api/connectors": { status: 403 } });
    const { stdout } = await kb(world, "access", "explain", "kbi_1", "--user", "ANA");
    expect(stdout).toMatch(/^user +Ana$/m);
    expect(stdout).toMatch(/^because +every access list below lets them in$/m);
    expect(stdout).toMatch(/^connector +Notes$/m);
    expect(stdout).toContain("user:Ana > group:Finance");
    expect(stdout).not.toMatch(/(?:usr|grp|con)_/);
    const piped = await kb(makeWorld({ routes }), "access", "explain", "kbi_1");
    expect(piped.stdout).toContain(`connector\t${NOTES.id}\n`);
  });

  test("audit list names who did it and to what, in 80 columns", async ({ expect }) => {
    const entry = {
      seq: 41,
      at: "2026-11-20T09:30:00.000Z",
      actorUserId: ANA.userId,
      credential: "session:ses_dddd2222dddd2222",
      action: "connector.access_changed",
      targetType: "connector",
      targetId: NOTES.id,
      outcome: "done",
      ip: "127.0.0.1",
      requestId: null,
      details: {},
    };
    const names = { [ANA.userId]: "Ana", [NOTES.id]: "Notes" };
    const audit = { "GET /api/audit": { body: { entries: [entry], nextCursor: null, names } } };
    const { stdout } = await kb(screen(audit), "audit", "list");
    expect(stdout).toMatchInlineSnapshot(`
      "NO  AT           WHO  ACTION                    WHAT   OUTCOME
      41  11-20 09:30  Ana  connector.access_changed  Notes  done
      "
    `);
    expect(Math.max(...stdout.split("\n").map(widthOf))).toBeLessThanOrEqual(80);
    expect((await kb(makeWorld({ routes: audit }), "audit", "list")).stdout).toContain(`\t${NOTES.id}\t`);
  });

  test("progress names the connector and shows the numbers whole", async ({ expect }) => {
    const sync = {
      id: "syn_eeee2222eeee2222",
      connectorId: NOTES.id,
      mode: "full",
      state: "succeeded",
      startedAt: "2026-11-20T09:30:00.000Z",
      progress: { done: 1800, total: 1800, note: null },
      counts: { failed: 0 },
      problem: null,
    };
    const progress = { ...LISTS, "GET /api/connectors/progress": { body: { syncs: [sync] } } };
    const { stdout } = await kb(screen(progress), "connectors", "progress");
    expect(stdout).toMatchInlineSnapshot(`
      "CONNECTOR  STATE      DONE         FAILED  STARTED      SYNC
      Notes      succeeded  1,800/1,800  0       11-20 09:30  syn_eeee2222eeee2222
      "
    `);
  });
});

test("groups show tells its owner what others opened by it, a line each", async ({ expect }) => {
  const opening = {
    at: "2026-11-20T09:30:00.000Z",
    by: { id: ANA.userId, name: "Ana" },
    action: "group.changed",
    target: { id: TEAM.id, name: TEAM.name },
    times: 2,
    items: null,
    before: null,
    after: null,
    added: { named: [{ id: "usr_ffff2222ffff2222", name: "Bo" }], others: 1 },
  };
  const group = { ...TEAM, ownerId: ANA.userId, isClosed: false, createdAt: "2026-11-01T00:00:00.000Z" };
  const body = { group: { ...group, openedByOthers: [opening] } };
  const { stdout } = await kb(
    makeWorld({ routes: { ...LISTS, [`GET /api/groups/${TEAM.id}`]: { body } } }),
    "groups",
    "show",
    "finance",
  );
  expect(stdout).toContain(
    "opened by others\t11-20 09:30 Ana put Bo, 1 of the source into this group (2 times that day)\n",
  );
});

describe("words for ids", () => {
  test("files list and connectors add take connectors, members and groups by name, in any case", async ({ expect }) => {
    const files = { "GET /api/connectors/all-files": { body: { files: [], nextCursor: null, total: 0 } } };
    const listed = await kb(makeWorld({ routes: { ...LISTS, ...files } }), "files", "list", "--connector", "notes");
    expect(listed.sent.at(-1)?.url).toContain(`connectorId=${NOTES.id}`);

    const source = { providerId: "push", name: "Push", kinds: [], available: true, configSchema: { properties: {} } };
    const add = {
      "GET /api/connectors/sources": { body: { sources: [source] } },
      "GET /api/groups/grp_bbbb2222bbbb2222": { body: { group: TEAM } },
      "POST /api/connectors": { status: 201, body: { connector: NOTES, sync: null } },
    };
    const words = ["--member", "ANA@one.test", "--group", "finance"];
    const added = await kb(makeWorld({ routes: { ...LISTS, ...add } }), "connectors", "add", "push", ...words);
    expect(added.stderr).not.toContain("kb:");
    expect(added.sent.at(-1)?.body).toMatchObject({
      access: { visibility: "members", memberIds: [ANA.userId], groupIds: [TEAM.id] },
    });
  });
});

test("FORCE_COLOR colours what goes down a pipe and changes nothing else; NO_COLOR is stronger", async ({ expect }) => {
  const hit = {
    kbId: "kbi_ffff2222ffff2222",
    kind: "page",
    title: "Plan",
    source: "push:x",
    updatedAt: null,
    url: null,
    snippet: "the\nbudget of 2027",
    highlights: [{ start: 4, end: 10 }],
  };
  const body = { results: [hit], total: 1, totalIsExact: true, returned: 1, nextCursor: null, notes: [], tookMs: 1 };
  const run = async (env: Record<string, string>) => {
    const routes = { "GET /api/connectors/search": { body } };
    return (await kb(makeWorld({ routes, env: { ...makeWorld().env, ...env } }), "search", "budget")).stdout;
  };
  const plain = await run({});
  const coloured = await run({ FORCE_COLOR: "1" });
  expect(coloured).toContain("the \u001b[1mbudget\u001b[22m of 2027");
  expect(coloured).toContain("\u001b[1mPlan\u001b[22m");
  // oxlint-disable-next-line no-control-regex -- our own colours
  expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(plain);
  expect(await run({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(plain);
});
