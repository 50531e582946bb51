import { expect, test } from "vitest";
import { pushed } from "../connectors/server.ts";
import { makePushServer } from "../connectors/push-harness.ts";

test("a hit whose access can't be read is hidden, and the others are shown", async () => {
  const kb = await makePushServer();
  const few = [`user:${kb.owner.userId}`, `user:${kb.member.userId}`];
  await kb.push([
    pushed("all", { text: "harbour" }),
    pushed("few", { text: "harbour", access: { known: true, all: [few] } }),
  ]);
  const found = async () => {
    const { json } = await kb.as(kb.member).get("/api/connectors/search?query=harbour");
    return json.results.map(({ title }: { title: string }) => title).toSorted();
  };
  const both = await found();
  expect(both).toHaveLength(2);
  const { numUpdatedRows } = await kb.database.write
    .updateTable("access_lists")
    .set({ principals: "5" })
    .where("principals", "=", JSON.stringify(few.toSorted()))
    .executeTakeFirstOrThrow();
  expect(numUpdatedRows).toBe(1n);
  expect(await found()).toEqual(both.filter((title: string) => title.includes("all")));
});
