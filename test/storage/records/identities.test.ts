import { test } from "vitest";
import { endJoinsOf } from "#storage/records/identities.ts";
import { openReader } from "#storage/sqlite.ts";
import { makeWorld } from "../access/fixtures.ts";

test("a member's joins end by their own rows, never by a walk over all joins", async ({ expect }) => {
  const world = await makeWorld();
  const { database } = world;
  const workspaceId = await world.workspace();
  const asked: { sql: string; parameters: readonly unknown[] }[] = [];
  const executor = database.write.getExecutor();
  const write = database.write.withPlugin({
    transformQuery: ({ node }) => {
      const { sql, parameters } = executor.compileQuery(node, { queryId: "1" });
      asked.push({ sql, parameters });
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await endJoinsOf({ ...database, write }, { workspaceId, userId: "usr_one", at: 1 });

  const connection = openReader(database.file);
  const plans = asked.map(({ sql, parameters }) => connection.execute(`explain query plan ${sql}`, parameters).rows);
  connection.close();
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan.map(({ detail }) => detail)).toEqual([
      "SEARCH identity_joins USING PRIMARY KEY (workspaceId=? AND principal=? AND userId=?)",
      "LIST SUBQUERY 1",
      "SEARCH j USING COVERING INDEX identity_joins_by_user (workspaceId=? AND userId=?)",
    ]);
  }
});
