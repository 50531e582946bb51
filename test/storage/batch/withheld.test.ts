import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import type { ItemOp } from "#storage/item-batch.ts";
import { openDatabase } from "#storage/database/db.ts";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import { openWriter } from "#storage/sqlite.ts";
import { tempDir } from "../../temp-dir.ts";
import { CONNECTOR, listing, makeHarness, item, WORKSPACE } from "../../server/sync/harness.ts";
import { ACCESSES, ACTORS, anyStep, makeWorld, Model, put, toOps, type World } from "./access-world.ts";

const [A = null, B = null, AB = null] = ACCESSES;
const acl = (externalId: string, access: typeof A): ItemOp => ({ type: "access", externalId, access });
/** A tree that is as small as can be: everything below an item that changes is withheld. */
const SMALL = { settledAtOnce: 0, hasUpkeep: false };

async function seenBy(kb: World) {
  const [a, b] = [["user:a"], ["user:b"]] as const;
  return { a: await kb.readable(a), b: await kb.readable(b), foundA: await kb.found(a), foundB: await kb.found(b) };
}

describe("items below one of which there are many", () => {
  test(
    "are read by no one who may not, whatever comes between two slices, and in the end by all who may",
    { timeout: 600_000 },
    async ({ expect }) => {
      const slices = fc.nat({ max: 2 });
      const batch = fc.record({
        steps: fc.array(anyStep, { minLength: 1, maxLength: 4 }),
        slices,
        size: fc.nat({ max: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.nat({ max: 3 }),
          fc.array(batch, { minLength: 4, maxLength: 14 }),
          async (settledAtOnce, batches) => {
            const kb = await makeWorld({ settledAtOnce, hasUpkeep: false });
            const model = new Model();
            const check = async () => {
              const withheld = await kb.withheld();
              for (const held of ACTORS) {
                const may = model.visibleTo(held);
                const readable = await kb.readable(held);
                expect(may).toEqual(expect.arrayContaining(readable));
                expect(may.filter((id) => !readable.includes(id) && !withheld.includes(id))).toEqual([]);
                expect(await kb.found(held)).toEqual({ total: readable.length, found: readable });
              }
            };
            for (const { steps, slices: count, size } of batches) {
              await kb.apply(await toOps(kb, model, steps));
              await check();
              for (let slice = 0; slice < count; slice++) {
                await kb.settle(size + 1);
                await check();
              }
            }
            await kb.settleAll();
            expect(await kb.withheld()).toEqual([]);
            await check();
          },
        ),
        { numRuns: Number(process.env["KB_TEST_ACCESS_RUNS"] ?? 8) },
      );
    },
  );

  test("are no one's from the commit on, in search and records, and come back slice by slice", async ({ expect }) => {
    const kb = await makeWorld({ settledAtOnce: 3, hasUpkeep: false });
    await kb.apply([put("top", { parent: null, access: AB })]);
    await kb.apply(["1", "2", "3"].map((id) => put(id, { parent: "top", access: id === "3" ? B : null })));
    await kb.apply([acl("top", A)]);
    // Three are few enough.
    expect([await kb.withheld(), await kb.readable(["user:a"])]).toEqual([[], ["1", "2", "top"]]);
    await kb.apply([put("4", { parent: "top", access: null })]);
    await kb.apply([acl("top", AB)]);
    const only = { total: 1, found: ["top"] };
    expect(await seenBy(kb)).toEqual({ a: ["top"], b: ["top"], foundA: only, foundB: only });
    expect(await kb.settle(2)).toBe(true);
    expect(await kb.withheld()).toHaveLength(2);
    await kb.settleAll();
    const [a, b] = [
      ["1", "2", "4", "top"],
      ["1", "2", "3", "4", "top"],
    ];
    expect(await seenBy(kb)).toEqual({ a, b, foundA: { total: 4, found: a }, foundB: { total: 5, found: b } });
  });

  test("go on after the process was killed between two slices", async ({ expect }) => {
    const kb = await makeWorld(SMALL);
    const ids = Array.from({ length: 9 }, (_, at) => `c${at}`);
    await kb.apply([
      put("top", { parent: null, access: A }),
      ...ids.map((id) => put(id, { parent: "top", access: null })),
    ]);
    await kb.apply([acl("top", B)]);
    await kb.settle(4);
    // What a killed process leaves behind: the file and its log as they stand.
    const file = join(tempDir(), "kb.db");
    for (const suffix of ["", "-wal"]) await copyFile(kb.database.file + suffix, file + suffix);
    const open = async () => {
      const again = await openDatabase({ file });
      onTestFinished(() => again.close());
      return again;
    };
    const database = await open();
    const items = () => database.read.selectFrom("items").select("aclId").distinct().execute();
    const [{ aclId: closed } = { aclId: -1 }] = await database.read
      .selectFrom("items")
      .select("aclId")
      .orderBy("aclId")
      .execute();
    expect(closed).toBe(0);
    // The server's first request of the writer at its start; upkeep follows it.
    await database.writer.call("sweepIndex", {});
    await new Promise(setImmediate);
    expect(await database.read.selectFrom("withheld_items").select("kbId").execute()).toEqual([]);
    const left = await items();
    expect(left).toHaveLength(1);
    expect(left[0]?.aclId).toBeGreaterThan(0);
  });

  test("may be deep as well as many, in a circle, and of two changes at once", async ({ expect }) => {
    const kb = await makeWorld({ settledAtOnce: 2, hasUpkeep: false });
    const chain = Array.from({ length: 20 }, (_, at) =>
      put(`n${at}`, { parent: at === 0 ? null : `n${at - 1}`, access: at === 0 ? AB : null }),
    );
    await kb.apply(chain);
    await kb.settleAll();
    expect(await kb.readable(["user:a"])).toHaveLength(17);
    await kb.apply([acl("n0", A)]);
    expect([(await kb.readable(["user:a"])).length, await kb.readable(["user:b"])]).toEqual([3, []]);
    await kb.settle(1);
    // A second change from the middle on, and one back at the top, before the first is through.
    await kb.apply([acl("n9", B)]);
    await kb.apply([acl("n0", AB)]);
    await kb.settleAll();
    const upTo = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`).sort();
    expect([await kb.readable(["user:a"]), await kb.readable(["user:b"])]).toEqual([upTo(9), upTo(17)]);
    await kb.apply([put("n0", { parent: "n19", access: AB })]);
    await kb.settleAll();
    expect([await kb.readable(["user:a"]), await kb.readable(["user:b"]), await kb.withheld()]).toEqual([[], [], []]);
  });

  test("go with their connector while they wait", async ({ expect }) => {
    const kb = await makeWorld(SMALL);
    await kb.apply([put("top", { parent: null, access: A })]);
    await kb.apply(["1", "2", "3"].map((id) => put(id, { parent: "top", access: null })));
    await kb.apply([acl("top", B)]);
    await kb.store.in(WORKSPACE).itemWrites.purge({ connectorId: CONNECTOR, limit: 2 });
    await kb.settle(1);
    await kb.store.in(WORKSPACE).itemWrites.purge({ connectorId: CONNECTOR, limit: 100 });
    await kb.settleAll();
    expect(await kb.database.read.selectFrom("withheld_items").selectAll().execute()).toEqual([]);
    expect(await kb.found(["user:b"])).toEqual({ total: 0, found: [] });
  });

  test("keep their waiting accesses while unused ones are deleted, and while the index compacts", async ({
    expect,
  }) => {
    const kb = await makeWorld(SMALL);
    await kb.apply([put("top", { parent: null, access: AB })]);
    await kb.apply(["1", "2", "3"].map((id) => put(id, { parent: "top", access: A })));
    await kb.apply([acl("top", A)]);
    await kb.settle(1);
    while (!(await kb.store.in(WORKSPACE).itemWrites.sweepAccesses()).isDone);
    compactIndex(kb.database.file);
    expect((await kb.found(["user:a"])).total).toBe(2);
    await kb.settleAll();
    expect((await kb.found(["user:a"])).found).toEqual(["1", "2", "3", "top"]);
  });

  test("of a synced connector are withheld by the run and settled after it", async ({ expect }) => {
    let version = "1";
    const access = () => ({ known: true as const, all: [[`group:${CONNECTOR}:${version}`]] });
    const script = listing(() => [
      item("top", `top ${version}`, { access: access() }),
      ...["1", "2", "3"].map((id) => {
        const { access: _, ...child } = item(id, `child ${id}`, { partOf: "top" });
        return child;
      }),
    ]);
    const kb = await makeHarness(script, {}, { inline: SMALL });
    await kb.sync();
    while (await kb.database.writer.call<boolean>("settleWithheld", {}));
    const before = await kb.items();
    version = "2";
    await kb.sync();
    const between = await kb.items();
    expect(between.filter(({ aclId }) => aclId === 0).map(({ externalId }) => externalId)).toEqual(["1", "2", "3"]);
    while (await kb.database.writer.call<boolean>("settleWithheld", { items: 1 }));
    const after = await kb.items();
    expect(new Set(after.map(({ aclId }) => aclId)).size).toBe(1);
    expect(after[0]?.aclId).not.toBe(before[0]?.aclId);
  });
});

/** Compacts everything that is due, on its own connection; the writer is idle meanwhile. */
function compactIndex(file: string): void {
  const connection = openWriter(file, "normal");
  const index = makeIndexWriter(connection.raw);
  while (index.nextCompactionSlice(WORKSPACE));
  connection.close();
}
