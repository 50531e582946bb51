import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredItem } from "#storage/records/stored-items.ts";
import { makeItemCache } from "#server/sync/run/item-cache.ts";
import { CONNECTOR, makeHarness, upsert, WORKSPACE } from "../harness.ts";

/** A store with these items; `read` gives what is known of it, with a count of the rows that were read for it. */
async function makeStored(ids: readonly string[]) {
  const kb = await makeHarness(() => [
    ...ids.map((id) => upsert(id, `text of ${id}`)),
    { t: "end", listing: "complete", permissions: "current" },
  ]);
  await kb.sync();
  const { itemWrites } = kb.store.in(WORKSPACE);
  return {
    read() {
      let [rows, queries] = [0, 0];
      const count = <Row>(page: Row[]): Row[] => {
        rows += page.length;
        queries++;
        return page;
      };
      const known = makeItemCache(
        {
          listStored: async (id, after, limit) => count(await itemWrites.listStored(id, after, limit)),
          listStoredFrom: async (id, from, limit) => count(await itemWrites.listStoredFrom(id, from, limit)),
          listStoredOf: async (id, externalIds) => count(await itemWrites.listStoredOf(id, externalIds)),
        },
        CONNECTOR,
      );
      return { known, rows: () => rows, queries: () => queries };
    },
  };
}

test("a run that asks for some items reads these, and no more the more there are", async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `f${String(i).padStart(3, "0")}`);
  const { known, rows } = (await makeStored(ids)).read();
  expect(known.versionOf("f007")).toBeUndefined();
  await known.load(["f007", "f299", "gone"]);
  expect(["f007", "f299", "f008", "gone"].map((id) => known.versionOf(id) !== undefined)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(rows()).toBeLessThan(50);
  expect(known.find("f007")).toMatchObject({ externalId: "f007" });
  await known.loadAll();
  expect(known.find("f123")).toMatchObject({ externalId: "f123" });
  const before = rows();
  await known.load(["f010"]);
  expect(rows()).toBe(before);
});

test("who asks for versions in the order of the ids pays few queries, who asks here and there few rows", async () => {
  const ids = Array.from({ length: 3_000 }, (_, i) => `d${i % 3}/f${String(i).padStart(4, "0")}`).sort();
  const stored = await makeStored(ids);
  const inOrder = stored.read();
  for (const id of ids) expect(await inOrder.known.version(id)).toMatch(/./);
  expect(inOrder.queries()).toBeLessThan(20);
  expect(inOrder.rows()).toBeLessThan(4_000);
  const scattered = stored.read();
  for (let i = 0; i < 30; i++) await scattered.known.version(ids[(i * 997) % ids.length] ?? "");
  expect(scattered.rows()).toBeLessThan(1_000);
});

test("knows each item, in any order of asking and of characters, and its child items", async () => {
  const odd = ["a", "a ", "a!", "a!//x", "a/b", "é", "\ue000", "\uffff", "😀", "😀/x", "zz"];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...odd, "none", "b", "😀😀"), { maxLength: 30 }), async (asked) => {
      const rows = [...odd].sort(byBytes).map((externalId) => row(externalId));
      const from = (at: string, isAfter: boolean, limit: number) =>
        rows.filter(({ externalId }) => byBytes(externalId, at) > (isAfter ? 0 : -1)).slice(0, limit);
      const known = makeItemCache(
        {
          listStored: async (_, after, limit) => from(after, true, limit),
          listStoredFrom: async (_, at, limit) => from(at, false, limit),
          listStoredOf: async (_, some) => rows.filter(({ externalId }) => some.includes(externalId)),
        },
        CONNECTOR,
      );
      for (const id of asked) {
        expect([id, await known.version(id)]).toEqual([id, odd.includes(id) ? `v ${id}` : undefined]);
        await known.load([id]);
        expect(known.find(id)?.externalId).toBe(odd.includes(id) ? id : undefined);
        if (id === "a") expect(known.childrenOf(id).map(({ externalId }) => externalId)).toEqual(["a!//x"]);
      }
    }),
  );
});

function row(externalId: string): StoredItem {
  const rest = {
    indexState: "indexed",
    isRetryable: false,
    seenBy: null,
    parentExternalId: null,
    wasReadElsewhere: false,
    hasText: true,
    formerSince: null,
  } as const;
  return { kbId: externalId, externalId, version: `v ${externalId}`, ...rest };
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
