import { test } from "vitest";
import { makeStore } from "#storage/records/store.ts";
import { openReader } from "#storage/sqlite.ts";
import { makeWorld } from "../access/fixtures.ts";

test("links by hand come from their indexes, never from a walk over all links", async ({ expect }) => {
  const world = await makeWorld();
  const { database } = world;
  let asked: { sql: string; parameters: readonly unknown[] } | undefined;
  const executor = database.read.getExecutor();
  const read = database.read.withPlugin({
    transformQuery: ({ node }) => {
      const { sql, parameters } = executor.compileQuery(node, { queryId: "1" });
      asked = { sql, parameters };
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const { ties } = makeStore({ ...database, read }).in(await world.workspace());
  const connection = openReader(database.file);
  const searches: string[][] = [];
  for (const list of [ties.listOf, ties.listAfter, ties.listLatest]) {
    await list("usr_one", 0);
    const { rows } = connection.execute(`explain query plan ${asked?.sql}`, asked?.parameters ?? []);
    searches.push(rows.map(({ detail }) => String(detail)).filter((row) => row.startsWith("SEARCH")));
  }
  connection.close();
  const ofUser = "USING COVERING INDEX identity_joins_by_user (workspaceId=? AND userId=?";
  expect(searches).toEqual([
    [`SEARCH j ${ofUser} AND basis=? AND joinedAt>?)`],
    [
      `SEARCH f ${ofUser})`,
      "SEARCH j USING PRIMARY KEY (workspaceId=? AND principal=?)",
      "SEARCH o USING PRIMARY KEY (workspaceId=? AND principal=?)",
    ],
    ["SEARCH j USING COVERING INDEX identity_joins_by_hand (workspaceId=? AND joinedAt>?)"],
  ]);
});
