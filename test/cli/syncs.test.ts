import { resolve } from "node:path";
import { test } from "vitest";
import { kb, makeWorld, problem, type FakeWorld } from "./fakes.ts";

const connector = { id: "con_23456789abcdefgh", name: "docs", providerId: "filesystem", state: "active" };

function sync(state: string, more: Record<string, unknown> = {}): { body: { sync: Record<string, unknown> } } {
  const counts = { seen: 9, upserted: 3, unchanged: 6, deleted: 0, skipped: 0, failed: 0, bytes: 1200 };
  return {
    body: {
      sync: {
        id: "syn_1",
        connectorId: connector.id,
        mode: "full",
        trigger: "manual",
        state,
        attempt: 1,
        counts,
        progress: { done: 1, total: 9, note: "a.md" },
        resumeAt: null,
        startedAt: "2026-11-21T00:00:00.000Z",
        finishedAt: state === "running" ? null : "2026-11-21T00:00:02.000Z",
        problem: null,
        skips: [],
        ...more,
      },
    },
  };
}

const unread = (state: string) => ({ syncId: "syn_0", state, problem: { code: "unreachable", message: "No answer." } });

function worldWith(...states: ReturnType<typeof sync>[]): FakeWorld {
  return makeWorld({
    routes: {
      "GET /api/connectors": {
        body: { connectors: [connector, { ...connector, id: "con_2", name: "dogs" }], nextCursor: null },
      },
      [`GET /api/connectors/${connector.id}`]: { body: { connector: { ...connector, counts: { held: 0 } } } },
      [`POST /api/connectors/${connector.id}/syncs`]: { status: 202, ...sync("queued") },
      [`GET /api/connectors/${connector.id}/syncs/syn_1`]: states,
    },
  });
}

test.for([
  ["succeeded", sync("succeeded"), 0],
  ["partial", sync("partial"), 8],
  [
    "succeeded with failed items",
    sync("succeeded", { counts: { ...(sync("x").body.sync["counts"] as object), failed: 2 } }),
    8,
  ],
  ["succeeded with people unread", sync("succeeded", { people: unread("failed") }), 8],
  ["failed", sync("failed", { problem: { code: "source_unauthorized", message: "The token is gone." } }), 1],
  ["cancelled", sync("cancelled"), 1],
] as const)("a sync that ends %s has its exit code", async ([, last, code], { expect }) => {
  const run = await kb(worldWith(sync("running"), sync("running"), last), "connectors", "sync", "docs", "--wait");
  expect(run.code).toBe(code);
  expect(run.stdout).toContain(String(last.body.sync["state"]));
  expect(run.sent.filter((sent) => sent.method === "GET" && sent.path.endsWith("syn_1")).length).toBe(3);
});

test("a sync tells what it left out by name and reason, and numbers where names aren't told", async ({ expect }) => {
  const wait = async (skips: unknown[]) => {
    const reasons = { generated: 12, excluded_by_policy: 1 };
    const counts = { ...(sync("x").body.sync["counts"] as object), skipped: 13, failed: 1, reasons };
    return (await kb(worldWith(sync("partial", { counts, skips })), "connectors", "sync", "docs", "--wait")).stderr;
  };
  const left = { externalId: "proj/dist", reason: "generated", message: "A generated folder.", retryable: false };
  const failed = { externalId: "a.pdf", reason: "failed", message: "Broken.", retryable: true };
  const told = await wait([left, failed]);
  expect(told).toContain("  a.pdf: Broken.\n  13 left out: generated 12, excluded by policy 1\n");
  expect(told).toContain("  proj/dist: A generated folder.\n  and 12 more\n");
  const nameless = await wait([left, failed].map((skip) => ({ ...skip, externalId: null, message: null })));
  expect(nameless).toContain("  an item: failed\n  13 left out: generated 12, excluded by policy 1\n");
  expect(nameless).not.toContain("null");
});

test("a sync tells of mistakes of kb", async ({ expect }) => {
  const counts = { ...(sync("x").body.sync["counts"] as object), failed: 3, faults: 2 };
  const run = await kb(worldWith(sync("partial", { counts })), "connectors", "sync", "docs", "--wait");
  expect(run.stdout + run.stderr).toContain("3 failed, 2 faults of kb (see the server's log)");
});

test("a sync tells that people and groups were not read first, and nothing of it where they were", async ({
  expect,
}) => {
  const wait = async (state: string) => {
    const last = sync("succeeded", { people: { ...unread(state), ...(state === "read" && { problem: null }) } });
    return await kb(
      worldWith(sync("queued", { startedAt: null, people: unread("waiting") }), last),
      "connectors",
      "sync",
      "docs",
      "--wait",
    );
  };
  const warning =
    "anyone who lost access at the source may still find items here until people and groups are read. No answer.";
  expect((await wait("failed")).stderr).toContain(`People and groups weren't read first: ${warning}`);
  expect((await wait("partial")).stderr).toContain(`Not all groups could be read first: ${warning}`);
  const well = await wait("read");
  expect([well.code, well.stderr]).toEqual([0, ""]);
});

test("a sync tells of removals that wait for approval", async ({ expect }) => {
  const world = worldWith(sync("succeeded"));
  world.routes[`GET /api/connectors/${connector.id}`] = {
    body: { connector: { ...connector, counts: { held: 150 } } },
  };
  const run = await kb(world, "connectors", "sync", "docs", "--wait");
  expect(run.stderr).toContain(`150 removals wait for approval: kb connectors removals ${connector.id}`);
});

test("people and groups alone are read on request", async ({ expect }) => {
  const world = worldWith(sync("succeeded", { mode: "identities", people: null }));
  const run = await kb(world, "connectors", "sync", "docs", "--mode", "identities", "--wait");
  expect([run.code, run.stdout]).toEqual([0, "succeeded: 9 people and groups read in 2.0 s\n"]);
  expect(run.sent.find(({ method }) => method === "POST")?.body).toEqual({ mode: "identities" });
});

test("a wait that lasts too long ends with 9 and leaves the sync alone", async ({ expect }) => {
  const run = await kb(worldWith(sync("running")), "connectors", "sync", "docs", "--wait", "--timeout", "30s");
  expect(run.code).toBe(9);
  expect(run.stderr).toContain("it continues");
  expect(run.sent.every((sent) => !sent.path.endsWith("cancel"))).toBe(true);
});

test("a server that restarts meanwhile does not end the wait", async ({ expect }) => {
  const down = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
  });
  const world = worldWith();
  world.routes[`GET /api/connectors/${connector.id}/syncs/syn_1`] = [
    sync("running"),
    down,
    problem(503, "unavailable", "Starting."),
    sync("succeeded"),
  ];
  expect((await kb(world, "connectors", "sync", "docs", "--wait")).code).toBe(0);
});

test("without --wait the id is the only thing on stdout", async ({ expect }) => {
  const run = await kb(worldWith(), "connectors", "sync", "docs");
  expect([run.code, run.stdout]).toEqual([0, "syn_1\n"]);
});

test("show says what items need that no one may read, and says nothing where all is well", async ({ expect }) => {
  const counts = { indexed: 7, maskedSecrets: 0, parentMissing: 0, awaitingPush: 0 };
  const show = async (more: object) => {
    const world = worldWith();
    const shown = { ...connector, counts: { ...counts, ...more } };
    world.routes["GET /api/connectors"] = { body: { connectors: [shown], nextCursor: null } };
    return await kb({ ...world, isTty: true, columns: 200 }, "connectors", "show", "docs");
  };
  expect((await show({})).stderr).toBe("");
  const run = await show({ parentMissing: 1, awaitingPush: 1_200 });
  expect(run.stdout).toMatch(/7 indexed, 1 parent missing, 1,200 awaiting push$/m);
  expect(run.stderr).toBe(
    [
      "No one can read 1,200 items pushed to an earlier version, which stored no access for items with a parent. Push them again.",
      "No one can read 1 item, because the parent is missing or hidden. Push the parent, or push the items without parentId.",
      "",
    ].join("\n"),
  );
});

test("list and show say that no one reads what is indexed, and where to look next", async ({ expect }) => {
  const run = async (verb: string[], more: object) => {
    const world = worldWith();
    const shown = { ...connector, counts: { indexed: 7, failed: 0 }, ...more };
    world.routes["GET /api/connectors"] = { body: { connectors: [shown], nextCursor: null } };
    return await kb({ ...world, isTty: true, columns: 200 }, "connectors", ...verb);
  };
  const unread = { readByNobody: { users: 3, linked: 0 } };
  expect((await run(["list"], unread)).stdout).toContain("7, read by no one");
  expect((await run(["list"], {})).stdout).not.toContain("no one");
  const shown = await run(["show", "docs"], unread);
  expect(shown.stderr).toContain("none of the source's users is linked to a member (0 of 3). Link them, or connect");
  expect(shown.stderr).toContain(`kb connectors people ${connector.id}`);
  expect((await run(["show", "docs"], {})).stderr).not.toContain("No one");
});

test("show says what becomes of items that an older reader has read", async ({ expect }) => {
  const show = async (more: object) => {
    const world = worldWith();
    const shown = { ...connector, counts: { indexed: 7, toReadAgain: 1_200 }, ...more };
    world.routes["GET /api/connectors"] = { body: { connectors: [shown], nextCursor: null } };
    return await kb({ ...world, isTty: true, columns: 200 }, "connectors", "show", "docs");
  };
  const run = await show({ isPushed: false });
  expect(run.stdout).toMatch(/7 indexed, 1,200 to read again$/m);
  expect(run.stderr).toContain(
    "Reading items again that an earlier version of kb read: 1,200 items left. Until then, searches find their earlier text.\n",
  );
  expect((await show({ isPushed: true })).stderr).toContain(
    "This version of kb reads 1,200 items better than the version they were pushed to. Push them again.\n",
  );
  expect((await show({ counts: { indexed: 7 } })).stderr).not.toContain("read");
});

test("list and show say what a connector does now, and --json gives the contract's record", async ({ expect }) => {
  const reason = { code: "rate_limited", message: "429" };
  const activity = { type: "waiting", until: "2026-11-22T15:00:00.000Z", reason };
  const world = worldWith();
  const shown = { ...connector, activity, isPushed: false };
  world.routes["GET /api/connectors"] = { body: { connectors: [shown], nextCursor: null } };
  const tty = { ...world, isTty: true, columns: 200 };
  const words = "Waiting, because the source limits requests. Continues at 2026-11-22 15:00.";
  expect((await kb(tty, "connectors", "show", "docs")).stdout).toContain(words);
  expect((await kb(tty, "connectors", "list")).stdout).toContain(words);
  const { connectors } = JSON.parse((await kb(world, "connectors", "list", "--json")).stdout);
  expect(connectors).toMatchObject([{ activity }]);
});

test("show says what an admin can do with another's connector, and its owner nothing of it", async ({ expect }) => {
  const world = worldWith();
  const show = async (allowed: string[]) => {
    const shown = { ...connector, owner: { id: "usr_2", name: "Alice" }, isPushed: false, allowed };
    world.routes["GET /api/connectors"] = { body: { connectors: [shown], nextCursor: null } };
    world.routes[`GET /api/connectors/${connector.id}`] = { body: { connector: shown } };
    return await kb(world, "connectors", "show", "docs");
  };
  const { stderr } = await show(["sync", "pause"]);
  expect(stderr).toContain("You can sync it or pause it.\n");
  expect(stderr).toContain("Only Alice, who owns this connector, can let more people see it, include more in it");
  const all = ["sync", "pause", "widen_access", "widen_scope", "configure", "reconnect"];
  expect((await show(all)).stderr).not.toContain("can");
});

test("a mistyped name is answered with the near one", async ({ expect }) => {
  const run = await kb(worldWith(), "connectors", "show", "dcs");
  expect(run.code).toBe(3);
  expect(run.stderr).toContain('Did you mean "docs"?');
});

test("a removal asks, and without a terminal needs --yes", async ({ expect }) => {
  const world = worldWith();
  world.routes[`DELETE /api/connectors/${connector.id}`] = { status: 202, body: { connector } };
  expect((await kb(world, "connectors", "remove", "docs")).code).toBe(2);
  expect(
    (await kb({ ...world, isTty: true, prompts: { confirm: async () => false } }, "connectors", "remove", "docs")).code,
  ).toBe(130);
  expect(world.sent.some((sent) => sent.method === "DELETE")).toBe(false);
  expect((await kb(world, "connectors", "remove", "docs", "--yes")).code).toBe(0);
  expect(world.sent.at(-1)?.method).toBe("DELETE");
});

test("settings of a new connector take the types of the source's schema, and secrets come by reference", async ({
  expect,
}) => {
  const configSchema = {
    type: "object",
    required: ["root"],
    properties: {
      root: { type: "string", localPath: "always" },
      mirror: { type: "string", localPath: "dotted" },
      name: { type: "string" },
      hidden: { type: "boolean" },
      maxFileMb: { type: "number" },
      tags: { type: "array" },
    },
  };
  const source = {
    providerId: "filesystem",
    name: "Folder",
    kinds: ["file"],
    auth: "none",
    configSchema,
    acl: "connector",
    capabilities: [],
    available: true,
  };
  const world = worldWith();
  world.env["SECRET"] = "s3cret";
  world.routes["GET /api/connectors/sources"] = { body: { sources: [source] } };
  world.routes["POST /api/connectors"] = { status: 201, body: { connector, sync: null, warnings: ["It is empty."] } };
  const set = ["--set", "root=notes", "--set", "hidden=true", "--set", "maxFileMb=2", "--set", "tags=a, b"];
  // What may be a path of this machine is one from here.
  set.push("--set", "mirror=../x", "--set", "name=./not-a-path");
  const run = await kb(
    world,
    "connectors",
    "add",
    "filesystem",
    ...set,
    "--credential",
    "token=env:SECRET",
    "--every",
    "1h",
  );
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("Warning: It is empty.")]);
  expect(run.sent.at(-1)?.body).toEqual({
    providerId: "filesystem",
    name: "notes",
    config: {
      root: `${world.dir}/notes`,
      mirror: resolve(world.dir, "../x"),
      name: "./not-a-path",
      hidden: true,
      maxFileMb: 2,
      tags: ["a", "b"],
    },
    access: { visibility: "private" },
    schedule: { everyMinutes: 60 },
    credentials: { token: "s3cret" },
  });
  const inArgv = await kb(world, "connectors", "add", "filesystem", "--set", "root=x", "--credential", "token=s3cret");
  expect(inArgv.code).toBe(2);
  expect(inArgv.stderr).toContain("takes a reference");
  const missing = await kb(world, "connectors", "add", "filesystem");
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("--set root=…")]);
  const unknown = await kb(world, "connectors", "add", "filesystem", "--set", "rot=x");
  expect(unknown.stderr).toContain("Did you mean root?");
});
