import { describe, test } from "vitest";
import type { McpTool } from "#mcp-client/contract.ts";
import { scripted } from "../../scripted.ts";
import type { TestUser } from "../../helpers.ts";
import { item, listing } from "../sync/harness.ts";
import { type FakeMcp, makeProviderServer, URL_A } from "./server.ts";

const FIND: McpTool = {
  name: "find",
  inputSchema: { type: "object", properties: { words: { type: "string" } }, required: ["words"] },
  isReadOnly: true,
  pin: "1",
};

/** A server with a secret of its own, an admin's connection by it, and a connector on that which was read. */
async function makeWorld(visibility: "private" | "workspace" | "members" = "private") {
  const server: FakeMcp = {
    seen: [],
    tools: [FIND],
    accepts: ({ authorization }) => authorization === "Bearer good-own",
    call: () => ({ isError: false, content: [], structured: { results: [{ id: "1", title: "Alpha live" }] } }),
  };
  const kb = await makeProviderServer({ servers: { [URL_A]: server } });
  const { admin, owner, ben } = kb;
  const { id } = await kb.addServer({ auth: { kind: "bearer", secret: "good-own" } });
  const access = visibility === "members" ? { visibility, memberIds: [ben.userId, admin.userId] } : { visibility };
  const made = await kb.connect(admin, id, { credentials: undefined, access });
  const connectionId: string = made.json.connection.id;
  const mapping = { search: { tool: "find", argument: "words" } };
  const mapped = await kb
    .as(admin)
    .request("PUT", `/api/mcp-servers/${id}/mapping`, { body: { mapping, connectionId } });
  if (mapped.status !== 200) throw new Error(mapped.text);
  const body = { providerId: "behind", name: "Behind", config: {}, connectionId, access: { visibility: "workspace" } };
  const connectorId: string = (await kb.as(admin).post("/api/connectors", body)).json.connector.id;
  await kb.worker.runUntilIdle();
  const find = async (user: TestUser, more = "") =>
    (await kb.as(user).get(`/api/connectors/search?query=alpha${more}`)).json;
  return {
    ...kb,
    server,
    serverId: id,
    connectionId,
    connectorId,
    body,
    find,
    total: async (user: TestUser): Promise<number> => (await find(user)).total,
    setRole: async (role: string) => {
      const { status, text } = await kb.as(owner).patch(`/api/workspace/members/${admin.userId}`, { role });
      if (status !== 200) throw new Error(text);
      server.seen.length = 0;
    },
    sync: async (user: TestUser) => {
      const { json } = await kb.as(user).post(`/api/connectors/${connectorId}/syncs`);
      await kb.worker.runUntilIdle();
      return (await kb.as(user).get(`/api/connectors/${connectorId}/syncs/${json.sync.id}`)).json.sync;
    },
  };
}

const isSigned = (seen: readonly Record<string, string>[]) => seen.some((headers) => headers["authorization"]);

describe("a connection by a server's own secret, whose owner is no admin any more", () => {
  test("signs nothing: no sync, no live search, no test, no new connector; and goes on with the role", async ({
    expect,
  }) => {
    const kb = await makeWorld();
    const { admin } = kb;
    kb.behind.sessions = scripted(async function* (context) {
      await (await context.mcp?.open({ signal: context.signal }))?.listTools();
      yield* listing(() => [item("a.md", "alpha")])(context);
    });
    expect((await kb.find(admin, "&live=true")).live.hits).toHaveLength(1);
    expect((await kb.sync(admin)).state).toBe("succeeded");
    await kb.setRole("member");

    expect((await kb.find(admin, "&live=true")).live).toEqual({ hits: [], connections: [] });
    expect(await kb.sync(admin)).toMatchObject({
      state: "failed",
      problem: { code: "forbidden", message: expect.stringContaining("no longer an admin") },
    });
    const test = { connectionId: kb.connectionId };
    expect((await kb.as(admin).post(`/api/mcp-servers/${kb.serverId}/connection-tests`, test)).status).toBe(403);
    expect((await kb.as(admin).post("/api/connectors", { ...kb.body, name: "More" })).status).toBe(403);
    expect((await kb.as(admin).patch(`/api/connectors/${kb.connectorId}`, { config: {} })).status).toBe(403);
    expect(isSigned(kb.server.seen)).toBe(false);
    const [shown] = await kb.connectionsOf(admin, kb.serverId);
    expect(shown).toMatchObject({ status: "active", statusReason: "owner_no_admin" });

    await kb.setRole("admin");
    expect(await kb.worker.runUntilIdle()).not.toBeUndefined();
    expect((await kb.sync(admin)).state).toBe("succeeded");
    expect((await kb.find(admin, "&live=true")).live.hits).toHaveLength(1);
    expect(await kb.connectionsOf(admin, kb.serverId)).toMatchObject([{ status: "active", statusReason: null }]);
  });

  test.for([
    ["private", 0, 0],
    ["members", 0, 1],
    ["workspace", 1, 1],
  ] as const)(
    "%s: what was read is found by them %i times, and by whom it was shared with %i times",
    async ([visibility, theirs, others], { expect }) => {
      const kb = await makeWorld(visibility);
      expect(await kb.total(kb.admin)).toBe(1);
      expect(await kb.total(kb.ben)).toBe(others);
      await kb.setRole("member");
      expect(await kb.total(kb.admin)).toBe(theirs);
      expect(await kb.total(kb.ben)).toBe(others);
      await kb.setRole("admin");
      expect(await kb.total(kb.admin)).toBe(1);
    },
  );

  test("can be narrowed and disconnected by them, and widened by no one", async ({ expect }) => {
    const kb = await makeWorld("members");
    await kb.setRole("member");
    const at = `/api/mcp-servers/${kb.serverId}/connections/${kb.connectionId}`;
    const set = (user: TestUser, body: unknown) => kb.as(user).request("PATCH", `${at}/access`, { body });
    const wider = { visibility: "members", memberIds: [kb.ben.userId, kb.anna.userId] };
    for (const body of [{ visibility: "workspace" }, wider]) {
      expect((await set(kb.admin, body)).status).toBe(403);
      expect((await set(kb.owner, body)).status).toBe(403);
    }
    // The same for connectors on it: who may see them, and what they read.
    const connector = `/api/connectors/${kb.connectorId}`;
    await kb.as(kb.owner).patch(connector, { access: { visibility: "private" } });
    for (const who of [kb.admin, kb.owner]) {
      expect((await kb.as(who).patch(connector, { access: { visibility: "workspace" } })).status).toBe(403);
    }
    expect((await kb.as(kb.admin).patch(`${connector}/scope`, { include: [], exclude: [] })).status).toBe(403);
    expect((await set(kb.admin, { visibility: "private" })).status).toBe(200);
    expect(await kb.total(kb.admin)).toBe(0);
    expect(await kb.total(kb.ben)).toBe(0);
    expect((await kb.as(kb.admin).delete(at)).status).toBe(202);
  });

  test("an owner who becomes an admin keeps theirs, and a token of one's own is no one's role", async ({ expect }) => {
    const kb = await makeWorld();
    await kb.as(kb.owner).patch(`/api/workspace/members/${kb.admin.userId}`, { role: "owner" });
    await kb.setRole("admin");
    expect(await kb.total(kb.admin)).toBe(1);
    kb.server.accepts = ({ authorization }) => authorization === `Bearer good-${kb.admin.userId}`;
    const own = await kb.connect(kb.admin, kb.serverId);
    await kb.setRole("member");
    const live = (await kb.find(kb.admin, "&live=true")).live;
    expect(live.connections).toEqual([{ connectionId: own.json.connection.id, server: "Notes", problem: null }]);
  });
});
