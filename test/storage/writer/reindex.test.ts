import { test } from "vitest";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import { openWriter } from "#storage/sqlite.ts";
import { makeReindex } from "#storage/writer/reindex.ts";
import { makeKit } from "../../server/mcp/kit.ts";

test("an index of another analyzer is rebuilt from the stored texts, and answers meanwhile", async ({ expect }) => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const titles = Array.from({ length: 40 }, (_, n) => ({
    title: `Note ${n}`,
    text: "written before",
    labels: ["old"],
  }));
  await kb.addItems(owner, titles);
  const actor = await kb.actor(owner);
  const total = async (query: string) => (await kb.deps.search.search(actor, { query, limit: 10 })).total;
  expect([await total("before"), await total("afterwards")]).toEqual([40, 0]);

  // What only a new analysis of the stored text can find.
  const { writer } = kb.database;
  const run = (sql: string) => writer.request({ type: "execute", sql, parameters: [] });
  await run("update item_texts set text = 'written afterwards'");
  await run(`update items set fields = '{"stage":"draft"}'`);
  await run("update index_state set analyzerVersion = 0");

  const connection = openWriter(kb.database.file, "normal");
  const slice = makeReindex(connection, makeIndexWriter(connection.raw), 0);
  for (let n = 0; n < 10; n++) slice();
  expect(await total("before")).toBe(40);
  while (slice());
  expect([await total("before"), await total("afterwards"), await total("note")]).toEqual([0, 40, 40]);
  expect(await total("note stage:draft")).toBe(40);
  expect(makeReindex(connection, makeIndexWriter(connection.raw))()).toBe(false);
  connection.close();
});
