import { test } from "vitest";
import { makeStore } from "#storage/records/store.ts";
import { openReader } from "#storage/sqlite.ts";
import { makeWorld } from "../access/fixtures.ts";

test("the groups of many principals come from the index by member alone, never from a walk over all memberships", async ({
  expect,
}) => {
  const world = await makeWorld();
  const { database } = world;
  const workspaceId = await world.workspace();
  const asked: { sql: string; parameters: readonly unknown[] }[] = [];
  const executor = database.read.getExecutor();
  const read = database.read.withPlugin({
    transformQuery: ({ node }) => {
      const { sql, parameters } = executor.compileQuery(node, { queryId: "1" });
      asked.push({ sql, parameters });
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const { access } = makeStore({ ...database, read }).in(workspaceId);
  const principals = Array.from({ length: 500 }, (_, n) => `group:grp_${n}` as const);
  await access.setMembers("group:grp_outer", principals, "kb");
  expect(await access.expand(principals)).toContain("group:grp_outer");

  const connection = openReader(database.file);
  const plans = asked
    .filter(({ sql }) => sql.includes("memberships"))
    .map(({ sql, parameters }) => connection.execute(`explain query plan ${sql}`, parameters).rows);
  connection.close();
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    expect(plan.map(({ detail }) => detail)).toEqual([
      "SEARCH memberships USING COVERING INDEX memberships_by_member (workspaceId=? AND memberPrincipal=?)",
    ]);
  }
});
