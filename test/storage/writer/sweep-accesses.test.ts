import { facts } from "../facts.ts";
import * as fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import { meetsEvery } from "#storage/access/decision.ts";
import { makeVisibleCache } from "#storage/policy/visible.ts";
import { decodeAccesses } from "#storage/index/visibility/access-chunks.ts";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { lowOf } from "#storage/index/schema.ts";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import { openWriter } from "#storage/sqlite.ts";
import { makeApplyBatch } from "#storage/batch/batch.ts";
import { makePurgeItems } from "#storage/writer/purge.ts";
import { makeAccessSweeper } from "#storage/writer/sweep-accesses.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { Principal } from "#core/principals.ts";
import type { ItemOp, PreparedItem } from "#storage/item-batch.ts";
import { CONNECTOR, end, makeHarness, upsert, WORKSPACE } from "../../server/sync/harness.ts";
import { TINY_LIMITS } from "../index/world.ts";
import { runs } from "../../runs.ts";

const GATE = `group:connector:${CONNECTOR}`;
const PRINCIPALS = ["user:a", "user:b", "user:c"];
const SETS: Principal[][] = Array.from({ length: 8 }, (_, bits) => PRINCIPALS.filter((_p, i) => bits & (1 << i)));
const ACCESSES: Principal[][][] = [[], ...SETS.map((a) => [a]), ...SETS.flatMap((a) => SETS.map((b) => [a, b]))];
const NOW = 1_800_000_000_000;

/** The writer's procedures on a connection of their own, with an index that compacts after a few rows. */
async function makeWorld() {
  const { database, store } = await makeHarness(() => []);
  const connection = openWriter(database.file, "normal");
  const index = makeIndexWriter(connection.raw, { limits: TINY_LIMITS });
  const sweeper = makeAccessSweeper(connection, index);
  const applyBatch = makeApplyBatch(connection, index, (workspaceId, aclId) => sweeper.note(workspaceId, aclId));
  const purgeItems = makePurgeItems(connection, index);
  const pools = [makeSearchPool({ file: database.file, size: 0 })];
  onTestFinished(async () => {
    for (const pool of pools) await pool.close();
    connection.close();
  });
  const rows = (sql: string) => connection.execute(sql, []).rows;
  const found = async (pool: (typeof pools)[number], principals: Principal[]) => {
    const request = { workspaceId: WORKSPACE, viewer: { principals, epoch: 1 }, query: "word", filters: {} } as const;
    return (await pool.search({ ...request, order: "relevance", limit: 200 })).hits.map((hit) => hit.kbId).sort();
  };
  return {
    store,
    apply: (ops: ItemOp[]) =>
      applyBatch({
        workspaceId: WORKSPACE,
        batch: { connectorId: CONNECTOR, always: [GATE], highest: 1_000, now: NOW, ops },
      }),
    purge: () => purgeItems({ workspaceId: WORKSPACE, removedBefore: NOW + 1, limit: 100 }),
    compact: () => index.nextCompactionSlice(WORKSPACE),
    sweep: (slice: { page?: number; steps?: number } = {}) => sweeper.run({ workspaceId: WORKSPACE, ...slice }),
    numbers: (table: string, column: string) =>
      rows(`select ${column} from ${table}`).map((row) => Number(row[column])),
    lists: () => rows("select listIds from accesses").flatMap((row) => String(row["listIds"]).split(",").map(Number)),
    rows,
    /** Accesses in the index's own copy. */
    chunked: () =>
      connection.raw
        .prepare("select id, data from index_acl_chunks")
        .all()
        .flatMap(({ id, data }) => [...decodeAccesses(data).codes].map((code, at) => (code === 0 ? 0 : lowOf(id) + at)))
        .filter((aclId) => aclId > 0),
    found,
    pool: pools[0] as (typeof pools)[number],
    freshPool() {
      const pool = makeSearchPool({ file: database.file, size: 0 });
      pools.push(pool);
      return pool;
    },
  };
}

describe("accesses that nothing has any more", () => {
  const id = fc.integer({ min: 0, max: 9 });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("put" as const), id, access: fc.nat(ACCESSES.length - 1) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("part" as const), id, parent: id }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("acl" as const), id, access: fc.nat(ACCESSES.length - 1) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), id }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("purge" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant("sweep" as const), steps: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("ask" as const) }) },
  );

  test("go, and only they, whatever is written between two slices", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const kb = await makeWorld();
        const cache = makeVisibleCache();
        const given = new Map<number, string>();
        for (const each of steps) {
          if (each.do === "put") await kb.apply([put(each.id, ACCESSES[each.access])]);
          if (each.do === "part") await kb.apply([put(each.id, [["user:a"]], `${each.parent}`)]);
          if (each.do === "acl")
            await kb.apply([{ type: "access", externalId: `${each.id}`, access: open(each.access) }]);
          if (each.do === "delete") await kb.apply([{ type: "delete", externalId: `${each.id}`, subtree: false }]);
          if (each.do === "purge") kb.purge();
          if (each.do === "compact") kb.compact();
          if (each.do === "sweep") kb.sweep({ page: 2, steps: each.steps });
          if (each.do === "ask") await check(kb.pool);
          // A number keeps its meaning for ever.
          for (const row of kb.rows("select aclId, listIds from accesses")) {
            const aclId = Number(row["aclId"]);
            expect(given.get(aclId) ?? row["listIds"]).toBe(row["listIds"]);
            given.set(aclId, String(row["listIds"]));
          }
        }
        while (!kb.sweep({ page: 2 }).isDone);
        while (!kb.sweep().isDone);
        const used = new Set(
          [...kb.numbers("items", "aclId"), ...kb.numbers("items", "ownAclId")].filter((aclId) => aclId !== 0),
        );
        expect(new Set(kb.numbers("accesses", "aclId"))).toEqual(used);
        expect(new Set(kb.numbers("access_lists", "listId"))).toEqual(new Set(kb.lists()));
        expect(new Set(kb.numbers("access_list_principals", "listId"))).toEqual(new Set(kb.lists()));
        const numbered = kb.numbers("access_principals", "principalNo");
        expect(new Set(kb.numbers("access_list_principals", "principalNo"))).toEqual(new Set(numbered));
        const named = kb.rows("select distinct value from access_lists, json_each(principals) order by value");
        expect(kb.rows("select principal as value from access_principals order by principal")).toEqual(named);
        expect(kb.chunked().filter((aclId) => !used.has(aclId))).toEqual([]);
        await check(kb.pool);
        await check(kb.freshPool());
        while (kb.compact());
        await check(kb.freshPool());

        /** The index, the store and what was kept of both open the same items as the records say. */
        async function check(pool: typeof kb.pool): Promise<void> {
          const living = kb.rows("select kbId, aclId from items where removedAt is null order by kbId");
          const { access } = kb.store.in(WORKSPACE);
          for (const held of SETS) {
            const principals = [GATE, ...held].sort();
            const visible = new Set<string>();
            for (const { kbId, aclId } of living) {
              const lists = await access.listsOf(Number(aclId));
              expect(lists.length > 0).toBe(aclId !== 0);
              if (meetsEvery(lists, new Set(principals))) visible.add(String(kbId));
            }
            const kept = await cache.of(access, principals);
            expect(living.filter((row) => kept.has(Number(row["aclId"]))).map((row) => row["kbId"])).toEqual([
              ...visible,
            ]);
            expect(await kb.found(pool, principals)).toEqual([...visible]);
          }
        }
      }),
      { numRuns: runs(6) },
    );
  });

  test("a slice that fails leaves nothing half, and the next one starts over", async ({ expect }) => {
    const kb = await makeWorld();
    await kb.apply([put(1, [["user:a"]]), put(2, [["user:b"]])]);
    await kb.apply([{ type: "delete", externalId: "1", subtree: false }]);
    kb.purge();
    kb.rows("create temp trigger stop before delete on accesses begin select raise(abort, 'disk'); end");
    expect(() => kb.sweep()).toThrow("disk");
    expect(kb.numbers("accesses", "aclId")).toHaveLength(2);
    kb.rows("drop trigger stop");
    // As many slices as the machine takes.
    const gone = { accesses: 0, lists: 0 };
    for (let isDone = false; !isDone;) {
      const slice = kb.sweep();
      isDone = slice.isDone;
      gone.accesses += slice.accesses;
      gone.lists += slice.lists;
    }
    expect(gone).toEqual({ accesses: 1, lists: 1 });
    expect(kb.numbers("accesses", "aclId")).toEqual([2]);
  });

  test("go once a day, by a job", async ({ expect }) => {
    let names = ["user:usr_2222222222222222", "user:usr_3333333333333333"];
    const kb = await makeHarness(() => [
      ...names.map((name) => upsert(name, "text", { access: { known: true, all: [[name]] } })),
      end(),
    ]);
    // Else runs come by themselves to prove what was mirrored, and each leaves an access with its clock.
    kb.source.spec.acl = "connector";
    await kb.sync();
    names = names.slice(1);
    await kb.sync("full");
    const accesses = () => kb.database.read.selectFrom("accesses").select("aclId").execute();
    kb.clock.now += 7 * 3_600_000;
    await kb.worker.runUntilIdle();
    // The removed item may be restored.
    expect(await accesses()).toHaveLength(2);
    kb.clock.now += 8 * 24 * 3_600_000;
    await kb.worker.runUntilIdle();
    kb.clock.now += 25 * 3_600_000;
    await kb.worker.runUntilIdle();
    expect(await accesses()).toEqual([{ aclId: 2 }]);
  });
});

function open(access: number): PreparedItem["access"] {
  return { known: true, all: ACCESSES[access] ?? [] };
}

function put(number: number, all: Principal[][] = [], parent: string | null = null): ItemOp {
  const title = `word ${number}`;
  const item: PreparedItem = {
    newKbId: `kbi_${String(number).padStart(16, "2")}`,
    externalId: `${number}`,
    parentExternalId: parent === `${number}` ? null : parent,
    identityHint: null,
    providerId: "fake",
    source: "fake:things",
    // Their order by date is another one than by id, and some have no date.
    ...facts({ title, updatedAt: number % 3 === 0 ? null : NOW - number }),
    url: null,
    lineAnchor: null,
    version: "1",
    entities: [],
    access: { known: true, all },
    text: {
      state: "text",
      text: title,
      textHash: `${number}`,
      sections: [],
      analyzed: analyzeDocument({ title, path: [], labels: [], text: title }),
    },
    maskedSecrets: 0,
    indexHash: `${number} ${parent}`,
  };
  return { type: "upsert", item };
}
