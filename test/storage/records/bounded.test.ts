import { test } from "vitest";
import { openTestStore, testTablesOfWorkspaces } from "../../helpers.ts";
import { boundedQueries } from "../../bounded-queries.ts";

test("a query that forgets the workspace fails the test it runs in", async ({ expect }) => {
  const { database } = await openTestStore();
  const read = database.read.withPlugin(boundedQueries(await testTablesOfWorkspaces()));
  const one = read.selectFrom("syncs").selectAll().where("syncId", "=", "syn_1");
  expect(() => one.compile()).toThrow();
  await expect(one.execute()).rejects.toThrow('A query of "syncs" by [syncId] names no workspace.');
  await expect(one.where("workspaceId", "=", "wsp_1").execute()).resolves.toEqual([]);
  const inside = read.selectFrom("workspaces").selectAll().where("workspaceId", "in", ["wsp_1"]);
  await expect(
    inside
      .where((eb) => eb.exists(eb.selectFrom("connections").select("name").where("connectionId", "=", "c")))
      .execute(),
  ).rejects.toThrow('"connections" by [connectionId]');
  const write = database.write.withPlugin(boundedQueries(await testTablesOfWorkspaces()));
  await expect(
    write.updateTable("connectors").set({ name: "x" }).where("connectorId", "=", "con_1").execute(),
  ).rejects.toThrow('"connectors" by [connectorId]');
});

test("queries of transactions and snapshots are watched too", async ({ expect }) => {
  const { database } = await openTestStore();
  const tables = await testTablesOfWorkspaces();
  expect(tables.size).toBeGreaterThan(50);
  for (const handle of [database.read, database.write]) {
    const work = handle.withPlugin(boundedQueries(tables)).transaction();
    const asked = work.execute((tx) => tx.selectFrom("items").select("kbId").where("externalId", "=", "a").execute());
    await expect(asked).rejects.toThrow('"items" by [externalId]');
  }
});
