import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createAdaptorServer } from "@hono/node-server";
import { z } from "zod";
import type { McpSession } from "#mcp-client/contract.ts";
import { makeServer, TEST_INSTANCE } from "../helpers.ts";
import { INITIALIZED, open, problemFrom, startHttp, startRaw } from "./servers.ts";

/** A server made with the library of the reference implementation. */
function startReference(): Promise<string> {
  return startHttp((request, response) => {
    const server = new McpServer(
      { name: "reference", version: "1.2.3" },
      { capabilities: { resources: { subscribe: true } } },
    );
    server.registerTool(
      "search",
      { description: "Finds.", inputSchema: { query: z.string() }, annotations: { readOnlyHint: true } },
      ({ query }) => ({
        content: [
          { type: "text", text: `found ${query}` },
          { type: "resource_link", uri: "note://1", name: "One" },
        ],
      }),
    );
    server.registerResource("one", "note://1", { title: "One", mimeType: "text/plain" }, (uri) => ({
      contents: [{ uri: uri.href, mimeType: "text/plain", text: "first note" }],
    }));
    const complete = { name: (value: string) => ["anna", "bo"].filter((name) => name.startsWith(value)) };
    const template = new ResourceTemplate("people://{name}", { list: undefined, complete });
    server.registerResource("people", template, {}, (uri) => ({ contents: [{ uri: uri.href, blob: "aGk=" }] }));
    // The library's options with `undefined` in them: one session for each request.
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never);
    void server.connect(transport as never).then(() => transport.handleRequest(request, response));
  });
}

test("a session lists and reads what a server of the reference library has", async () => {
  const session = await open(await startReference());
  expect(session.serverInfo).toEqual({ name: "reference", version: "1.2.3" });
  expect(session.protocolVersion).toBe("2025-11-25");
  expect(session.capabilities).toMatchObject({ tools: true, resources: true, completions: true });
  const { items, leftOut } = await session.listTools();
  expect(items).toMatchObject([{ name: "search", description: "Finds.", isReadOnly: true }]);
  expect(leftOut).toBe(0);
  expect((await session.listResources()).items).toEqual([
    { uri: "note://1", name: "one", title: "One", mimeType: "text/plain" },
  ]);
  expect(await session.readResource("note://1")).toEqual([
    { uri: "note://1", mimeType: "text/plain", type: "text", text: "first note" },
  ]);
  expect((await session.listResourceTemplates()).items).toMatchObject([{ uriTemplate: "people://{name}" }]);
  expect(await session.complete("people://{name}", { name: "name", value: "a" })).toEqual({
    values: ["anna"],
    hasMore: false,
  });
  expect(await session.readResource("people://anna")).toMatchObject([{ type: "blob", bytes: Buffer.from("hi") }]);
  expect(await session.callTool("search", { query: "x" })).toEqual({
    isError: false,
    content: [
      { type: "text", text: "found x" },
      { type: "link", resource: { uri: "note://1", name: "One" } },
    ],
  });
  await session.ping();
});

test("a session with kb itself speaks the newest revision", async () => {
  const kb = await makeServer({}, () => ({ tools: { call: async () => ({ text: "Nothing." }) } }));
  const token = await kb.token(await kb.addOwner());
  const url = await startApp(kb.app.fetch);
  const session = await open(`${url}/mcp`, { headers: async () => ({ authorization: `Bearer ${token}` }) });
  expect(session.protocolVersion).toBe("2026-07-28");
  expect((await session.listTools()).items.map(({ name }) => name)).toContain("kb_search");
  expect((await session.callTool("kb_search", { query: "nothing" })).isError).toBe(false);
  await session.ping();
});

test("a server refuses what comes from itself, or through too many others, before it looks at a token", async () => {
  const kb = await makeServer();
  const ask = async (hops: string) => {
    const response = await kb.app.request("/mcp", { method: "POST", headers: { "kb-hops": hops }, body: "{}" });
    return [response.status, JSON.stringify(await response.json()).includes('"loop"')];
  };
  expect(await ask(`another, ${TEST_INSTANCE}`)).toEqual([508, true]);
  expect(await ask("a, b, c")).toEqual([508, true]);
  expect((await ask("a, b"))[0]).toBe(401);
  const url = await startApp(kb.app.fetch);
  expect(await problemFrom(open(`${url}/mcp`, { instanceId: TEST_INSTANCE }))).toBe("initialize: loop");
});

test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "a server of revision %s is spoken to",
  async (version) => {
    const url = await startRaw({
      initialize: () => INITIALIZED(version),
      "tools/list": () => ({ tools: [{ name: "a", inputSchema: { type: "object" } }] }),
    });
    const session = await open(url);
    expect(session.protocolVersion).toBe(version);
    expect((await session.listTools()).items).toHaveLength(1);
  },
);

test("a server that fails over the newest revision's first question is asked as before it", async () => {
  const url = await startRaw({
    "server/discover": ({ response }) => void response.writeHead(500).end("PLANTED"),
    "tools/list": () => ({ tools: [] }),
  });
  expect((await open(url)).protocolVersion).toBe("2025-06-18");
});

test("revisions that no one knows, and servers of the transport before, are told apart", async () => {
  const future = await startRaw({ initialize: () => INITIALIZED("3024-01-01") });
  expect(await problemFrom(open(future))).toBe("initialize: protocol_unsupported");
  const page = await startHttp(
    (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("PLANTED"),
  );
  expect(await problemFrom(open(page))).toBe("initialize: not_mcp");
  const absent = await startHttp((_request, response) => void response.writeHead(404).end("PLANTED"));
  expect(await problemFrom(open(absent))).toBe("initialize: not_mcp");
});

test("every request carries what signs it now, the way it came, and nothing of other headers that a target names", async () => {
  const seen: Record<string, unknown>[] = [];
  let token = 0;
  const url = await startRaw({
    "tools/list": ({ request }) => {
      seen.push(request.headers);
      return { tools: [] };
    },
  });
  const headers = async () => ({
    Authorization: `Bearer ${++token}`,
    "MCP-Session-Id": "forged",
    host: "evil.example",
  });
  const session = await open(url, { headers, before: ["another"] });
  await session.listTools();
  const first = token;
  await session.listTools();
  expect(seen[1]).toMatchObject({
    authorization: `Bearer ${first + 1}`,
    "kb-hops": "another, this",
    host: new URL(url).host,
  });
  expect(seen[1]).not.toHaveProperty("mcp-session-id");
});

test("a session that the server has forgotten is opened again, once", async () => {
  const sessions: string[] = [];
  const url = await startRaw({
    initialize: ({ id, response }) => {
      sessions.push(`s${sessions.length}`);
      const result = INITIALIZED();
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": sessions.at(-1) ?? "" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    },
    "tools/list": ({ request, response }) => {
      if (request.headers["mcp-session-id"] !== "s0") return { tools: [] };
      return void response.writeHead(404).end("PLANTED");
    },
  });
  const session = await open(url);
  expect(await session.listTools()).toEqual({ items: [], leftOut: 0 });
  expect(sessions).toEqual(["s0", "s1"]);
});

test("questions that find the session forgotten at once open one new session together", async () => {
  const sessions: string[] = [];
  const forgotten: ServerResponse[] = [];
  let late: Promise<unknown> | undefined;
  const forget = ({ request, response }: { request: IncomingMessage; response: ServerResponse }, result: unknown) => {
    if (request.headers["mcp-session-id"] !== "s0") return result;
    forgotten.push(response);
    // The last is told after the first has opened a new session.
    if (forgotten.length === 2) forgotten[0]?.writeHead(404).end();
    return undefined;
  };
  const url = await startRaw({
    initialize: ({ id, response }) => {
      sessions.push(`s${sessions.length}`);
      // One more is asked while the new session is being opened.
      if (sessions.length === 2) late = session.listResourceTemplates();
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": sessions.at(-1) ?? "" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: INITIALIZED() }));
    },
    "resources/templates/list": (asked) => forget(asked, { resourceTemplates: [] }),
    "tools/list": (asked) => forget(asked, { tools: [] }),
    "resources/list": (asked) => {
      if (asked.request.headers["mcp-session-id"] === "s1") forgotten[1]?.writeHead(404).end();
      return forget(asked, { resources: [] });
    },
  });
  const session: McpSession = await open(url);
  const both = [session.listResources(), session.listTools()];
  expect(await Promise.all(both)).toEqual([
    { items: [], leftOut: 0 },
    { items: [], leftOut: 0 },
  ]);
  expect(await late).toEqual({ items: [], leftOut: 0 });
  expect(sessions).toEqual(["s0", "s1"]);
});

test("what the server answers becomes one of the codes, with what helps to go on", async () => {
  const url = await startRaw({
    "tools/list": ({ response }) => void response.writeHead(401, { "www-authenticate": CHALLENGE }).end("PLANTED"),
    "resources/list": ({ response }) => void response.writeHead(429, { "retry-after": "7" }).end("PLANTED"),
    "resources/read": ({ response }) => void response.writeHead(503).end("PLANTED"),
    "tools/call": ({ id, response }) =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_602, message: "PLANTED" } })),
  });
  const session = await open(url);
  await expect(session.listTools()).rejects.toMatchObject({
    code: "auth_required",
    challenge: { resourceMetadata: "https://kb.example/.well-known/x", scope: "a b", error: "invalid_token" },
  });
  await expect(session.listResources()).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 7000 });
  expect(await problemFrom(session.readResource("a://b"))).toBe("read: server_error");
  expect(await problemFrom(session.callTool("x", {}))).toBe("call: refused");
  expect(await problemFrom(session.listResourceTemplates())).toBe("templates: not_found");
});

const CHALLENGE =
  'Basic realm="x", Bearer error="invalid_token", error_description="PLANTED", resource_metadata="https://kb.example/.well-known/x", scope="a b"';

test("a server that wants a person says where, if that is a place to send one", async () => {
  const wanting = (url: string) => ({
    "tools/call": ({ id, response }: { id: unknown; response: ServerResponse }) => {
      response.writeHead(200, { "content-type": "application/json" });
      const error = { code: -32_042, message: "PLANTED", data: { elicitations: [{ mode: "url", url }] } };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
    },
  });
  const good = await open(await startRaw(wanting("https://sign-in.example/x?y=1")));
  await expect(good.callTool("x", {})).rejects.toMatchObject({
    code: "elicitation_required",
    elicitationUrl: "https://sign-in.example/x?y=1",
  });
  const bad = await open(await startRaw(wanting("javascript:alert(1)")));
  await expect(bad.callTool("x", {})).rejects.toMatchObject({
    code: "elicitation_required",
    elicitationUrl: undefined,
  });
});

test("a question that the server asks back in its answer ends the call with the address", async () => {
  const url = await startRaw({
    "tools/call": ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const params = { mode: "url", url: "https://sign-in.example/", message: "PLANTED", elicitationId: "1" };
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 77, method: "elicitation/create", params })}\n\n`);
    },
  });
  const session = await open(url);
  await expect(session.callTool("x", {})).rejects.toMatchObject({
    code: "elicitation_required",
    elicitationUrl: "https://sign-in.example/",
  });
});

test("the signal ends what a session waits for, with its own reason", async () => {
  const controller = new AbortController();
  const url = await startRaw({
    "tools/list": () => void controller.abort(new Error("no longer wanted")),
  });
  const session = await open(url, { signal: controller.signal });
  await expect(session.listTools()).rejects.toThrow("no longer wanted");
  await expect(session.listTools()).rejects.toThrow("no longer wanted");
});

async function startApp(fetch: (request: Request) => Response | Promise<Response>): Promise<string> {
  let handler: RequestListener = () => {};
  const url = await startHttp((request, response) => handler(request, response));
  const adaptor = createAdaptorServer({ fetch });
  handler = (request, response) => void adaptor.emit("request", request, response);
  return url;
}
