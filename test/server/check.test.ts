import { open } from "node:fs/promises";
import { describe, test } from "vitest";
import { checkDatabase, type CheckOptions } from "#server/check.ts";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import { markOutdated } from "#storage/mark-outdated.ts";
import { openWriter } from "#storage/sqlite.ts";
import { makeReindex } from "#storage/writer/reindex.ts";
import { kb as runKb, makeWorld } from "../cli/fakes.ts";
import { makeKit } from "./mcp/kit.ts";

const OPTIONS: CheckOptions = {
  isFull: false,
  signal: new AbortController().signal,
  onProgress: () => undefined,
};

/** A workspace with items, half of them in a segment, and an audit log. */
async function makeChecked() {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const { workspaceId } = owner;
  const kbIds = await kb.addItems(
    owner,
    Array.from({ length: 20 }, (_, n) => ({ title: `Note ${n}`, text: "pelican" })),
  );
  const connection = openWriter(kb.database.file, "normal");
  const index = makeIndexWriter(connection.raw);
  const run = (sql: string, ...values: (string | number)[]) => connection.execute(sql, values);
  const rebuild = (slices = Infinity) => {
    const slice = makeReindex(connection, index, 0);
    for (let n = 0; n < slices && slice(); n++);
  };
  await markOutdated(kb.database.writer);
  rebuild();
  kbIds.push(...(await kb.addItems(owner, [{ title: "Late", text: "pelican" }])));
  const actor = await kb.actor(owner);
  const total = async () => (await kb.deps.search.search(actor, { query: "pelican", limit: 0 })).total;
  const check = (more: Partial<CheckOptions> = {}) => checkDatabase(kb.database.file, { ...OPTIONS, ...more });
  return { kb, owner, workspaceId, kbIds, connection, index, run, rebuild, total, check };
}

const told = ({ findings }: Awaited<ReturnType<typeof checkDatabase>>) =>
  findings.map(({ part, code, count }) => `${part} ${code} ${count}`);

describe("a check of the data folder", () => {
  test("finds nothing where nothing is wrong, next to a running server", async ({ expect }) => {
    const { check, connection } = await makeChecked();
    expect(await check({ isFull: true })).toMatchObject({
      isIntact: true,
      workspaces: 1,
      items: 21,
      rebuilding: 0,
      findings: [],
    });
    connection.close();
  });

  test("names what the index lost, has too much or shows to others, and a rebuild mends it", async ({ expect }) => {
    const { kb, workspaceId, kbIds, connection, index, run, rebuild, total, check } = await makeChecked();
    const [gone = "", other = "", orphan = ""] = kbIds;
    const late = kbIds.at(-1) ?? "";
    index.apply(workspaceId, [
      { type: "remove", kbId: gone },
      { type: "access", kbId: other, aclId: 77 },
    ]);
    run("delete from index_delta where kbId = ?", late);
    run('update items set "removedAt" = 1 where "kbId" = ?', orphan);
    const report = await check();
    expect(told(report).toSorted()).toEqual(["index access 1", "index missing 2", "index orphan 1"]);
    const byCode = new Map(report.findings.map((finding) => [finding.code, finding]));
    expect(byCode.get("missing")?.examples.toSorted()).toEqual([gone, late].toSorted());
    expect(byCode.get("access")).toMatchObject({ workspaceId, examples: [other], next: "Run kb reindex." });
    expect(byCode.get("orphan")?.examples).toEqual([orphan]);

    await markOutdated(kb.database.writer);
    expect((await check()).rebuilding).toBe(1);
    rebuild();
    expect(await check()).toMatchObject({ isIntact: true, rebuilding: 0 });
    expect(await total()).toBe(20);
    connection.close();
  });

  test("names a workspace whose whole index is gone, and a rebuild makes it", async ({ expect }) => {
    const { kb, connection, run, rebuild, total, check } = await makeChecked();
    run("delete from index_state");
    expect(told(await check())).toEqual(["index missing 21"]);
    await markOutdated(kb.database.writer);
    rebuild();
    expect([told(await check()), await total()]).toEqual([[], 21]);
    connection.close();
  });

  test("names the row of the audit log that was changed", async ({ expect }) => {
    const { kb, workspaceId, connection, run, check } = await makeChecked();
    for (const action of ["one", "two", "three"]) {
      const row = { at: 1, actorUserId: null, credential: "", action, targetType: "", targetId: "", ip: null };
      await kb.store.in(workspaceId).audit.append({ ...row, outcome: "done", requestId: null, details: {} });
    }
    expect((await check()).isIntact).toBe(true);
    const seq = Number(run("select seq from audit where action = 'two'").rows[0]?.["seq"]);
    run("update audit set action = 'none' where seq = ?", seq);
    const report = await check();
    expect(told(report)).toEqual(["audit broken 1"]);
    expect(report.findings[0]?.message).toContain(`row ${seq} does not follow`);
    run("update audit set details = '{' where seq = ?", seq);
    expect(told(await check())).toEqual(["audit unreadable 1"]);
    connection.close();
  });

  test("names a damaged page, and checks what else can be read", async ({ expect }) => {
    const { kb, connection, run, check } = await makeChecked();
    const page = Number(run("select rootpage from sqlite_schema where name = 'api_tokens'").rows[0]?.["rootpage"]);
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    const file = await open(kb.database.file, "r+");
    await file.write(Buffer.alloc(8192, 0xa5), 0, 8192, (page - 1) * 8192);
    await file.close();
    const parts: string[] = [];
    const report = await check({ onProgress: (part, _done, note) => void (part === "database" && parts.push(note)) });
    expect(report).toMatchObject({ isIntact: false, items: 21 });
    expect(told(report)).toEqual(["database damaged 1"]);
    const [finding] = report.findings;
    expect(finding).toMatchObject({ next: expect.stringContaining("backup") });
    expect(finding?.message).toContain("api_tokens");
    // Those after it, too.
    expect(parts.at(-1)).toBe("workspaces");
    connection.close();
  });

  test("names a file that is no database at all", async ({ expect }) => {
    const { kb, connection, run, check } = await makeChecked();
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    const file = await open(kb.database.file, "r+");
    await file.write(Buffer.alloc(100, 0xa5), 0, 100, 0);
    await file.close();
    expect(told(await check())).toEqual(["database unreadable 1"]);
    connection.close();
  });

  test("ends where it is interrupted", async ({ expect }) => {
    const { check, connection } = await makeChecked();
    const stop = new AbortController();
    let seen = 0;
    const onProgress = () => void (++seen === 3 && stop.abort());
    await expect(check({ signal: stop.signal, onProgress })).rejects.toMatchObject({ name: "AbortError" });
    expect(seen).toBe(3);
    connection.close();
  });
});

describe("a rebuild that was asked for", () => {
  test("is seen by a writer that runs already, and leaves the old index when it is cut off", async ({ expect }) => {
    const { kb, kbIds, workspaceId, connection, index, total, check } = await makeChecked();
    const slice = makeReindex(connection, index, 0);
    expect(slice()).toBe(false);
    index.apply(workspaceId, [{ type: "remove", kbId: kbIds[0] ?? "" }]);
    await markOutdated(kb.database.writer);
    for (let n = 0; n < 5; n++) expect(slice()).toBe(true);
    expect(await total()).toBe(20);
    connection.close();

    // The next process: what was half written goes, and the rebuild begins again.
    const next = openWriter(kb.database.file, "normal");
    const nextIndex = makeIndexWriter(next.raw);
    nextIndex.sweep();
    expect(await total()).toBe(20);
    expect(told(await check())).toEqual(["index missing 1"]);
    const again = makeReindex(next, nextIndex, 0);
    while (again());
    expect([told(await check()), await total()]).toEqual([[], 21]);
    next.close();
  });
});

describe("a server where nothing is stored", () => {
  test("rebuilds what was asked for next to it, at its next turn", async ({ expect }) => {
    const { kb, kbIds, workspaceId, connection, index, run, total, check } = await makeChecked();
    const takeTurn = () => kb.database.writer.call("takeTurn", {}, "batch");
    for (let n = 0; n < 5; n++) await takeTurn();
    index.apply(workspaceId, [{ type: "remove", kbId: kbIds[0] ?? "" }]);
    run("update index_state set analyzerVersion = 0");
    for (let n = 0; n < 100 && (await check()).rebuilding > 0; n++) await takeTurn();
    expect([told(await check()), await total()]).toEqual([[], 21]);
    connection.close();
  });
});

test("a database of another version is told to be one", async ({ expect }) => {
  const { connection, run, check } = await makeChecked();
  run("insert into kysely_migration (name, timestamp) values ('9999-later', '')");
  await expect(check()).rejects.toMatchObject({ message: expect.stringContaining("Another version of kb wrote") });
  connection.close();
});

describe("on the command line", () => {
  test("a fault is exit code 8 with what to do next, and JSON for programs", async ({ expect }) => {
    const { kb, kbIds, workspaceId, connection, index } = await makeChecked();
    const world = makeWorld({ env: { KB_DATA_DIR: kb.deps.settings.dataDir } });
    expect(await runKb(world, "check")).toMatchObject({ code: 0, stdout: expect.stringContaining("intact\tyes") });
    index.apply(workspaceId, [{ type: "remove", kbId: kbIds[0] ?? "" }]);
    const text = await runKb(world, "check");
    expect(text.code).toBe(8);
    expect(text.stdout).toContain("Run kb reindex.");
    const json = await runKb(world, "check", "--json");
    expect([json.code, JSON.parse(json.stdout)]).toEqual([8, expect.objectContaining({ isIntact: false, items: 21 })]);
    const stop = new AbortController();
    stop.abort();
    expect((await runKb({ ...world, real: { signal: stop.signal } }, "check")).code).toBe(130);
    connection.close();
  });

  test("a rebuild is asked for, and mends what was found", async ({ expect }) => {
    const { kb, kbIds, workspaceId, connection, index, rebuild, total, check } = await makeChecked();
    index.apply(workspaceId, [{ type: "remove", kbId: kbIds[0] ?? "" }]);
    const run = await runKb(makeWorld({ env: { KB_DATA_DIR: kb.deps.settings.dataDir } }), "reindex");
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("the index of 1 workspace") });
    rebuild();
    expect([told(await check()), await total()]).toEqual([[], 21]);
    connection.close();
  });

  test("a folder without an installation is named", async ({ expect }) => {
    const world = makeWorld({ env: { KB_DATA_DIR: "/nowhere/at-all" } });
    for (const verb of ["check", "reindex"]) {
      expect(await runKb(world, verb)).toMatchObject({ stderr: expect.stringContaining("There is no installation") });
    }
  });
});
