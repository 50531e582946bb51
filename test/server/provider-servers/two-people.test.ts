import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { makeAddressGuard } from "#net/address-guard.ts";
import { makeMcpOpener } from "#server/compose/provider-servers.ts";
import type { TestUser } from "../../helpers.ts";
import { startHttp } from "../../mcp-client/servers.ts";
import { makeProviderServer } from "./server.ts";

// A shared machine may take its time.
vi.setConfig({ testTimeout: 120_000 });

/** A server made with the reference library, with sessions: what it finds is its caller's, by the token of the request. */
async function startNotes() {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const world = {
    url: "",
    /** Tokens that a session was used with. */
    tokensOf: new Map<string, Set<string>>(),
    /** Whose searches are never answered, and how many of those have come. */
    hanging: "",
    hung: 0,
    /** Who asks too often. */
    limited: "",
    /** Whose sessions are forgotten. */
    forgotten: "",
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const id = request.headers["mcp-session-id"];
    if (!token.startsWith("good-")) return void response.writeHead(401).end();
    if (token === world.limited) return void response.writeHead(429, { "retry-after": "3600" }).end();
    if (typeof id === "string") world.tokensOf.get(id)?.add(token);
    const isForgotten = typeof id === "string" && (token === world.forgotten || !sessions.has(id));
    if (isForgotten) return void response.writeHead(404).end();
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known) return known.handleRequest(request as never, response);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(sessionId: string) {
        sessions.set(sessionId, transport);
        world.tokensOf.set(sessionId, new Set([token]));
      },
    } as never);
    const server = new McpServer({ name: "notes", version: "1" });
    const inputSchema = { words: z.string() };
    server.registerTool(
      "find",
      { inputSchema, annotations: { readOnlyHint: true } },
      async (_args, { requestInfo }) => {
        const whose = String(requestInfo?.headers["authorization"]).replace("Bearer ", "");
        if (whose === world.hanging) {
          world.hung++;
          await new Promise(() => {});
        }
        const results = [{ id: whose, title: `Alpha of ${whose}`, text: `alpha of ${whose}` }];
        return { content: [], structuredContent: { results } };
      },
    );
    await server.connect(transport as never);
    await transport.handleRequest(request as never, response);
  }

  world.url = `${await startHttp((request, response) => void handle(request, response))}/mcp`;
  return world;
}

/** Anna with eight connections to it, and Ben with one, through the program's own client. */
async function makeTwoPeople() {
  const notes = await startNotes();
  const privateHosts = [new URL(notes.url).host];
  const guard = makeAddressGuard({ lookup: () => Promise.resolve([]), privateHosts, isOwn: () => false });
  const kb = await makeProviderServer({
    servers: {},
    addressGuard: guard,
    openMcp: makeMcpOpener({ guard, instanceId: "this" }),
  });
  const { id } = await kb.addServer({ url: notes.url });
  const tokenOf = (user: TestUser) => `good-${user.userId}`;
  const own = await kb.connect(kb.admin, id);
  const mapping = { search: { tool: "find", argument: "words" } };
  const body = { mapping, connectionId: own.json.connection.id };
  const mapped = await kb.as(kb.admin).request("PUT", `/api/mcp-servers/${id}/mapping`, { body });
  if (mapped.status !== 200) throw new Error(mapped.text);
  for (let n = 0; n < 8; n++) await kb.connect(kb.anna, id);
  await kb.connect(kb.ben, id);
  const search = async (user: TestUser) => (await kb.as(user).get("/api/connectors/search?query=alpha&live=true")).json;
  const titles = async (user: TestUser) =>
    (await search(user)).live.hits.map(({ title }: { title: string }) => title) as string[];
  return { ...kb, notes, id, tokenOf, search, titles };
}

test("each session of a server is one person's, however many search it at once", async () => {
  const kb = await makeTwoPeople();
  const { anna, ben, notes, tokenOf } = kb;
  const answers = await Promise.all(
    [anna, ben, anna, ben, ben].map(async (user) => [user, await kb.titles(user)] as const),
  );
  for (const [user, found] of answers) {
    expect(new Set(found)).toEqual(new Set([`Alpha of ${tokenOf(user)}`]));
    expect(found).toHaveLength(user === anna ? 8 : 1);
  }
  // The connections of the test and of the mapping, too.
  expect(notes.tokensOf.size).toBeGreaterThan(2 * 8 + 3);
  for (const tokens of notes.tokensOf.values()) expect([...tokens]).toHaveLength(1);
});

test("what hangs, fails or is limited for one person is answered to the other as before", async () => {
  const kb = await makeTwoPeople();
  const { anna, ben, notes, tokenOf } = kb;
  const before = await kb.search(ben);
  expect(before.live.connections).toMatchObject([{ problem: null }]);

  // More of Anna's questions than any limit on connections to one host, none of which is ever answered.
  notes.hanging = tokenOf(anna);
  const waiting = Promise.all([anna, anna, anna, anna].map((user) => kb.search(user)));
  await expect.poll(() => notes.hung, { timeout: 30_000 }).toBe(32);
  expect(await kb.search(ben)).toEqual(before);
  // She has all of her turns in use, and he has his.
  const refused = (await kb.search(anna)).live.connections.map(({ problem }: { problem: string }) => problem);
  expect(refused).toEqual(Array.from({ length: 8 }, () => "not_asked"));
  expect(await kb.search(ben)).toEqual(before);
  void waiting;

  notes.hanging = "";
  notes.forgotten = tokenOf(anna);
  expect(await kb.search(ben)).toEqual(before);
  notes.forgotten = "";
  notes.limited = tokenOf(anna);
  const tested = await kb.as(anna).post(`/api/mcp-servers/${kb.id}/connection-tests`, {
    connectionId: (await kb.connectionsOf(anna, kb.id))[0].id,
  });
  expect(tested.json.ok).toBe(false);
  expect(await kb.search(ben)).toEqual(before);
  expect(JSON.stringify(before)).not.toContain(anna.userId);
  // The server's health is what its probes found: that it refuses one person changes nothing.
  const { status, lastProblem } = (await kb.as(ben).get(`/api/mcp-servers/${kb.id}/health`)).json;
  expect([status, lastProblem]).toEqual(["healthy", null]);
});
