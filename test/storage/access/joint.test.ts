import { describe, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { meetsEvery } from "#storage/access/decision.ts";
import { makeVisibleCache } from "#storage/policy/visible.ts";
import type { Principal } from "#core/principals.ts";
import type { HitPosition, SearchIndex, Matching } from "#storage/search-index.ts";
import { idFor, NOW } from "../../leaks/model.ts";
import { makeWorld, upsertOf } from "./fixtures.ts";
import { ACCESSES, SETS } from "./small-worlds.ts";

const CONNECTOR = idFor("connector", "joint");

describe("one item for every access", () => {
  test("the index finds exactly what the decision, the store and the kept visible set open", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    await world.connector(wsp, { connectorId: CONNECTOR, providerId: "push" });
    const gate = `group:connector:${CONNECTOR}`;
    const { itemWrites, items, access } = world.store.in(wsp);
    const kbIds = ACCESSES.map((_, i) => idFor("item", `joint ${i}`));
    const ops = ACCESSES.map((all, i) =>
      upsertOf(kbIds[i] ?? "", { title: `joint number ${i}`, access: { known: true, all } }),
    );
    await itemWrites.applyBatch({ connectorId: CONNECTOR, always: [gate], highest: 0, now: NOW, ops });
    const index = makeSearchPool({ file: world.database.file, size: 0 });
    const aclOf = new Map((await items.accessOf(kbIds)).map((item) => [item.kbId, item.aclId]));
    const cache = makeVisibleCache();
    for (const held of SETS) {
      for (const principals of [[gate, ...held].sort(), held]) {
        const set = new Set(principals);
        const expected = kbIds.filter(
          (_, i) => meetsEvery([...(ACCESSES[i] ?? []), [gate]], set) && ACCESSES[i]?.length,
        );
        const found = await searchAll(index, wsp, principals);
        expect(found.kbIds.sort(), principals.join()).toEqual([...expected].sort());
        expect(found.total).toBe(expected.length);
        const bySql = await access.visibleOf([...aclOf.values()], principals);
        const byCache = await cache.of(access, principals);
        for (const verdict of [bySql, byCache]) {
          expect(kbIds.filter((kbId) => verdict.has(aclOf.get(kbId) ?? 0))).toEqual(expected);
        }
      }
    }
    await index.close();
  });
});

async function searchAll(index: SearchIndex, workspaceId: string, principals: Principal[]) {
  const kbIds: string[] = [];
  let after: { position: HitPosition; match: Matching } | undefined;
  for (;;) {
    const answer = await index.search({
      workspaceId,
      viewer: { principals, epoch: 1 },
      query: "joint",
      filters: {},
      order: "relevance",
      limit: 200,
      ...(after && { after }),
    });
    kbIds.push(...answer.hits.map((hit) => hit.kbId));
    const last = answer.hits.at(-1);
    if (!answer.hasMore || !last) return { kbIds, total: answer.total };
    after = { position: last.position, match: answer.match };
  }
}
