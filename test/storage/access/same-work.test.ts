import { test } from "vitest";
import { makePolicy } from "#storage/policy/policy.ts";
import { explainAccess } from "#storage/policy/explain.ts";
import { makeStore } from "#storage/records/store.ts";
import { readItem } from "#server/files/content.ts";
import { makeWorld } from "./fixtures.ts";

test("an item that is not there takes the same statements as one that is hidden or removed", async ({ expect }) => {
  const world = await makeWorld();
  const workspaceId = await world.workspace();
  const ana = await world.user(workspaceId);
  const connectorId = await world.connector(workspaceId);
  const hidden = await world.item(workspaceId, { connectorId, access: { known: true, all: [["user:x"]] } });
  const removed = await world.item(workspaceId, { connectorId, removedAt: 1 });
  const nobodys = await world.item(workspaceId, { connectorId, access: { known: false } });

  const statements: string[] = [];
  const { database } = world;
  const executor = database.read.getExecutor();
  const read = database.read.withPlugin({
    transformQuery: ({ node }) => {
      statements.push(executor.compileQuery(node, { queryId: "1" }).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const store = makeStore({ ...database, read });
  const policy = makePolicy({ store, clock: world.clock, ages: () => false });
  const workOf = async (ask: (kbId: string) => Promise<unknown>, kbId: string) => {
    statements.length = 0;
    await expect(ask(kbId)).rejects.toMatchObject({ code: "not_found" });
    // How many lists an access has is a parameter, not another statement.
    return statements.map((sql) => sql.replaceAll(/\((?:\?, )*\?\)/g, "(…)"));
  };
  const asks = [
    (kbId: string) => readItem(policy, ana, kbId, async () => undefined),
    (kbId: string) => explainAccess({ store, policy }, ana, kbId),
  ];
  for (const ask of asks) {
    await workOf(ask, "kbi_warm");
    const first = await workOf(ask, hidden);
    expect(first.length).toBeGreaterThan(2);
    for (const kbId of ["kbi_nothing", removed, nobodys]) expect(await workOf(ask, kbId)).toEqual(first);
  }
});
