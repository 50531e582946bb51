import { expect, test } from "vitest";
import { compiledQuery } from "#storage/compiled-query.ts";
import { openTestStore } from "../helpers.ts";

const FIND = compiledQuery((read, workspaceId: string, name: string | null, since: number) =>
  read
    .selectFrom("workspaces")
    .select(["name", "createdAt"])
    .where("workspaceId", "=", workspaceId)
    .where((eb) => eb.or([eb("name", "=", name), eb("createdAt", ">", since), eb("name", "=", "always")])),
);

test("a compiled query takes other arguments each time, wherever they stand, and in any transaction", async () => {
  const { store, database } = await openTestStore();
  const [one, other] = ["wsp_2222222222222222", "wsp_3333333333333333"];
  for (const [workspaceId, name] of [
    [one, "One"],
    [other, "always"],
  ] as const) {
    await store.workspaces.insert({ workspaceId, name, timeZone: "UTC", createdAt: 5 });
  }
  const find = async (...args: [string, string | null, number]) =>
    (await FIND(database.read, ...args)).map((row) => row.name);
  expect(await find(one, "One", 9)).toEqual(["One"]);
  expect(await find(one, "Two", 9)).toEqual([]);
  expect(await find(one, null, 4)).toEqual(["One"]);
  expect(await find(other, "One", 9)).toEqual(["always"]);
  await database.read.transaction().execute(async (tx) => expect(await FIND(tx, one, "One", 9)).toHaveLength(1));
});
