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
    /** The session and token of each request in one. */
    asked: [] as { session: string; token: string }[],
    /** Sessions that nobody has ended. */
    open: () => [...sessions.keys()],
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
    if (typeof id === "string") {
      world.tokensOf.get(id)?.add(token);
      world.asked.push({ session: id, token });
    }
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
      onsessionclosed: (sessionId: string) => void sessions.delete(sessionId),
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
  // Each of her sessions is one that the server doesn't know any more, while she asks.
  notes.forgotten = tokenOf(anna);
  const [hers, his] = await Promise.all([kb.search(anna), kb.search(ben)]);
  expect(his).toEqual(before);
  expect(hers.live.hits).toEqual([]);
  expect(hers.live.connections.map(({ problem }: { problem: string }) => problem)).not.toContain(null);
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

test("a session ends with its connection or its search, and the sessions of others go on", async () => {
  const kb = await makeTwoPeople();
  const { anna, ben, notes, tokenOf } = kb;
  // What is over was closed: tests, the mapping and these searches leave nothing open.
  await Promise.all([kb.search(anna), kb.search(ben)]);
  await expect.poll(() => notes.open(), { timeout: 30_000 }).toEqual([]);

  const openFor = async (connectionId: string) => {
    const known = new Set(notes.open());
    const { signal } = new AbortController();
    const session = await kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, connectionId, { signal });
    const [id = ""] = notes.open().filter((one) => !known.has(one));
    const find = () => session.callTool("find", { words: "alpha" });
    return { session, id, find };
  };
  const [first, second] = await kb.connectionsOf(anna, kb.id);
  const [own] = await kb.connectionsOf(ben, kb.id);
  const [ended, kept, his] = [await openFor(first.id), await openFor(second.id), await openFor(own.id)];
  expect(notes.open()).toEqual([ended.id, kept.id, his.id]);
  const before = JSON.stringify(await his.find());
  await ended.find();

  const disconnected = await kb.as(anna).request("DELETE", `/api/mcp-servers/${kb.id}/connections/${first.id}`);
  expect(disconnected.status).toBe(202);
  notes.asked.length = 0;
  await expect(ended.find()).rejects.toThrow();
  await ended.session.close();
  expect(notes.asked).toEqual([]);
  expect(JSON.stringify(await his.find())).toBe(before);
  expect(JSON.stringify(await kept.find())).toContain(`Alpha of ${tokenOf(anna)}`);
  // Before its first call a session looks at the tools: they have to be those that were agreed to.
  expect(notes.asked.map(({ session }) => session)).toEqual([his.id, kept.id, kept.id]);
  // Her other seven connections are asked, and the one that ended isn't.
  expect((await kb.search(anna)).live.connections).toHaveLength(7);
});
