import { test } from "vitest";
import { makeKit } from "../mcp/kit.ts";

test("a name that several have lists them with what tells them apart, and nothing that this reader can't see", async ({
  expect,
}) => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId);
  const person = (id: string, email: string) => ({
    name: "Anna Keller",
    principal: `user:push:t:${id}`,
    email,
    claimed: false,
  });
  await kb.addItems(owner, [
    { title: "One", source: "push:web", author: person("a", "anna@web.test") },
    { title: "Two", source: "push:docs", author: person("b", "anna@docs.test") },
    { title: "Three", source: "push:board", author: person("c", "anna@board.test"), readers: [`user:${owner.userId}`] },
  ]);
  const { status, json } = await kb.as(member).get("/api/entities/Anna%20Keller");
  expect(status).toBe(404);
  const lines = json.detail.split("\n");
  expect(lines[0]).toBe("2 entities could be meant:");
  expect(lines.slice(1).toSorted((a: string, b: string) => (a.slice(24) < b.slice(24) ? -1 : 1))).toEqual([
    expect.stringMatching(/^ {2}ent_\w{16} {2}person {2}Anna Keller <anna@docs\.test> {2}in push:docs$/),
    expect.stringMatching(/^ {2}ent_\w{16} {2}person {2}Anna Keller <anna@web\.test> {2}in push:web$/),
  ]);
  expect(json.hint).toMatch(/^Choose one by its ID: kb entities show ent_\w{16}$/);
  const unknown = await kb.as(member).get("/api/entities/Zeus");
  expect(unknown.json).toMatchObject({ status: 404, hint: "Look for part of the name: kb entities search NAME" });
});
