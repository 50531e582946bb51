import { MAX_SCOPE_TITLE_CHARS } from "#api/scope-title.ts";
import { describe, expect, test } from "vitest";
import type { TestClient } from "../../helpers.ts";
import { item } from "../sync/harness.ts";
import { FOLDER, makeConnectorServer, pushed } from "./server.ts";

type Kb = Awaited<ReturnType<typeof makeConnectorServer>>;

async function makeFolder(kb: Kb, by: TestClient, access: Record<string, unknown> = { visibility: "private" }) {
  const answer = await by.post("/api/connectors", { ...FOLDER, access });
  if (answer.status !== 201) throw new Error(answer.text);
  await kb.worker.runUntilIdle();
  return answer.json.connector.id as string;
}

const titles = async (kb: Kb) =>
  (await kb.database.read.selectFrom("items").select(["kbId", "removedAt"]).execute()).filter(
    (r) => r.removedAt === null,
  );

async function readable(kb: Kb, user: Kb["owner"]): Promise<number> {
  const kbIds = (await kb.database.read.selectFrom("items").select("kbId").execute()).map((row) => row.kbId);
  return (await kb.deps.policy.mayRead(await kb.actor(user), kbIds)).size;
}

describe("an item without text", () => {
  test("says why to anyone who may see it: in lists, when its text is asked for, and to no one else", async ({
    expect,
  }) => {
    const kb = await makeConnectorServer();
    kb.world.items = [item("broken.zip", "FAIL", { mimeType: "text/html" }), item("good.md", "alpha")];
    await makeFolder(kb, kb.as(kb.owner));
    const { json } = await kb.as(kb.owner).get("/api/connectors/all-files?sort=title");
    expect(json.files.map((file: { textState: unknown }) => file.textState)).toMatchObject([
      { state: "none", reason: "failed", message: "Broken." },
      { state: "ok", reason: null, message: null },
    ]);
    const path = `/api/connectors/files/${json.files[0].kbId}/content`;
    const asked = await kb.as(kb.owner).get(path);
    expect([asked.status, asked.json.code, asked.json.detail]).toEqual([
      422,
      "no_text",
      '"broken.zip" has no searchable text (failed): "Broken."',
    ]);
    const hidden = await kb.as(kb.member).get(path);
    expect([hidden.status, hidden.text.includes("Broken.")]).toEqual([404, false]);
  });
});

describe("creating a connector", () => {
  test("gives the connector and its first sync, which then runs", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const answer = await kb.as(kb.owner).post("/api/connectors", { ...FOLDER, access: { visibility: "private" } });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      connector: {
        providerId: "folder",
        name: "Docs",
        owner: { id: kb.owner.userId },
        config: { root: "/srv/docs", depth: 9 },
        scope: { include: [], exclude: [] },
        schedule: { everyMinutes: 30 },
        state: "active",
        hasKey: false,
      },
      sync: { mode: "full", trigger: "manual", state: "queued" },
    });
    await kb.worker.runUntilIdle();
    const { json } = await kb.as(kb.owner).get(`/api/connectors/${answer.json.connector.id}`);
    expect(json.connector).toMatchObject({ counts: { indexed: 2, failed: 0 }, lastSync: { state: "succeeded" } });
    const audit = await kb.as(kb.owner).get("/api/audit");
    expect(audit.json.entries.map((entry: { action: string }) => entry.action)).toContain("connector.created");
  });

  test.for([
    ["dept", 'There is no such setting. Did you mean "depth"?'],
    ["nokey".repeat(20_000), /^There is no such setting\. Its settings: .*\broot\b.*\.$/u],
  ] as const)("tells a setting that there isn't with what there is", async ([key, words], { expect }) => {
    const kb = await makeConnectorServer();
    const { json } = await kb.as(kb.owner).post("/api/connectors", {
      ...FOLDER,
      access: { visibility: "private" },
      config: { root: "/x", [key]: "1" },
    });
    const message = typeof words === "string" ? words : expect.stringMatching(words);
    expect(json).toMatchObject({ code: "connector_config_invalid", errors: [{ path: `config.${key}`, message }] });
  });

  test("is refused with the field at fault, and stores nothing", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const owner = kb.as(kb.owner);
    const create = (more: Record<string, unknown>) =>
      owner.post("/api/connectors", { ...FOLDER, access: { visibility: "private" }, ...more });
    const cases: [Record<string, unknown>, number, string, string | undefined][] = [
      [{ providerId: "nothing" }, 400, "provider_unknown", "providerId"],
      [{ config: {} }, 422, "connector_config_invalid", "config.root"],
      [{ config: { root: "/x", wrong: 1 } }, 422, "connector_config_invalid", "config.wrong"],
      [{ credentials: { token: "x" } }, 422, "connector_config_invalid", "credentials"],
      [{ access: { visibility: "source" } }, 422, "visibility_not_supported", "access.visibility"],
      [
        { access: { visibility: "members", memberIds: [kb.stranger.userId] } },
        422,
        "unknown_member",
        "access.memberIds",
      ],
      [
        { access: { visibility: "members", groupIds: ["grp_2222222222222222"] } },
        422,
        "unknown_group",
        "access.groupIds",
      ],
      [{ schedule: { everyMinutes: 4 } }, 400, "invalid_request", undefined],
      [{ extra: true }, 400, "invalid_request", undefined],
    ];
    for (const [more, status, code, field] of cases) {
      const answer = await create(more);
      expect([answer.status, answer.json.code, field && answer.json.field], JSON.stringify(more)).toEqual([
        status,
        code,
        field,
      ]);
    }
    kb.world.problem = "There is no such folder; token=abcdef";
    const failed = await create({});
    expect([failed.status, failed.json.code, failed.json.field]).toEqual([
      422,
      "connector_check_failed",
      "config.root",
    ]);
    expect(failed.text).not.toContain("abcdef");
    kb.world.hint = "kb roots add /home/ana/projects/a-long-name/documents";
    expect((await create({})).json.hint).toBe(kb.world.hint);
    expect((await owner.get("/api/connectors")).json).toEqual({ connectors: [], nextCursor: null });
  });

  test("runs as often as is asked, or only when it is told to", async ({ expect }) => {
    const kb = await makeConnectorServer();
    for (const schedule of [{ everyMinutes: 90 }, null]) {
      const body = { ...FOLDER, schedule, access: { visibility: "private" } };
      const { json } = await kb.as(kb.owner).post("/api/connectors", body);
      expect(json.connector.schedule).toEqual(schedule);
      expect(json.connector.nextRunAt === null).toBe(schedule === null);
    }
  });

  test("of a source without accounts is for admins", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const body = { ...FOLDER, access: { visibility: "private" } };
    expect((await kb.as(kb.member).post("/api/connectors", body)).status).toBe(403);
    expect((await kb.as(kb.member).post("/api/connectors/browse", { ...FOLDER, name: undefined })).status).toBe(403);
    expect((await kb.as(kb.admin).post("/api/connectors", body)).status).toBe(201);
  });

  test("sources say what can be connected and with which config", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const { json } = await kb.as(kb.member).get("/api/connectors/sources");
    expect(json.sources).toMatchObject([
      { providerId: "folder", capabilities: ["sync", "browse", "scope"], available: true, acl: "connector" },
      { providerId: "push", capabilities: ["push"], auth: "key" },
    ]);
    expect(json.sources[0].configSchema).toMatchObject({ type: "object", required: ["root"] });
    const { providerId, config } = FOLDER;
    const browsed = await kb.as(kb.owner).post("/api/connectors/browse", { providerId, config, parent: "a/" });
    expect(browsed.json).toMatchObject({ nodes: [{ id: "a/b" }], nextCursor: null });
  });
});

describe("who may", () => {
  test("each route about a connector is for its owner and admins; for others it is not there", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.admin), { visibility: "workspace" });
    const [sync] = await kb.store.in(kb.owner.workspaceId).syncs.list(id, 1);
    const routes: [string, string, unknown?][] = [
      ["GET", ""],
      ["PATCH", "", { name: "New" }],
      ["PATCH", "/scope", { include: [], exclude: [] }],
      ["POST", "/syncs"],
      ["GET", "/syncs"],
      ["GET", `/syncs/${sync?.syncId}`],
      ["GET", "/removals"],
      ["POST", "/removals/approve"],
      ["POST", "/removals/reject"],
      ["POST", "/pause"],
      ["POST", "/resume"],
      ["POST", `/syncs/${sync?.syncId}/cancel`],
      ["POST", "/rotate-key"],
      ["DELETE", ""],
    ];
    const ask = async (client: TestClient) => {
      const found: [string, number][] = [];
      for (const [method, path, body] of routes) {
        const { status } = await client.request(
          method,
          `/api/connectors/${id}${path}`,
          body === undefined ? {} : { body },
        );
        found.push([`${method} ${path}`, status]);
      }
      return found;
    };
    expect(new Set((await ask(kb.as(kb.member))).map(([, status]) => status))).toEqual(new Set([404]));
    expect(new Set((await ask(kb.as(kb.stranger))).map(([, status]) => status))).toEqual(new Set([404]));
    expect((await ask(kb.as(kb.owner))).map(([, status]) => status)).toEqual([
      200, 200, 202, 202, 200, 200, 200, 200, 200, 200, 200, 409, 409, 202,
    ]);
  });

  test("a member sees connectors whose items they may read, as four fields", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const open = await makeFolder(kb, kb.as(kb.admin), { visibility: "workspace" });
    await makeFolder(kb, kb.as(kb.admin));
    const { json } = await kb.as(kb.member).get("/api/connectors");
    expect(json.connectors).toEqual([{ id: open, name: "Docs", providerId: "folder", state: "active" }]);
    expect((await kb.as(kb.owner).get("/api/connectors")).json.connectors).toHaveLength(2);
    expect((await kb.as(kb.owner).get("/api/connectors/mine")).json.connectors).toEqual([]);
    const first = (await kb.as(kb.owner).get("/api/connectors?limit=1")).json;
    const second = (await kb.as(kb.owner).get(`/api/connectors?limit=1&cursor=${first.nextCursor}`)).json;
    expect(new Set([first.connectors[0].id, second.connectors[0].id]).size).toBe(2);
    expect(second.nextCursor).toBeNull();
  });

  test.each([
    ["a control character", "c\u001b[31mX"],
    ["a line break", "a\nb"],
    ["a character that turns the direction", "gnp.\u202eexe"],
    ["tag characters", "Docs\u{e0041}\u{e0042}"],
  ])("a name with %s is refused, new and changed", async (_what, name) => {
    const kb = await makeConnectorServer();
    const me = kb.as(kb.admin);
    const refused = { status: 400, json: { code: "invalid_request", detail: expect.stringContaining("plain text") } };
    expect(await me.post("/api/connectors", { ...FOLDER, name })).toMatchObject(refused);
    const id = await makeFolder(kb, me);
    expect(await me.patch(`/api/connectors/${id}`, { name })).toMatchObject(refused);
  });

  test("access opens and closes items at once; only the owner widens, an admin narrows", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.admin));
    expect([await readable(kb, kb.admin), await readable(kb, kb.owner), await readable(kb, kb.member)]).toEqual([
      2, 0, 0,
    ]);
    const change = (by: Kb["owner"], access: Record<string, unknown>) =>
      kb.as(by).patch(`/api/connectors/${id}`, { access });
    const members = { visibility: "members", memberIds: [kb.member.userId] };
    expect((await change(kb.owner, members)).status).toBe(403);
    expect((await change(kb.admin, members)).status).toBe(200);
    expect([await readable(kb, kb.owner), await readable(kb, kb.member)]).toEqual([0, 2]);
    expect((await change(kb.admin, { visibility: "workspace" })).status).toBe(200);
    expect([await readable(kb, kb.owner), await readable(kb, kb.stranger)]).toEqual([2, 0]);
    expect((await change(kb.owner, members)).status).toBe(200);
    expect((await change(kb.owner, { visibility: "workspace" })).status).toBe(403);
    expect((await change(kb.owner, { visibility: "private" })).status).toBe(200);
    expect([await readable(kb, kb.owner), await readable(kb, kb.member), await readable(kb, kb.admin)]).toEqual([
      0, 0, 2,
    ]);
  });

  test("names of items that an admin may not read are in no answer about the connector", async ({ expect }) => {
    const kb = await makeConnectorServer();
    kb.world.items = Array.from({ length: 30 }, (_, i) => item(`canary-${i}`, `words ${i}`));
    kb.world.items.push(item("canary-broken", "x", { content: { type: "fetch" } }));
    const id = await makeFolder(kb, kb.as(kb.admin));
    kb.world.items = [];
    kb.clock.advance(1_000);
    await kb.as(kb.admin).post(`/api/connectors/${id}/syncs`, { mode: "full" });
    await kb.worker.runUntilIdle();
    const [last, first] = await kb.store.in(kb.owner.workspaceId).syncs.list(id, 2);
    const paths = ["", "/syncs", `/syncs/${first?.syncId}`, `/syncs/${last?.syncId}`, "/removals?limit=200"];
    for (const path of paths) {
      const seen = await kb.as(kb.owner).get(`/api/connectors/${id}${path}`);
      expect([seen.status, seen.text.includes("canary")], path).toEqual([200, false]);
    }
    expect((await kb.as(kb.owner).get("/api/connectors/progress")).text).not.toContain("canary");
    const mine = await kb.as(kb.admin).get(`/api/connectors/${id}/removals?limit=200`);
    expect(mine.json.removals).toHaveLength(31);
    expect(mine.json.removals[0].title).toContain("canary");
    const skips = await kb.as(kb.admin).get(`/api/connectors/${id}/syncs/${first?.syncId}`);
    expect(skips.json.sync.skips).toMatchObject([{ externalId: "canary-broken", reason: "failed" }]);
  });
});

describe("the life of a connector", () => {
  test("held removals are approved or kept", async ({ expect }) => {
    const kb = await makeConnectorServer();
    kb.world.items = Array.from({ length: 50 }, (_, i) => item(`f${i}`, `words ${i}`));
    const id = await makeFolder(kb, kb.as(kb.owner));
    kb.world.items = kb.world.items.slice(0, 10);
    const resync = async () => {
      await kb.as(kb.owner).post(`/api/connectors/${id}/syncs`);
      await kb.worker.runUntilIdle();
    };
    await resync();
    expect(await titles(kb)).toHaveLength(50);
    const { json } = await kb.as(kb.owner).get(`/api/connectors/${id}/removals?limit=3`);
    expect(json.removals).toHaveLength(3);
    const kept = await kb
      .as(kb.owner)
      .post(`/api/connectors/${id}/removals/reject`, { kbIds: [json.removals[0].kbId] });
    expect(kept.json).toEqual({ kept: 1 });
    expect((await kb.as(kb.owner).post(`/api/connectors/${id}/removals/approve`)).json).toEqual({ removed: 39 });
    expect(await titles(kb)).toHaveLength(11);
    await resync();
    // The one that was kept is still missing, and one more is no mass removal.
    expect(await titles(kb)).toHaveLength(10);
  });

  test("no removal is decided any more once it is being deleted", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.owner));
    await kb.as(kb.owner).delete(`/api/connectors/${id}`);
    for (const decision of ["approve", "reject"]) {
      const { status, json } = await kb.as(kb.owner).post(`/api/connectors/${id}/removals/${decision}`);
      expect([status, json.code]).toEqual([409, "connector_state_conflict"]);
    }
    expect((await kb.as(kb.owner).get("/api/audit?action=connector.removals_approved")).json.entries).toEqual([]);
  });

  test("a narrower scope takes items out at once, a wider one brings them back by a full run", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.owner));
    const scope = { include: [], exclude: ["b/"] };
    const dry = await kb.as(kb.owner).request("PATCH", `/api/connectors/${id}/scope?dryRun=true`, { body: scope });
    expect(dry.json).toMatchObject({ sync: null, plan: { removed: 1, rechecked: 2 } });
    expect(await titles(kb)).toHaveLength(2);
    const answer = await kb.as(kb.owner).patch(`/api/connectors/${id}/scope`, scope);
    expect([answer.status, answer.json.plan.removed, answer.json.sync.mode]).toEqual([202, 1, "full"]);
    expect(answer.json.connector.scope).toEqual(scope);
    expect(await titles(kb)).toHaveLength(1);
    await kb.worker.runUntilIdle();
    await kb.as(kb.owner).patch(`/api/connectors/${id}/scope`, { include: [], exclude: [] });
    await kb.worker.runUntilIdle();
    expect(await titles(kb)).toHaveLength(2);
  });

  test("the names of what a scope includes are its owner's to read, and stay with their entries", async ({
    expect,
  }) => {
    const kb = await makeConnectorServer();
    const admin = await kb.addMember(kb.owner.workspaceId, "admin");
    const id = await makeFolder(kb, kb.as(kb.owner));
    const scopeOf = async (user: typeof admin) =>
      (await kb.as(user).get(`/api/connectors/${id}`)).json.connector.scope.titles;
    const change = (scope: object) => kb.as(kb.owner).patch(`/api/connectors/${id}/scope`, scope);
    const titles = { r1: "acme/website\u202e", r2: "acme/billing", other: "Not chosen" };
    await change({ include: ["r1", "r2"], exclude: [], titles });
    expect(await scopeOf(kb.owner)).toEqual({ r1: "acme/website", r2: "acme/billing" });
    expect(await scopeOf(admin)).toBeUndefined();
    // The command line knows no names.
    await change({ include: ["r2", "r3"], exclude: [] });
    expect(await scopeOf(kb.owner)).toEqual({ r2: "acme/billing" });
    await change({ include: [], exclude: [] });
    expect(await scopeOf(kb.owner)).toBeUndefined();
    // What is taken is kept whole, and what is longer is refused.
    const long = "x".repeat(MAX_SCOPE_TITLE_CHARS);
    await change({ include: ["r2"], exclude: [], titles: { r2: long } });
    expect(await scopeOf(kb.owner)).toEqual({ r2: long });
    expect((await change({ include: ["r2"], exclude: [], titles: { r2: `${long}x` } })).status).toBe(400);
    expect(await scopeOf(kb.owner)).toEqual({ r2: long });
  });

  test("a new name goes into the source of its items", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.owner));
    await kb.as(kb.owner).patch(`/api/connectors/${id}`, { name: "Handbook" });
    await kb.worker.runUntilIdle();
    const rows = await kb.database.read.selectFrom("items").select("source").distinct().execute();
    expect(rows).toEqual([{ source: "folder:Handbook" }]);
  });

  test("paused it does not run by schedule and stays readable; resumed it runs", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.owner));
    const paused = await kb.as(kb.owner).post(`/api/connectors/${id}/pause`);
    expect(paused.json.connector).toMatchObject({ state: "paused", nextRunAt: null });
    const asked = await kb.as(kb.owner).post(`/api/connectors/${id}/syncs`);
    expect([asked.status, asked.json.hint]).toEqual([409, "Resume it first: kb connectors resume Docs"]);
    kb.clock.advance(3_600_000);
    expect(await kb.worker.runUntilIdle()).toBe(0);
    expect((await kb.as(kb.owner).post(`/api/connectors/${id}/syncs`)).status).toBe(409);
    expect(await readable(kb, kb.owner)).toBe(2);
    expect((await kb.as(kb.owner).post(`/api/connectors/${id}/resume`)).json.connector.state).toBe("active");
    expect(await kb.worker.runUntilIdle()).toBe(1);
    kb.clock.advance(31 * 60_000);
    expect(await kb.worker.runUntilIdle()).toBe(1);
    const [last] = await kb.store.in(kb.owner.workspaceId).syncs.list(id, 1);
    expect(last).toMatchObject({ trigger: "schedule", mode: "incremental", state: "succeeded" });
  });

  test("deleted it is unreadable on the next request and later gone with everything", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const id = await makeFolder(kb, kb.as(kb.owner), { visibility: "workspace" });
    expect(await readable(kb, kb.member)).toBe(2);
    const answer = await kb.as(kb.owner).delete(`/api/connectors/${id}`);
    expect([answer.status, answer.json.connector.state]).toEqual([202, "deleting"]);
    expect([await readable(kb, kb.member), await readable(kb, kb.owner)]).toEqual([0, 0]);
    await kb.worker.runUntilIdle();
    expect((await kb.as(kb.owner).get(`/api/connectors/${id}`)).status).toBe(404);
    for (const table of ["items", "item_texts", "item_entities", "syncs", "connectors", "jobs"] as const) {
      expect(await kb.database.read.selectFrom(table).selectAll().execute(), table).toEqual([]);
    }
  });
});

describe("pushing", () => {
  async function makePush(kb: Kb) {
    const body = { providerId: "push", name: "CI", access: { visibility: "workspace" } };
    const { json } = await kb.as(kb.owner).post("/api/connectors", body);
    const path = `/api/connectors/${json.connector.id}/items`;
    const push = async (...lines: unknown[]) => {
      const raw = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
      const headers = { "content-type": "application/x-ndjson" };
      const { text, status } = await kb.withToken(json.key).request("POST", path, { raw, headers });
      return status === 200
        ? text
            .trim()
            .split("\n")
            .filter(Boolean)
            .map((line) => JSON.parse(line))
        : status;
    };
    return { id: json.connector.id as string, key: json.key as string, sync: json.sync, path, push };
  }

  test("a result per line, in order; the same version again changes nothing", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const { push, sync, key } = await makePush(kb);
    expect(sync).toBeNull();
    expect(key).toMatch(/^kb_con_/);
    const lines = [
      pushed("1"),
      "not json",
      pushed("2"),
      { t: "delete", externalId: "9" },
      { t: "end", listing: "complete", permissions: "current" },
    ];
    const results = await push(...lines);
    expect(results).toMatchObject([
      { line: 1, externalId: "1", result: "upserted" },
      { line: 2, result: "error", error: { code: "invalid_request" } },
      { line: 3, externalId: "2", result: "upserted" },
      { line: 4, externalId: "9", result: "absent" },
      { line: 5, result: "error" },
    ]);
    const before = await kb.database.read.selectFrom("items").selectAll().execute();
    expect(await push(pushed("1"), pushed("2"))).toMatchObject([{ result: "unchanged" }, { result: "unchanged" }]);
    expect(await kb.database.read.selectFrom("items").selectAll().execute()).toEqual(before);
    expect(await push(pushed("1", { version: "2", title: "New title" }))).toMatchObject([{ result: "upserted" }]);
    expect(await readable(kb, kb.member)).toBe(2);
  });

  test("an access that names what it may not is no one's, and the line says so", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const { push, id } = await makePush(kb);
    const named = (principal: string) => ({ access: { known: true, all: [["workspace", principal]] } });
    const hostile = [
      `group:connector:${id}`,
      "group:connection:cnx_2222222222222222",
      "group:con_3333333333333333:team",
      `user:${kb.stranger.userId}`,
      "user:github:github.com:1",
      "Workspace",
      "group:grp_2222222222222222",
    ];
    const results = await push(...hostile.map((principal, i) => pushed(String(i), named(principal))));
    expect(results).toHaveLength(hostile.length);
    for (const result of results as object[]) {
      expect(result).toMatchObject({ result: "acl_unknown", error: { code: "principal_not_allowed" } });
    }
    for (const user of [kb.owner, kb.member, kb.stranger]) expect(await readable(kb, user)).toBe(0);
    await push(pushed("mine", { access: { known: true, all: [[`user:${kb.member.userId}`]] } }));
    expect([await readable(kb, kb.member), await readable(kb, kb.owner)]).toEqual([1, 0]);
    expect(await push({ t: "acl", externalId: "mine", access: { known: true, all: [["workspace"]] } })).toMatchObject([
      { result: "upserted" },
    ]);
    expect([await readable(kb, kb.member), await readable(kb, kb.owner)]).toEqual([1, 1]);
  });

  test("removing more than a fifth and more than 20 is held", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const { push, path, key } = await makePush(kb);
    await push(...Array.from({ length: 60 }, (_, i) => pushed(`${i}`)));
    const results = (await push(...Array.from({ length: 30 }, (_, i) => ({ t: "delete", externalId: `${i}` })))) as {
      result: string;
    }[];
    expect(results.filter((each) => each.result === "removed")).toHaveLength(20);
    expect(results.filter((each) => each.result === "held")).toHaveLength(10);
    const one = await kb.withToken(key).delete(`${path}/${encodeURIComponent("59")}`);
    expect(one.json).toEqual({ result: "held" });
  });

  test("a key opens its own connector alone; rotating ends it when the overlap is over", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const [one, other] = [await makePush(kb), await makePush(kb)];
    expect((await kb.withToken(one.key).request("POST", other.path, { raw: "" })).status).toBe(404);
    expect((await kb.withToken(one.key).get("/api/connectors")).status).not.toBe(200);
    const rotated = await kb.as(kb.owner).post(`/api/connectors/${one.id}/rotate-key`, { overlapSeconds: 60 });
    const open = async (key: string) => (await kb.withToken(key).request("POST", one.path, { raw: "" })).status;
    expect([await open(one.key), await open(rotated.json.key)]).toEqual([200, 200]);
    kb.clock.advance(61_000);
    expect([await open(one.key), await open(rotated.json.key)]).toEqual([401, 200]);
    const leaked = await kb.as(kb.owner).post(`/api/connectors/${one.id}/rotate-key`, { overlapSeconds: 0 });
    expect([await open(rotated.json.key), await open(leaked.json.key)]).toEqual([401, 200]);
    await kb.as(kb.owner).delete(`/api/connectors/${one.id}`);
    expect(await open(leaked.json.key)).toBe(401);
  });
});
