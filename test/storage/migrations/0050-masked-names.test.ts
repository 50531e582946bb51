import { test } from "vitest";
import { up } from "#storage/migrations/0050-masked-names.ts";
import { makeKit } from "../../server/mcp/kit.ts";
import { runMigration } from "./run.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;

/** An item as a kb before this one has stored it: of its names nothing was taken out. */
async function makeOldServer() {
  const kb = await makeKit();
  const user = await kb.addOwner();
  const person = { name: `Ana ${SECRET}`, claimed: false, login: "ana" };
  await kb.addItems(user, [
    {
      title: "Harbour notes",
      text: "Tides of the harbour",
      key: `K ${SECRET}.md`,
      source: `push:${SECRET}`,
      author: person,
      assignees: [person],
      containers: [{ type: "folder", id: "f", name: `Folder ${SECRET}` }],
    },
  ]);
  const { read } = kb.database;
  const stored = async () =>
    JSON.stringify([
      await read.selectFrom("items").select(["key", "source", "author", "assignees"]).execute(),
      await read.selectFrom("item_entities").select(["name", "nameKey", "login"]).execute(),
    ]);
  return { kb, user, stored };
}

test("names, keys and places that were stored before are masked once, and the item is found as before", async ({
  expect,
}) => {
  const { kb, user, stored } = await makeOldServer();
  expect(await stored()).toContain(SECRET);
  await runMigration(kb.database.file, up);
  // The job is due by the machine's clock; that of a test stands elsewhere.
  await kb.database.write.updateTable("jobs").set({ runAt: 0 }).execute();
  await kb.deps.worker.runUntilIdle();
  const after = await stored();
  expect(after.toLowerCase()).not.toContain(SECRET.toLowerCase());
  expect(after).toContain("Ana [removed: github token]");
  expect(after).toContain("Folder [removed: github token]");
  const named = await kb.tool(user, "kb_search_entities", { query: "ana" });
  expect(named.text).toContain("Ana [removed: github token]");
  expect((await kb.tool(user, "kb_search", { query: "tides" })).titles).toEqual(["Harbour notes"]);
  const files = await kb.as(user).get("/api/connectors/all-files");
  expect(JSON.stringify(files.json)).not.toContain(SECRET);
});

test("stays where the workspace has secrets indexed", async ({ expect }) => {
  const { kb, stored } = await makeOldServer();
  await kb.database.write.updateTable("workspaces").set({ secrets: "index" }).execute();
  await runMigration(kb.database.file, up);
  // The job is due by the machine's clock; that of a test stands elsewhere.
  await kb.database.write.updateTable("jobs").set({ runAt: 0 }).execute();
  await kb.deps.worker.runUntilIdle();
  expect(await stored()).toContain(SECRET);
});
