import { DatabaseSync } from "@photostructure/sqlite";
import { describe, onTestFinished, test } from "vitest";
import { meetsEvery } from "#storage/access/decision.ts";
import { makeVisibleCache } from "#storage/policy/visible.ts";
import { makeAccessCheck } from "#storage/index/read/excerpts.ts";
import { makeStatements } from "#storage/index/sqlite.ts";
import { internAll, internIn } from "./intern.ts";
import { makeWorld } from "./fixtures.ts";
import { ACCESSES, isOpenByTheBook, SETS } from "./small-worlds.ts";

describe("every access of at most three lists over three principals", () => {
  test("the decision, the re-checks of store and search and the kept visible set agree for all eight actors", async ({
    expect,
  }) => {
    const world = await makeWorld();
    const workspaceId = await world.workspace();
    const { access } = world.store.in(workspaceId);
    const aclIds = internAll(
      world.database,
      workspaceId,
      ACCESSES.map((all) => ({ known: true, all })),
    );
    const cache = makeVisibleCache();
    const db = new DatabaseSync(world.database.file, { readOnly: true });
    onTestFinished(() => db.close());
    const sql = makeStatements(db);
    let checked = 0;
    for (const held of SETS) {
      const bySql = await access.visibleOf(aclIds, held);
      const byCache = await cache.of(access, held);
      const inSearch = makeAccessCheck(sql, { workspaceId, viewer: { principals: held, epoch: 0 } });
      for (const [i, lists] of ACCESSES.entries()) {
        const expected = isOpenByTheBook(lists, held);
        const aclId = aclIds[i] ?? 0;
        const verdicts = [meetsEvery(lists, new Set(held)), bySql.has(aclId), byCache.has(aclId), inSearch(aclId)];
        if (verdicts.some((verdict) => verdict !== expected)) {
          expect.fail(`${JSON.stringify(lists)} for ${JSON.stringify(held)}: ${verdicts.join()} and not ${expected}`);
        }
        checked++;
      }
    }
    expect(checked).toBe(8 * 585);
  });

  test("a kept visible set takes in accesses that came later, lists of its principals included", async ({ expect }) => {
    const world = await makeWorld();
    const workspaceId = await world.workspace();
    const { access } = world.store.in(workspaceId);
    const intern = (...all: string[][]) => internIn(world.database, workspaceId, { known: true, all });
    const cache = makeVisibleCache();
    const first = intern(["user:a"]);
    expect((await cache.of(access, ["user:a"])).has(first)).toBe(true);
    const second = intern(["user:a", "user:z"], ["user:a"]);
    const closed = intern(["user:z"], ["user:a"]);
    const seen = await cache.of(access, ["user:a"]);
    expect([first, second, closed, 0].map((aclId) => seen.has(aclId))).toEqual([true, true, false, false]);
  });

  test("a cache that is full forgets the least recently used and answers the same", async ({ expect }) => {
    const world = await makeWorld();
    const workspaceId = await world.workspace();
    const { access } = world.store.in(workspaceId);
    const intern = (...all: string[][]) => internIn(world.database, workspaceId, { known: true, all });
    const cache = makeVisibleCache(200);
    const aclId = intern(["user:a"]);
    for (let round = 0; round < 2; round++) {
      for (const name of ["a", "b", "c", "d"]) {
        expect((await cache.of(access, [`user:${name}`])).has(aclId)).toBe(name === "a");
      }
    }
  });
});
