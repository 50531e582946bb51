import { expect, test } from "vitest";
import { CONNECTOR, end, item, makeHarness, upsert, WORKSPACE } from "./harness.ts";

test("a child stored before it had an access of its own is no one's until it is reported again", async () => {
  const { access: _none, ...rest } = item("child", "word");
  const child = { t: "upsert", item: { ...rest, partOf: "parent" } } as const;
  const kb = await makeHarness(() => [upsert("parent", "word"), child, end()]);
  const { itemWrites } = kb.store.in(WORKSPACE);
  await kb.sync();
  const untold = { ownAclId: -1, aclId: 0, version: null, indexState: "unsearchable" } as const;
  await kb.database.write.updateTable("items").set(untold).where("externalId", "=", "child").execute();
  expect(await itemWrites.countHiddenChildren(CONNECTOR)).toEqual({ parentMissing: 0, awaitingPush: 1 });

  await kb.sync("full");
  const rows = Object.fromEntries((await kb.items()).map((row) => [row.externalId, row]));
  expect(rows["child"]).toMatchObject({ aclId: rows["parent"]?.aclId, indexState: "indexed" });
  expect(await itemWrites.countHiddenChildren(CONNECTOR)).toEqual({ parentMissing: 0, awaitingPush: 0 });
});
