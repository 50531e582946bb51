import { expect, test } from "vitest";
import type { McpTool } from "#mcp-client/contract.ts";
import type { TestUser } from "../../helpers.ts";
import { type FakeMcp, makeProviderServer, URL_A } from "./server.ts";

const tool = (name: string, isReadOnly: boolean, pin = "1"): McpTool => ({
  name,
  inputSchema: { type: "object", properties: { with: {}, words: {}, other: {}, cursor: {} } },
  isReadOnly,
  pin,
});

/** Two members and an admin with a connection each, and everything that a tool was called with. */
async function makeWorld() {
  const calls: { name: string; args: object; who: string }[] = [];
  const notes: FakeMcp = {
    seen: [],
    tools: [tool("find", true), tool("look", true), tool("share", false)],
    accepts: ({ authorization }) => authorization?.startsWith("Bearer good") === true,
    call(name, args, { authorization = "" }) {
      calls.push({ name, args, who: authorization.replace("Bearer good-", "") });
      return { isError: false, content: [], structured: { results: [{ id: "1", title: "Alpha" }] } };
    },
  };
  const kb = await makeProviderServer({ servers: { [URL_A]: notes } });
  const { id } = await kb.addServer();
  const ids = new Map<string, string>();
  for (const user of [kb.admin, kb.anna, kb.ben]) {
    ids.set(user.userId, (await kb.connect(user, id)).json.connection.id);
  }
  const idOf = (user: TestUser) => ids.get(user.userId) ?? "";
  const map = (mapping: object | null, user = kb.admin) =>
    kb.as(user).request("PUT", `/api/mcp-servers/${id}/mapping`, { body: { mapping, connectionId: idOf(kb.admin) } });
  const mine = async (user: TestUser) =>
    (await kb.connectionsOf(user, id)).find((one: { id: string }) => one.id === idOf(user));
  const search = async (user: TestUser) => {
    calls.length = 0;
    const { live } = (await kb.as(user).get("/api/connectors/search?query=alpha&live=true")).json;
    return [live.connections[0]?.problem ?? null, calls.map(({ name }) => name)];
  };
  const agree = async (user: TestUser, at = user, agreement?: string) => {
    const body = { agreement: agreement ?? (await mine(user)).agreement ?? "none" };
    return kb.as(user).post(`/api/mcp-servers/${id}/connections/${idOf(at)}/agreement`, body);
  };
  const noticesOf = async (user: TestUser) => (await kb.as(user).get("/api/session")).json.notices;
  const audit = async () => (await kb.as(kb.owner).get("/api/audit?limit=50")).json.entries;
  return { ...kb, id, notes, calls, map, mine, search, agree, noticesOf, audit, idOf };
}

const FIND = { search: { tool: "find", argument: "words" } };

test("a tool that says that it only reads is used at once, and any change of what is called waits for each owner", async () => {
  const kb = await makeWorld();
  const { anna, ben } = kb;
  expect((await kb.map(FIND)).status).toBe(200);
  expect(await kb.search(anna)).toEqual([null, ["find"]]);
  const changes: object[] = [
    { search: { tool: "find", argument: "words", args: { with: "admin@acme.test" } } },
    { search: { tool: "look", argument: "words" } },
    { search: { tool: "find", argument: "other" } },
    { search: { tool: "find", argument: "words", args: { with: 1 } } },
    { search: { tool: "share", argument: "words" } },
    { ...FIND, list: { tool: "share", args: { with: "admin@acme.test" } } },
    // The same tool in another role, with arguments that nobody saw.
    { ...FIND, list: { tool: "find", args: { words: "*", with: "admin@acme.test" } } },
  ];
  for (const mapping of changes) {
    expect((await kb.map(mapping)).status).toBe(200);
    const about = JSON.stringify(mapping);
    expect(await kb.search(anna), about).toEqual(["not_agreed", []]);
    expect(await kb.mine(anna), about).toMatchObject({ status: "needs_agreement", agreement: expect.any(String) });
    // Taking it away and giving it again is no way around.
    expect((await kb.map(null)).status).toBe(200);
    expect((await kb.map(mapping)).status).toBe(200);
    expect(await kb.search(anna), about).toEqual(["not_agreed", []]);
    // What was agreed to before goes on without a word.
    expect((await kb.map(FIND)).status).toBe(200);
    expect(await kb.search(anna), about).toEqual([null, ["find"]]);
  }
  // Each speaks for themselves, and the admin who maps for their own connection.
  await kb.map(changes[4] ?? {});
  expect(await kb.search(kb.admin)).toEqual([null, ["share"]]);
  expect((await kb.agree(anna)).json.connection).toMatchObject({ status: "active", agreement: null });
  expect(await kb.search(anna)).toEqual([null, ["share"]]);
  expect(await kb.search(ben)).toEqual(["not_agreed", []]);
});

test("only its owner agrees, to exactly what they were shown, and everyone is told where to do it", async () => {
  const kb = await makeWorld();
  const { anna, ben, admin } = kb;
  await kb.map(FIND);
  expect(await kb.noticesOf(anna)).toEqual([]);
  const args = { with: "admin@acme.test" };
  await kb.map({ search: { tool: "share", argument: "words", args } });
  expect(await kb.noticesOf(anna)).toMatchObject([
    { type: "tools_changed", connectionId: kb.idOf(anna), serverId: kb.id, server: "Notes", connection: "Notes" },
  ]);
  const shown = await kb.mine(anna);
  expect(shown.tools).toEqual([
    { role: "search", tool: "share", args, argument: "words", isReadOnly: false, isAgreed: false },
  ]);
  const seen = (await kb.connectionsOf(admin, kb.id)).find((one: { id: string }) => one.id === kb.idOf(anna));
  expect(seen).toMatchObject({ status: "needs_agreement", tools: [], agreement: null });
  expect((await kb.agree(admin, anna, shown.agreement)).status).toBe(403);
  expect((await kb.agree(ben, anna, shown.agreement)).status).toBe(404);
  // The admin is quicker than the click.
  await kb.map({ search: { tool: "share", argument: "words", args: { with: "other@acme.test" } } });
  expect((await kb.agree(anna, anna, shown.agreement)).status).toBe(409);
  expect(await kb.search(anna)).toEqual(["not_agreed", []]);
  expect((await kb.agree(anna)).status).toBe(200);
  expect(await kb.noticesOf(anna)).toEqual([]);
  expect(await kb.noticesOf(ben)).toHaveLength(1);
});

test("what is shared waits for its owner also the first time a tool is mapped", async () => {
  const kb = await makeWorld();
  const { anna } = kb;
  const at = `/api/mcp-servers/${kb.id}/connections/${kb.idOf(anna)}/access`;
  await kb.as(anna).request("PATCH", at, { body: { visibility: "workspace" } });
  await kb.map({ list: { tool: "look" }, ...FIND });
  expect(await kb.search(anna)).toEqual(["not_agreed", []]);
  expect(await kb.search(kb.ben)).toEqual([null, ["find"]]);
  await kb.agree(anna);
  expect(await kb.search(anna)).toEqual([null, ["find"]]);
});

test("who connects agrees to what only reads, and to nothing else", async () => {
  const kb = await makeWorld();
  const late = await kb.addMember(kb.owner.workspaceId, "member");
  await kb.map({ search: { tool: "share", argument: "words" } });
  const made = (await kb.connect(late, kb.id)).json.connection;
  expect(made).toMatchObject({ status: "needs_agreement" });
  expect(await kb.search(late)).toEqual(["not_agreed", []]);
  await kb.map(FIND);
  expect(await kb.search(late)).toEqual([null, ["find"]]);
});

test("a tool that stops saying that it only reads is not called, also when an admin maps it again", async () => {
  const kb = await makeWorld();
  const { anna, notes } = kb;
  await kb.map(FIND);
  notes.tools = [tool("find", false, "2")];
  expect(await kb.search(anna)).toEqual(["tool_changed", []]);
  await kb.map(FIND);
  expect(await kb.search(anna)).toEqual(["not_agreed", []]);
  await kb.agree(anna);
  expect(await kb.search(anna)).toEqual([null, ["find"]]);
  // One that may change things is agreed to as it was: an admin who looks again doesn't speak for its owner.
  notes.tools = [tool("find", false, "3")];
  await kb.map(FIND);
  expect(await kb.search(anna)).toEqual(["not_agreed", []]);
});

test("a mapping of an earlier version goes on with tools that only read, and waits for the others", async () => {
  const kb = await makeWorld();
  const { anna, ben } = kb;
  const put = async (name: string) => {
    const mapping = { search: { tool: name, args: {}, argument: "words", pin: "1" } };
    await kb.store.in(anna.workspaceId).providerServers.update(kb.id, { mapping, mappedAt: null, mappedBy: null });
    // Its update took what was mapped for agreed to.
    const agreed = { agreed: JSON.stringify(mapping), waitingSince: null };
    await kb.database.write.updateTable("connections").set(agreed).execute();
  };
  await put("find");
  expect(await kb.search(anna)).toEqual([null, ["find"]]);
  await put("share");
  expect(await kb.search(anna)).toEqual(["not_agreed", []]);
  expect(await kb.mine(ben)).toMatchObject({ status: "needs_agreement", tools: [{ isReadOnly: false }] });
  expect(await kb.noticesOf(ben)).toMatchObject([{ type: "tools_changed", by: null }]);
  await kb.agree(anna);
  expect(await kb.search(anna)).toEqual([null, ["share"]]);
  expect(await kb.search(ben)).toEqual(["not_agreed", []]);
});

test("the audit has what an admin maps, unmaps and tries, and what its owner agreed to, without a value", async () => {
  const kb = await makeWorld();
  const search = { tool: "find", argument: "words", args: { with: "PLANTED" } };
  await kb.map({ search });
  const body = { role: "search", ...search, value: "PLANTED", connectionId: kb.idOf(kb.admin) };
  await kb.as(kb.admin).post(`/api/mcp-servers/${kb.id}/mapping/previews`, body);
  await kb.map({ search: { ...search, tool: "share" } });
  await kb.agree(kb.anna);
  await kb.map(null);
  const rows = (await kb.audit()).slice(0, 5);
  const find = { role: "search", tool: "find", args: ["with"], argument: "words", isReadOnly: true };
  const share = { ...find, tool: "share", isReadOnly: false };
  expect(rows.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
    ["server.unmapped", { tools: [], before: [share] }],
    ["connection.agreed", { serverId: kb.id, tools: [share] }],
    ["server.mapped", { tools: [share], before: [find] }],
    [
      "server.tool_previewed",
      { role: "search", tool: "find", args: ["with"], argument: "words", connectionId: kb.idOf(kb.admin) },
    ],
    ["server.mapped", { tools: [find], before: [] }],
  ]);
  expect(JSON.stringify(rows)).not.toContain("PLANTED");
});
