import { expect, test } from "vitest";
import { makeKit } from "../mcp/kit.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;

test("names, keys and places that are stored are masked when a workspace wants it, and the item is found as before", async () => {
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
  await kb.as(user).patch("/api/workspace", { secrets: "index" });
  await kb.deps.worker.runUntilIdle();
  expect(await stored()).toContain(SECRET);
  await kb.as(user).patch("/api/workspace", { secrets: "mask" });
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
