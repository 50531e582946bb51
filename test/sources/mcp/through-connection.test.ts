import { expect, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, type TestUser } from "../../helpers.ts";
import { makeTestOpener } from "../../mcp-client/servers.ts";
import { fakeExtractor } from "../../server/sync/harness.ts";
import { startNotes } from "./fixture.ts";

/** A server of notes, a workspace with its admin and two members, and somebody elsewhere. */
async function makeWorld() {
  const notes = await startNotes();
  // The engine parses the config by the source's own schema.
  const sources = [makeMcpSource() as unknown as Source];
  const kb = await makeServer({ settings: { rateLimits: "off" } }, (core, database) =>
    composeFeatures(core, database, {
      sources: { find: async (id) => sources.find(({ spec }) => spec.providerId === id), list: async () => sources },
      extractor: fakeExtractor,
      openMcp: makeTestOpener([notes.url]),
    }),
  );
  const owner = await kb.addOwner();
  const anna = await kb.addMember(owner.workspaceId, "member");
  const ben = await kb.addMember(owner.workspaceId, "member");
  const stranger = await kb.addOwner("Other");
  const hits = async (user: TestUser, query = "resource") =>
    (await kb.as(user).get(`/api/connectors/search?query=${query}`)).json.results.length;
  const added = await kb.as(owner).post("/api/mcp-servers", { name: "Notes", url: notes.url, auth: { kind: "none" } });
  if (added.status !== 201) throw new Error(added.text);
  const server = `/api/mcp-servers/${added.json.server.id}`;
  return { notes, kb, owner, anna, ben, stranger, hits, server };
}

test("what is behind a connection is found by those whom it is open to, from the next request, until it ends", async () => {
  const { notes, kb, owner, anna, ben, stranger, hits, server } = await makeWorld();
  const everybody = async () => [await hits(anna), await hits(ben), await hits(owner), await hits(stranger)];

  const at = `${server}/connections`;
  const connected = await kb.as(anna).post(at, { app: "notes" });
  expect(connected.status, connected.text).toBe(201);
  const connectionId = connected.json.connection.id;
  const access = { visibility: "workspace" };
  const body = { providerId: "mcp", name: "Notes", config: {}, connectionId, access };
  expect((await kb.as(ben).post("/api/connectors", body)).status).toBe(422);
  const made = await kb.as(anna).post("/api/connectors", body);
  expect(made.status, made.text).toBe(201);
  await kb.deps.worker.runUntilIdle();
  // The connector is for the workspace, and the connection for Anna alone.
  expect(await everybody()).toEqual([5, 0, 0, 0]);
  const change = (visibility: string) =>
    kb.as(anna).request("PATCH", `${at}/${connectionId}/access`, { body: { visibility } });
  expect((await change("workspace")).status).toBe(200);
  expect(await everybody()).toEqual([5, 5, 5, 0]);
  expect((await change("private")).status).toBe(200);
  expect(await everybody()).toEqual([5, 0, 0, 0]);

  notes.resources.delete("note:///shelf/0.md");
  await kb.as(anna).post(`/api/connectors/${made.json.connector.id}/syncs`, { mode: "full" });
  await kb.deps.worker.runUntilIdle();
  expect(await hits(anna)).toBe(4);
  expect((await kb.as(anna).request("DELETE", `${at}/${connectionId}`)).status).toBe(202);
  expect(await everybody()).toEqual([0, 0, 0, 0]);
});

test("an admin maps tools after a preview; what they list is read until one of them changes", async () => {
  const { notes, kb, owner, anna, hits, server } = await makeWorld();
  const as = kb.as(owner);
  expect((await kb.as(anna).get(`${server}/tools`)).status).toBe(403);
  const { json: listed } = await as.get(`${server}/tools`);
  expect(listed).toMatchObject({ mapping: null, faults: [], leftOut: 0 });
  expect(listed.tools).toMatchObject([
    { name: "list_notes", arguments: [] },
    { name: "read_note", arguments: [{ name: "id", type: "string", isRequired: true }] },
  ]);
  const preview = (body: object) => as.post(`${server}/mapping/previews`, body);
  expect((await preview({ role: "list", tool: "list_notes" })).json.entries[0]).toEqual({ id: "n0", title: "Note n0" });
  const fetch = { tool: "read_note", argument: "id" };
  expect((await preview({ role: "fetch", ...fetch, value: "n0" })).json).toEqual({ text: "note 0" });
  const failed = await preview({ role: "fetch", ...fetch, value: "none" });
  expect(failed.json).toMatchObject({ code: "server_check_failed", detail: "The server refused the request." });
  const map = (mapping: object | null) => as.request("PUT", `${server}/mapping`, { body: { mapping } });
  expect((await map({ list: { tool: "gone" } })).json).toMatchObject({
    code: "server_config_invalid",
    field: "mapping.list",
  });
  const mapped = await map({ list: { tool: "list_notes" }, fetch });
  expect(mapped.json.mapping, mapped.text).toEqual({
    list: { tool: "list_notes", args: {} },
    fetch: { ...fetch, args: {} },
  });

  const { json } = await kb.as(anna).post(`${server}/connections`, { app: "notes" });
  const body = { providerId: "mcp", name: "Notes", config: { resources: false }, connectionId: json.connection.id };
  const made = await kb.as(anna).post("/api/connectors", { ...body, access: { visibility: "private" } });
  expect(made.status, made.text).toBe(201);
  await kb.deps.worker.runUntilIdle();
  expect(await hits(anna, "note")).toBe(3);

  notes.changeTool();
  expect((await as.get(`${server}/tools`)).json.faults).toEqual([
    { role: "list", tool: "list_notes", reason: "tool_changed" },
  ]);
  notes.notes.set("n9", "note nine");
  const sync = () => kb.as(anna).post(`/api/connectors/${made.json.connector.id}/syncs`, { mode: "full" });
  await sync();
  await kb.deps.worker.runUntilIdle();
  const { connector } = (await kb.as(anna).get(`/api/connectors/${made.json.connector.id}`)).json;
  expect(connector.lastSync?.status ?? connector.state).not.toBe("succeeded");
  expect((await map({ list: { tool: "list_notes" }, fetch })).json.faults).toEqual([]);
  await sync();
  await kb.deps.worker.runUntilIdle();
  expect(await hits(anna, "note")).toBe(4);
});

test("a sync asks the server nothing while its owner hasn't agreed to the tools, and goes on once they have", async () => {
  const { notes, kb, owner, anna, hits, server } = await makeWorld();
  const map = (mapping: object) => kb.as(owner).request("PUT", `${server}/mapping`, { body: { mapping } });
  const { json } = await kb.as(anna).post(`${server}/connections`, { app: "notes" });
  const connectionId = json.connection.id;
  const fetch = { tool: "read_note", argument: "id" };
  await map({ list: { tool: "list_notes" }, fetch });
  const access = { visibility: "private" };
  const body = { providerId: "mcp", name: "Notes", config: { resources: false }, connectionId, access };
  const made = await kb.as(anna).post("/api/connectors", body);
  const at = `/api/connectors/${made.json.connector.id}`;
  await kb.deps.worker.runUntilIdle();
  expect(await hits(anna, "note")).toBe(3);

  expect((await map({ list: { tool: "read_note", args: { id: "n0" } }, fetch })).status).toBe(200);
  notes.notes.set("n0", "note changed");
  const before = notes.requests();
  await kb.as(anna).post(`${at}/syncs`, { mode: "full" });
  await kb.deps.worker.runUntilIdle();
  expect(notes.requests()).toBe(before);
  const stopped = (await kb.as(anna).get(at)).json.connector;
  expect(stopped.state).toBe("error");
  expect(JSON.stringify(stopped)).toContain("hasn't agreed");
  expect((await kb.as(anna).post("/api/connectors", { ...body, name: "More" })).json).toMatchObject({
    code: "connector_check_failed",
    hint: expect.stringContaining("kb servers agree"),
  });
  // What was read before stays, and what needs no tool goes on.
  expect(await hits(anna, "note")).toBe(3);
  const resources = { ...body, name: "Resources", config: { tools: false } };
  expect((await kb.as(anna).post("/api/connectors", resources)).status).toBe(201);

  const [mine] = (await kb.as(anna).get(`${server}/connections`)).json.connections;
  const { agreement } = mine;
  const agreed = await kb.as(anna).post(`${server}/connections/${connectionId}/agreement`, { agreement });
  expect(agreed.status, agreed.text).toBe(200);
  await kb.deps.worker.runUntilIdle();
  expect((await kb.as(anna).get(at)).json.connector.state).toBe("active");
  expect(notes.requests()).toBeGreaterThan(before);
});
