import { describe, expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { makeMcpHandler, type McpOptions, type ToolCalls } from "#server/mcp/rpc.ts";
import type { Actor } from "#storage/access/actor.ts";

const ACTOR: Actor = {
  workspaceId: "wsp_2222222222222222",
  userId: "usr_2222222222222222",
  role: "member",
  scopes: ["mcp:read"],
  credential: { type: "pat", id: "tok_2222222222222222" },
  timeZone: "UTC",
};
const ORIGIN = { requestId: "req_test", clientIp: null };

const TOOLS: ToolCalls = {
  async call(_actor, name, args, context) {
    if (name === "kb_search") {
      context.report(1, 2, "searching");
      return { text: `got ${JSON.stringify(args)}`, structured: { now: "n", total: 0 } };
    }
    if (name === "kb_get_file_content") throw new ApiError("not_found", { message: "no item." });
    if (name === "kb_search_entities") throw new TypeError("a bug with a secret");
    return undefined;
  },
};

function makeHandler(options: Partial<McpOptions> = {}) {
  const logged: unknown[] = [];
  const note = (fields: Record<string, unknown>) => void logged.push(fields);
  const handler = makeMcpHandler({
    clock: { now: () => 0 },
    checkSite(request) {
      if (request.headers.has("x-evil")) throw new ApiError("origin_not_allowed", { message: "Another site." });
    },
    async authenticate(request) {
      const token = request.headers.get("authorization");
      if (token === "Bearer good") return ACTOR;
      if (token === "Bearer narrow") throw new ApiError("insufficient_scope", { message: "No mcp:read." });
      throw new ApiError("unauthenticated", { message: "This token is unknown." });
    },
    tools: TOOLS,
    lifecycle: "auto",
    version: "1.2.3",
    resourceMetadataUrl: () => "http://kb.test/metadata",
    log: { debug: note, info: note, warn: note, error: note },
    ...options,
  });
  return { handler, logged };
}

interface Sent {
  method?: string;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  raw?: string;
  signal?: AbortSignal;
}

const SEED_HEADERS = {
  authorization: "Bearer good",
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": "2025-03-26",
};

function makeRequest(sent: Sent): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries({ ...SEED_HEADERS, ...sent.headers })) {
    if (value !== undefined) headers.set(name, value);
  }
  const method = sent.method ?? "POST";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request("http://127.0.0.1/mcp", {
    method,
    headers,
    ...(hasBody && { body: sent.raw ?? JSON.stringify(sent.body ?? null) }),
    ...(sent.signal !== undefined && { signal: sent.signal }),
  });
}

async function send(sent: Sent, options: Partial<McpOptions> = {}) {
  const { handler, logged } = makeHandler(options);
  const response = await handler(makeRequest(sent), ORIGIN);
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  // The tests read fields of whatever came back; a missing one fails the expectation.
  const json = (isJson && text !== "" ? JSON.parse(text) : undefined) as Record<string, any> | undefined; // oxlint-disable-line typescript/no-explicit-any -- free-form answers under test
  return { status: response.status, headers: response.headers, text, json, logged };
}

const rpc = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });
const LIST = rpc("tools/list");

describe("the seed's dialogue, with exactly its headers", () => {
  test("tools/list works as the very first request and names the four tools", async () => {
    const { status, json, headers } = await send({ body: LIST });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("mcp-session-id")).toBeNull();
    expect(json?.["jsonrpc"]).toBe("2.0");
    expect(json?.["result"].tools.map((tool: { name: string }) => tool.name)).toEqual([
      "kb_search",
      "kb_search_entities",
      "kb_get_entity_context",
      "kb_get_file_content",
    ]);
  });

  test("tools/call passes name and arguments and answers with text", async () => {
    const args = { query: "release", kind: "task", sortBy: "recency", limit: 5 };
    const { status, json } = await send({ body: rpc("tools/call", { name: "kb_search", arguments: args }, "abc") });
    expect(status).toBe(200);
    expect(json).toEqual({
      jsonrpc: "2.0",
      id: "abc",
      result: {
        content: [{ type: "text", text: `got ${JSON.stringify(args)}` }],
        structuredContent: { now: "n", total: 0 },
      },
    });
  });

  test.each([
    "initialize",
    "ping",
    "resources/list",
    "prompts/list",
    "server/discover",
    "tools/delete",
    "constructor",
    "",
  ])("method %j is an error with the request's id", async (method) => {
    const { status, json } = await send({ body: rpc(method, {}, 7) });
    expect(status).toBe(200);
    expect(json).toMatchObject({ jsonrpc: "2.0", id: 7, error: { code: -32601 } });
  });
});

describe("the table of requests", () => {
  const none = { authorization: undefined };
  test.each<[string, Sent, number, number | undefined]>([
    ["GET", { method: "GET" }, 405, -32600],
    ["PUT", { method: "PUT" }, 405, -32600],
    ["DELETE", { method: "DELETE" }, 405, -32600],
    ["PATCH", { method: "PATCH" }, 405, -32600],
    ["OPTIONS", { method: "OPTIONS" }, 405, -32600],
    ["GET without a token: the verb is looked at first", { method: "GET", headers: none }, 405, -32600],
    ["another site, before the token", { headers: { ...none, "x-evil": "1" }, body: LIST }, 403, -32003],
    [
      "a body that is too large, before the token",
      { headers: { ...none, "content-length": "9999999" }, body: LIST },
      413,
      -32600,
    ],
    ["a body that is too large without saying so", { raw: `"${"x".repeat(4_200_000)}"` }, 413, -32600],
    ["no token", { headers: none, body: LIST }, 401, -32001],
    ["a revoked token, before the body is parsed", { headers: { authorization: "Bearer bad" }, raw: "{" }, 401, -32001],
    ["a token without the scope", { headers: { authorization: "Bearer narrow" }, body: LIST }, 403, -32003],
    ["a form", { headers: { "content-type": "application/x-www-form-urlencoded" }, body: LIST }, 415, -32600],
    ["no JSON", { raw: '{"jsonrpc": "2.0", ' }, 400, -32700],
    ["nothing", { raw: "" }, 400, -32700],
    ["a string", { body: "tools/list" }, 400, -32600],
    ["null", { body: null }, 400, -32600],
    ["another jsonrpc", { body: { ...LIST, jsonrpc: "1.0" } }, 400, -32600],
    ["no jsonrpc", { body: { id: 1, method: "tools/list" } }, 400, -32600],
    ["no method", { body: { jsonrpc: "2.0", id: 1 } }, 400, -32600],
    ["a method that is a number", { body: { jsonrpc: "2.0", id: 1, method: 5 } }, 400, -32600],
    ["an id that is null", { body: { ...LIST, id: null } }, 400, -32600],
    ["an id that is an object", { body: { ...LIST, id: {} } }, 400, -32600],
    ["params that are a list", { body: { ...LIST, params: [1] } }, 400, -32600],
    ["an unknown old version", { headers: { "mcp-protocol-version": "1999-01-01" }, body: LIST }, 400, -32000],
    ["an unknown new version", { headers: { "mcp-protocol-version": "2031-01-01" }, body: LIST }, 400, -32022],
    ["parse comes before version", { headers: { "mcp-protocol-version": "1999-01-01" }, raw: "{" }, 400, -32700],
    ["an empty batch", { body: [] }, 400, -32600],
    ["a batch of 21", { body: Array.from({ length: 21 }, () => LIST) }, 400, -32600],
    ["a batch in a revision without", { headers: { "mcp-protocol-version": "2025-06-18" }, body: [LIST] }, 400, -32600],
    ["a batch with a broken element", { body: [LIST, 5] }, 400, -32600],
    ["tools/call without a name", { body: rpc("tools/call", { arguments: {} }) }, 200, -32602],
    ["tools/call without params", { body: rpc("tools/call") }, 200, -32602],
    ["an unknown tool", { body: rpc("tools/call", { name: "kb_delete" }) }, 200, -32602],
    ["a cursor for tools/list", { body: rpc("tools/list", { cursor: "x" }) }, 200, -32602],
    ["a server fault", { body: rpc("tools/call", { name: "kb_search_entities" }) }, 200, -32603],
    ["any accept", { headers: { accept: "*/*" }, body: LIST }, 200, undefined],
    ["no accept", { headers: { accept: undefined }, body: LIST }, 200, undefined],
    [
      "json with a charset",
      { headers: { "content-type": "application/json; charset=utf-8" }, body: LIST },
      200,
      undefined,
    ],
  ])("%s", async (_name, sent, status, code) => {
    const answer = await send(sent);
    expect(answer.status).toBe(status);
    expect(answer.json?.["error"]?.code).toBe(code);
    expect(answer.json?.["jsonrpc"]).toBe("2.0");
    // The id comes back once a request was understood; before, nobody knows it.
    const isUnderstood = status === 200 || code === -32000 || code === -32022;
    expect(answer.json?.["id"]).toBe(isUnderstood ? 1 : null);
    expect(answer.headers.get("allow")).toBe(status === 405 ? "POST" : null);
    const challenge = answer.headers.get("www-authenticate");
    if (status === 401) expect(challenge).toMatch(/^Bearer /);
    // A caller without a good token is told where tokens come from.
    if (challenge !== null) expect(challenge).toContain('resource_metadata="http://kb.test/metadata"');
    expect(answer.headers.get("mcp-session-id")).toBeNull();
  });

  test("a fault of the server tells nothing but the request id, and is logged", async () => {
    const { json, logged, text } = await send({ body: rpc("tools/call", { name: "kb_search_entities" }) });
    expect(json?.["error"].data).toEqual({ code: "internal", requestId: "req_test" });
    expect(text).not.toContain("secret");
    expect(logged).toHaveLength(1);
  });

  test("what the caller can mend is a result with isError and the code first", async () => {
    const { status, json } = await send({ body: rpc("tools/call", { name: "kb_get_file_content", arguments: {} }) });
    expect(status).toBe(200);
    expect(json?.["result"]).toEqual({ content: [{ type: "text", text: "not_found: no item." }], isError: true });
  });
});

describe("notifications and batches", () => {
  test.each(["notifications/initialized", "notifications/cancelled", "anything"])(
    "%s gets 202 and nothing",
    async (method) => {
      const { status, text } = await send({ body: { jsonrpc: "2.0", method } });
      expect([status, text]).toEqual([202, ""]);
    },
  );

  test("an unexpected answer gets 202", async () => {
    expect((await send({ body: { jsonrpc: "2.0", id: 1, result: {} } })).status).toBe(202);
  });

  test("a batch is answered in order, each element by the same rules, and each counts", async () => {
    let charged = 0;
    const charge = () => void (charged += 1);
    const batch = [
      rpc("tools/call", { name: "kb_search" }, 1),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      rpc("initialize", {}, 2),
      rpc("tools/call", { name: "kb_get_file_content" }, 3),
    ];
    const { handler } = makeHandler({ charge });
    const response = await handler(makeRequest({ body: batch }), ORIGIN);
    // Shape under test; a wrong one fails the expectation.
    const answers = (await response.json()) as { id: number; error?: { code: number } }[];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [2, -32601],
      [3, undefined],
    ]);
    expect(charged).toBe(2);
  });

  test("others are answered between the messages of a batch", async () => {
    const seen: string[] = [];
    const tools: McpOptions["tools"] = {
      call: () => {
        seen.push("message");
        return Promise.resolve({ text: "" });
      },
    };
    const call = (id: number) => ({ ...rpc("tools/call", { name: "kb_search", arguments: {} }), id });
    const other = (): void => {
      seen.push("other");
      if (seen.length < 8) setImmediate(other);
    };
    setImmediate(other);
    await send({ body: [1, 2, 3].map(call) }, { tools });
    const messages = [...seen.entries()].filter(([, who]) => who === "message").map(([at]) => at);
    expect(messages).toHaveLength(3);
    expect(messages.every((at, n) => n === 0 || at - (messages[n - 1] ?? 0) > 1)).toBe(true);
  });

  test("a name that nothing has is refused unread when it is long", async () => {
    const long = "![a](".repeat(50_000);
    expect((await send({ body: rpc(long) })).json?.["error"].message).toBe(
      "Method not found: its name is longer than 200 characters.",
    );
    const { text } = await send(
      { body: rpc("tools/call", { name: long }) },
      { tools: { call: () => Promise.resolve(undefined) } },
    );
    expect(text).toContain("Unknown tool: a name of 250000 characters. Tools: kb_search,");
  });

  test("a batch of notifications gets 202", async () => {
    expect((await send({ body: [{ jsonrpc: "2.0", method: "x" }] })).status).toBe(202);
  });
});

describe("legacy clients", () => {
  test.each<[string | undefined, string, string]>([
    [undefined, "2025-11-25", "2025-11-25"],
    [undefined, "2024-11-05", "2024-11-05"],
    [undefined, "2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18", "2025-06-18"],
    [undefined, "2099-01-01", "2025-11-25"],
    ["2026-07-28", "2026-07-28", "2025-11-25"],
    ["2099-01-01", "2099-01-01", "2025-11-25"],
    ["2099-01-01", "2025-06-18", "2025-06-18"],
  ])("header %s, initialize for %s is answered with %s", async (header, asked, agreed) => {
    const { json } = await send({
      headers: { "mcp-protocol-version": header },
      body: rpc("initialize", { protocolVersion: asked, capabilities: {}, clientInfo: { name: "t", version: "1" } }),
    });
    expect(json?.["result"]).toMatchObject({
      protocolVersion: agreed,
      capabilities: { tools: {} },
      serverInfo: { name: "kb", version: "1.2.3" },
    });
    expect(json?.["result"].instructions).toContain("kb_search");
  });

  test.for([
    ["resources/list", { resources: [] }],
    ["resources/templates/list", { resourceTemplates: [] }],
    ["prompts/list", { prompts: [] }],
  ] as const)("%s is empty, as hosts ask for it whatever a server declares", async ([method, result]) => {
    for (const version of [undefined, "2024-11-05", "2025-06-18", "2025-11-25"]) {
      const { json } = await send({ headers: { "mcp-protocol-version": version }, body: rpc(method) });
      expect(json).toEqual({ jsonrpc: "2.0", id: 1, result });
    }
  });

  test("ping is answered, everything else is not", async () => {
    const headers = { "mcp-protocol-version": "2025-11-25" };
    expect((await send({ headers, body: rpc("ping") })).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    const other = await send({ headers, body: rpc("resources/read") });
    expect([other.status, other.json?.["error"].code]).toEqual([200, -32601]);
  });

  test("strict refuses initialize for every header, open answers it for every header", async () => {
    for (const version of [undefined, "2025-11-25", "2025-03-26"]) {
      const sent = { headers: { "mcp-protocol-version": version }, body: rpc("initialize", {}) };
      expect((await send(sent, { lifecycle: "strict" })).json?.["error"].code).toBe(-32601);
      expect((await send(sent, { lifecycle: "open" })).json?.["result"].capabilities).toEqual({ tools: {} });
    }
  });
});

describe("the revision of 2026-07-28", () => {
  const VERSION = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const modern = (method: string, params: Record<string, unknown> = {}, headers: Sent["headers"] = {}): Sent => ({
    headers: { "mcp-protocol-version": VERSION, "mcp-method": method, ...headers },
    body: rpc(method, { ...params, _meta: meta }),
  });

  test("server/discover says what there is", async () => {
    const { status, json } = await send(modern("server/discover"));
    expect(status).toBe(200);
    expect(json?.["result"]).toMatchObject({
      resultType: "complete",
      supportedVersions: [VERSION],
      capabilities: { tools: {} },
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "kb", version: "1.2.3" } },
    });
  });

  test("tools are listed and called", async () => {
    const list = await send(modern("tools/list"));
    expect(list.json?.["result"]).toMatchObject({ resultType: "complete", cacheScope: "private" });
    expect(list.json?.["result"].tools).toHaveLength(4);
    const call = await send(modern("tools/call", { name: "kb_search", arguments: {} }, { "mcp-name": "kb_search" }));
    expect(call.json?.["result"]).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: "got {}" }],
    });
    const encoded = `=?base64?${Buffer.from("kb_search").toString("base64")}?=`;
    expect((await send(modern("tools/call", { name: "kb_search" }, { "mcp-name": encoded }))).status).toBe(200);
  });

  test.each(["initialize", "ping", "resources/list"])("%s is 404 -32601", async (method) => {
    const { status, json } = await send(modern(method));
    expect([status, json?.["error"].code, json?.["id"]]).toEqual([404, -32601, 1]);
  });

  test.each<[string, Sent, number]>([
    ["no Mcp-Method", modern("tools/list", {}, { "mcp-method": undefined }), -32020],
    ["another Mcp-Method", modern("tools/list", {}, { "mcp-method": "tools/call" }), -32020],
    ["no Mcp-Name", modern("tools/call", { name: "kb_search" }), -32020],
    ["another Mcp-Name", modern("tools/call", { name: "kb_search" }, { "mcp-name": "x" }), -32020],
    ["broken Mcp-Name", modern("tools/call", { name: "kb_search" }, { "mcp-name": "=?base64?%%?=" }), -32020],
    ["no version header", modern("tools/list", {}, { "mcp-protocol-version": undefined }), -32020],
    ["another version header", modern("tools/list", {}, { "mcp-protocol-version": "2025-11-25" }), -32020],
    ["no envelope", { ...modern("tools/list"), body: rpc("tools/list") }, -32602],
    ["half an envelope", { ...modern("tools/list"), body: rpc("tools/list", { _meta: { progressToken: 1 } }) }, -32602],
  ])("%s is 400", async (_name, sent, code) => {
    const { status, json } = await send(sent);
    expect([status, json?.["error"].code, json?.["id"]]).toEqual([400, code, 1]);
  });

  test("an envelope of a revision to come names what there is", async () => {
    const later = { ...meta, "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
    const { status, json } = await send({
      headers: { "mcp-protocol-version": undefined, "mcp-method": "tools/list" },
      body: rpc("tools/list", { _meta: later }),
    });
    expect([status, json?.["error"].code]).toEqual([400, -32022]);
    expect(json?.["error"].data).toEqual({ supported: [VERSION], requested: "2031-01-01" });
  });

  test("an envelope of no revision at all is refused in the words of the newest, whatever the header says", async () => {
    const unknown = { ...meta, "io.modelcontextprotocol/protocolVersion": "v999.0.0" };
    const { status, json } = await send({
      headers: { "mcp-protocol-version": "v999.0.0", "mcp-method": "tools/list" },
      body: rpc("tools/list", { _meta: unknown }),
    });
    expect([status, json?.["error"].code, json?.["id"]]).toEqual([400, -32022, 1]);
    expect(json?.["error"].data).toEqual({ supported: [VERSION], requested: "v999.0.0" });
  });

  test("a notification needs no headers", async () => {
    expect((await send({ body: { jsonrpc: "2.0", method: "notifications/x", params: { _meta: meta } } })).status).toBe(
      202,
    );
  });
});

describe("long calls", () => {
  const withToken = rpc("tools/call", { name: "kb_search", arguments: {}, _meta: { progressToken: "p1" } }, 9);

  test("with a progress token the answer is a stream of progress and then the result", async () => {
    const { text, headers } = await send({ body: withToken });
    expect(headers.get("content-type")).toBe("text/event-stream");
    const events = text
      .trim()
      .split("\n\n")
      .map((event) => JSON.parse(event.replace(/^event: message\ndata: /, "")));
    expect(events).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "p1", progress: 1, total: 2, message: "searching" },
      },
      { jsonrpc: "2.0", id: 9, result: expect.objectContaining({ content: [{ type: "text", text: "got {}" }] }) },
    ]);
  });

  test("a client that takes no stream gets plain JSON", async () => {
    const { headers } = await send({ headers: { accept: "application/json" }, body: withToken });
    expect(headers.get("content-type")).toBe("application/json");
  });

  test.each([LIST, withToken])("a client that goes away aborts the tool", async (body) => {
    const seen: AbortSignal[] = [];
    let entered: () => void = () => undefined;
    const inTool = new Promise<void>((resolve) => (entered = resolve));
    const tools: ToolCalls = {
      call: (_actor, _name, _args, { signal }) => {
        seen.push(signal);
        entered();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
      },
    };
    const client = new AbortController();
    const { handler } = makeHandler({ tools });
    const call = body === LIST ? rpc("tools/call", { name: "kb_search" }) : body;
    const pending = handler(makeRequest({ body: call, signal: client.signal }), ORIGIN);
    await inTool;
    client.abort();
    expect(seen[0]?.aborted).toBe(true);
    await pending;
  });

  test("over the limit the model is told to wait; far over it the endpoint answers 429", async () => {
    const body = rpc("tools/call", { name: "kb_search" });
    const soft = await send({ body }, { charge: () => ({ retryAfterMs: 11_200, isHard: false }) });
    expect([soft.status, soft.json?.["result"].isError]).toEqual([200, true]);
    expect(soft.json?.["result"].content[0].text).toBe(
      "rate_limited: Too many calls with this token. Wait 12 seconds, then repeat the call.",
    );
    const hard = await send({ body }, { charge: () => ({ retryAfterMs: 11_200, isHard: true }) });
    expect([hard.status, hard.json?.["error"].code]).toEqual([429, -32029]);
  });
});

describe("ids of any size", () => {
  const LARGE = "9223372036854775807";
  const raw = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id": ${LARGE} ,"method":"${method}","params":${params}}`;
  const textOf = async (sent: Sent) => await (await makeHandler().handler(makeRequest(sent), ORIGIN)).text();

  test("come back with every digit: in answers, errors, refusals, batches and streams", async () => {
    const search = '{"name":"kb_search","arguments":{}}';
    expect(await textOf({ raw: raw("tools/list", "null") })).toMatch(
      new RegExp(`^{"jsonrpc":"2.0","id":${LARGE},"result"`),
    );
    expect(await textOf({ raw: raw("tools/call", search) })).toContain(`"id":${LARGE},"result"`);
    expect(await textOf({ raw: raw("nonsense", "{}") })).toContain(`"id":${LARGE},"error"`);
    const unknown = { "mcp-protocol-version": "1999-01-01" };
    expect(await textOf({ raw: raw("ping", "{}"), headers: unknown })).toContain(`"id":${LARGE},"error"`);
    const two = await textOf({
      raw: `[${raw("tools/list", "{}")}, {"jsonrpc":"2.0","id":"9223372036854775807","method":"x"}]`,
    });
    expect(two).toMatch(
      new RegExp(`^\\[{"jsonrpc":"2.0","id":${LARGE},.*,{"jsonrpc":"2.0","id":"${LARGE}","error".*\\]$`),
    );
    const streamed = await textOf({
      raw: raw("tools/call", `{"name":"kb_search","arguments":{},"_meta":{"progressToken":${LARGE}}}`),
    });
    expect(streamed).toContain(`"params":{"progressToken":${LARGE},"progress":1,`);
    expect(streamed).toContain(`data: {"jsonrpc":"2.0","id":${LARGE},"result"`);
  });
});
