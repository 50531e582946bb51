import { expect, test } from "vitest";
import { makeKnown } from "#server/sync/known.ts";
import { CONNECTOR, makeHarness, upsert, WORKSPACE } from "./harness.ts";

/** A store with these items, and a count of the rows that were read of it. */
async function makeStored(ids: readonly string[]) {
  const kb = await makeHarness(() => [
    ...ids.map((id) => upsert(id, `text of ${id}`)),
    { t: "end", listing: "complete", permissions: "current" },
  ]);
  await kb.sync();
  const { itemWrites } = kb.store.in(WORKSPACE);
  let rows = 0;
  const count = <Row>(page: Row[]): Row[] => {
    rows += page.length;
    return page;
  };
  const known = makeKnown(
    {
      listStored: async (connectorId, after, limit) => count(await itemWrites.listStored(connectorId, after, limit)),
      listStoredOf: async (connectorId, externalIds) => count(await itemWrites.listStoredOf(connectorId, externalIds)),
    },
    CONNECTOR,
  );
  return { known, rows: () => rows };
}

test("a run that asks for some items reads these, and no more the more there are", async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `f${String(i).padStart(3, "0")}`);
  const { known, rows } = await makeStored(ids);
  expect(known.versionOf("f007")).toBeUndefined();
  await known.load(["f007", "f299", "gone"]);
  expect(["f007", "f299", "f008", "gone"].map((id) => known.versionOf(id) !== undefined)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(rows()).toBeLessThan(50);
  expect(known.name("f007")).toMatchObject({ externalId: "f007" });
  await known.load();
  expect(known.listUnnamed()).toHaveLength(299);
  const before = rows();
  await known.load(["f010"]);
  expect(rows()).toBe(before);
});
