import { describe } from "vitest";
import { verifies } from "../../requirements.ts";
import { TEST_NOW, type TestUser } from "../../helpers.ts";
import { DAY, makeKit, type TestItem } from "./kit.ts";

/** Exactly the headers of the contract. */
const HEADERS = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": "2025-03-26",
};

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

const TASKS: TestItem[] = Array.from({ length: 12 }, (_, n) => ({
  title: `Release task ${n}`,
  text: `Step ${n} of the release.`,
  kind: "task",
  status: "open",
  url: `https://tasks.test/${n}`,
  updatedAt: TEST_NOW - n * DAY,
}));

async function makeDialogue() {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId);
  await kb.addItems(owner, [
    ...TASKS,
    { title: "Release notes", text: "What is in the release.", kind: "file" },
    { title: "Release secret", text: "release", kind: "task", readers: [`user:${owner.userId}`] },
  ]);
  const token = await kb.token(member);
  const send = (body: unknown, headers: Record<string, string> = HEADERS) =>
    kb.withToken(token).request("POST", "/mcp", { body, headers });
  const call = async (name: string, args: unknown, id: unknown = 1) =>
    send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  return { kb, owner, member: member satisfies TestUser, token, send, call };
}

describe("the dialogue of the contract", () => {
  verifies(
    [
      "mcp:lists-kb-search",
      "mcp:lists-kb-search-entities",
      "mcp:lists-kb-get-entity-context",
      "mcp:lists-kb-get-file-content",
    ],
    "tools/list answers a request with exactly its headers and names the four tools",
    async ({ expect }) => {
      const { send } = await makeDialogue();
      const { status, json } = await send(LIST);
      expect(status).toBe(200);
      expect(json.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
        "kb_search",
        "kb_search_entities",
        "kb_get_entity_context",
        "kb_get_file_content",
      ]);
    },
  );

  verifies(
    ["mcp:header-authorization", "auth:mcp-takes-pat", "auth:scope"],
    "Authorization carries Bearer with a token that has mcp:read, and nothing else is let in",
    async ({ expect }) => {
      const { kb, member, token } = await makeDialogue();
      const ask = async (authorization: string | undefined) => {
        const headers = { ...HEADERS, ...(authorization !== undefined && { authorization }) };
        const { status, json } = await kb.anyone().request("POST", "/mcp", { body: LIST, headers });
        return [status, json.error?.code];
      };
      expect(await ask(`Bearer ${token}`)).toEqual([200, undefined]);
      expect(await ask(`bearer ${token}`)).toEqual([200, undefined]);
      const basic = `Basic ${Buffer.from(`kb:${token}`).toString("base64")}`;
      for (const wrong of [undefined, "", token, `Token ${token}`, basic, "Bearer", `Bearer ${token}x`]) {
        expect([wrong, await ask(wrong)]).toEqual([wrong, [401, -32001]]);
      }
      expect(await ask(`Bearer ${await kb.token(member, ["kb:api"])}`)).toEqual([403, -32003]);
      expect(await ask(`Bearer ${await kb.token(member, ["kb:api", "mcp:read"])}`)).toEqual([200, undefined]);
    },
  );

  verifies(
    "mcp:header-accept",
    "Accept decides between JSON and a stream of events, and a client without one gets JSON",
    async ({ expect }) => {
      const { kb, token } = await makeDialogue();
      const meta = { progressToken: "p" };
      const params = { name: "kb_search", arguments: { query: "release" }, _meta: meta };
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      const typeOf = async (body: unknown, accept: string | undefined) => {
        const { accept: _, ...others } = HEADERS;
        const headers = { ...others, ...(accept !== undefined && { accept }) };
        const { status, headers: answered } = await kb.withToken(token).request("POST", "/mcp", { body, headers });
        return [status, answered.get("content-type")];
      };
      const [json, events] = [
        [200, "application/json"],
        [200, "text/event-stream"],
      ];
      for (const accept of [HEADERS.accept, "text/event-stream", "*/*"]) {
        expect([accept, await typeOf(call, accept)]).toEqual([accept, events]);
        // Only a call that asked for progress has events to wait for.
        expect([accept, await typeOf(LIST, accept)]).toEqual([accept, json]);
      }
      for (const accept of ["application/json", undefined]) {
        expect([accept, await typeOf(call, accept)]).toEqual([accept, json]);
      }
    },
  );

  verifies("mcp:header-content-type", "Content-Type is JSON, or the body is not read", async ({ expect }) => {
    const { kb, token } = await makeDialogue();
    const ask = async (type: string | undefined) => {
      const { "content-type": _, ...others } = HEADERS;
      const headers = { ...others, ...(type !== undefined && { "content-type": type }) };
      const { status, json } = await kb
        .withToken(token)
        .request("POST", "/mcp", { raw: JSON.stringify(LIST), headers });
      return [status, json.error?.code];
    };
    for (const type of ["application/json", "application/json; charset=utf-8", "Application/JSON"]) {
      expect([type, await ask(type)]).toEqual([type, [200, undefined]]);
    }
    for (const type of [undefined, "text/plain", "application/x-www-form-urlencoded", "application/jsonlines"]) {
      expect([type, await ask(type)]).toEqual([type, [415, -32600]]);
    }
  });

  verifies(
    ["mcp:header-protocol-version", "versioning:header"],
    "Mcp-Protocol-Version 2025-03-26 is served, as is a request that names none; one that no one knows is an error",
    async ({ expect }) => {
      const { send } = await makeDialogue();
      const ask = async (version: string | undefined) => {
        const { "mcp-protocol-version": _, ...others } = HEADERS;
        const headers = { ...others, ...(version !== undefined && { "mcp-protocol-version": version }) };
        const { status, json } = await send(LIST, headers);
        return [status, json.id, json.error?.code];
      };
      for (const version of ["2025-03-26", undefined]) {
        expect([version, await ask(version)]).toEqual([version, [200, 1, undefined]]);
      }
      for (const version of ["2025-03-27", "latest", "2025-03-26, 2025-06-18"]) {
        expect([version, (await ask(version)).slice(0, 2)]).toEqual([version, [400, 1]]);
      }
    },
  );

  verifies(
    ["mcp:body-jsonrpc", "mcp:body-id", "mcp:body-method"],
    "a request says jsonrpc 2.0 and its method, and its id comes back unchanged",
    async ({ expect }) => {
      const { send } = await makeDialogue();
      for (const id of [1, "abc", 0, "", -7, 1.5]) {
        const { status, json } = await send({ ...LIST, id });
        expect([status, json.jsonrpc, json.id]).toEqual([200, "2.0", id]);
      }
      const call = { ...LIST, id: "c", method: "tools/call", params: { name: "kb_search", arguments: { query: "x" } } };
      expect((await send(call)).json).toMatchObject({ jsonrpc: "2.0", id: "c", result: {} });
      const { method, jsonrpc, ...bare } = LIST;
      const wrong = [
        { ...LIST, id: null },
        { ...LIST, id: {} },
        { ...bare, method },
        { ...bare, jsonrpc },
      ];
      for (const body of [...wrong, { ...LIST, jsonrpc: "1.0" }, { ...LIST, jsonrpc: 2 }, { ...LIST, method: 5 }]) {
        const { status, json } = await send(body);
        expect([body, status, json.error.code]).toEqual([body, 400, -32600]);
      }
    },
  );

  verifies(
    ["service:one-endpoint", "service:json-rpc", "service:two-methods"],
    "both methods of JSON-RPC are served at POST /mcp, and at no address beside it",
    async ({ expect }) => {
      const { kb, token, call, send } = await makeDialogue();
      expect((await send(LIST)).json.result.tools).toHaveLength(4);
      expect((await call("kb_search", { query: "release" })).json.result.structuredContent.total).toBe(13);
      for (const path of ["/", "/mcp//", "/mcp/x", "/api/mcp", "/sse", "/messages", "/v1/mcp"]) {
        const { status } = await kb.withToken(token).request("POST", path, { body: LIST, headers: HEADERS });
        expect([path, [404, 405].includes(status)]).toEqual([path, true]);
      }
      const broken = await kb.withToken(token).request("POST", "/mcp", { raw: "{", headers: HEADERS });
      expect([broken.status, broken.json.error.code]).toEqual([400, -32700]);
    },
  );

  verifies(
    ["mcp:call-params", "mcp:body-params"],
    "tools/call carries the tool's name and its arguments, and without them is an error",
    async ({ expect }) => {
      const { send } = await makeDialogue();
      const call = async (params?: unknown) =>
        (await send({ jsonrpc: "2.0", id: 1, method: "tools/call", ...(params !== undefined && { params }) })).json;
      const search = await call({ name: "kb_search", arguments: { query: "release", limit: 1 } });
      expect(search.result.structuredContent.results).toHaveLength(1);
      const entities = await call({ name: "kb_search_entities", arguments: { query: "release" } });
      expect(entities.result.structuredContent).toMatchObject({ total: 0 });
      for (const params of [undefined, {}, { arguments: { query: "release" } }, { name: 5 }, { name: "kb_delete" }]) {
        expect([params, (await call(params)).error?.code]).toEqual([params, -32602]);
      }
      const unnamed = await call({ name: "kb_get_file_content", arguments: {} });
      expect(unnamed.result).toMatchObject({ isError: true });
    },
  );

  verifies(
    ["mcp:search-text-results", "auth:visible-only"],
    "kb_search gives exactly the visible tasks as text with their fields",
    async ({ expect }) => {
      const { call, kb, owner } = await makeDialogue();
      const args = { query: "release", kind: "task", sortBy: "recency", limit: 3 };
      const { json } = await call("kb_search", args);
      const { type, text } = json.result.content[0];
      expect(type).toBe("text");
      expect(text.match(/^\[\d\] .*$/gm)).toEqual(["[1] Release task 0", "[2] Release task 1", "[3] Release task 2"]);
      expect(text.match(/^kbId: kbi_\w{16} \| task, open/gm)).toHaveLength(3);
      expect(text).toContain("providerId: push | source: push:tests | URL: https://tasks.test/0");
      expect(text).toContain("> Step 0 of the release.");
      expect(text).not.toContain("secret");
      expect(json.result.structuredContent.total).toBe(12);
      // Anyone who may read it finds one more by the same words.
      const own = await kb.tool(owner, "kb_search", { ...args, limit: 20 });
      expect(own.titles).toContain("Release secret");
      expect(own.data.total).toBe(13);
    },
  );

  verifies(
    ["search-arg:query", "search-arg:kind", "search-arg:sort-by"],
    "query chooses by words, kind by what an item is, and sortBy puts the newest first",
    async ({ expect }) => {
      const { kb, member } = await makeDialogue();
      const titles = async (args: unknown) => (await kb.tool(member, "kb_search", args)).titles;
      const newest = TASKS.map((task) => task.title);
      expect(await titles({ query: "release", kind: "task", sortBy: "recency", limit: 20 })).toEqual(newest);
      expect(await titles({ query: "notes", limit: 20 })).toEqual(["Release notes"]);
      expect(await titles({ query: "release", kind: "file", limit: 20 })).toEqual(["Release notes"]);
      expect((await titles({ query: "release", limit: 20 })).toSorted()).toEqual(
        [...newest, "Release notes"].toSorted(),
      );
      // Without it the words decide: the oldest task is the only one that they name.
      const words = { query: "release task 11", kind: "task", limit: 20 };
      expect((await titles(words))[0]).toBe("Release task 11");
      expect((await titles({ ...words, query: "release", sortBy: "recency" }))[0]).toBe("Release task 0");
    },
  );

  verifies(
    ["search-arg:limit", "limits:search-limit"],
    "limit is the most results that come, and the rest is counted",
    async ({ expect }) => {
      const { call } = await makeDialogue();
      const search = async (limit?: unknown) => {
        const args = { query: "release", kind: "task", ...(limit !== undefined && { limit }) };
        return (await call("kb_search", args)).json.result;
      };
      for (const limit of [1, 3, 12]) {
        const { results, total } = (await search(limit)).structuredContent;
        expect([results.length, total]).toEqual([limit, 12]);
      }
      expect((await search(50)).structuredContent.results).toHaveLength(12);
      expect((await search()).structuredContent.results.length).toBeLessThanOrEqual(12);
    },
  );

  verifies("mcp:search-nothing-visible", "nothing that matches or is visible gives no entries", async ({ expect }) => {
    const { call } = await makeDialogue();
    for (const query of ["secret", "zzzz"]) {
      const { json } = await call("kb_search", { query });
      expect(json.result.structuredContent).toMatchObject({ total: 0, results: [] });
      expect(json.result.content[0].text).not.toMatch(/^kbId:/m);
    }
  });

  verifies(
    ["mcp:unsupported-method", "errors:unsupported-method"],
    "any other method is an error",
    async ({ expect }) => {
      const { send } = await makeDialogue();
      for (const method of ["initialize", "ping", "resources/list", "prompts/list", "tools/remove", "kb_search"]) {
        const { status, json } = await send({ jsonrpc: "2.0", id: 9, method });
        expect([status, json.id, json.error.code]).toEqual([200, 9, -32601]);
        // A client that needs one of the two is told what allows it.
        const isLifecycle = method === "initialize" || method === "ping";
        expect(json.error.message.includes("KB_MCP_LIFECYCLE=open")).toBe(isLifecycle);
      }
    },
  );

  verifies(["mcp:non-post-rejected", "errors:non-post"], "any other verb is an error", async ({ expect }) => {
    const { kb, token } = await makeDialogue();
    const head = await kb.app.request("/mcp", { method: "HEAD", headers: HEADERS });
    expect([head.status, head.headers.get("allow")]).toEqual([405, "POST"]);
    for (const verb of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const { status, headers, json } = await kb.withToken(token).request(verb, "/mcp", { headers: HEADERS });
      expect([verb, status, headers.get("allow")]).toEqual([verb, 405, "POST"]);
      expect(json.error.code).toBe(-32600);
    }
  });

  verifies("auth:mcp-needs-bearer", "without a good token nothing is told", async ({ expect }) => {
    const { kb, token, member } = await makeDialogue();
    const list = { body: LIST, headers: HEADERS };
    const without = await kb.anyone().request("POST", "/mcp", list);
    expect([without.status, without.json.error.code]).toEqual([401, -32001]);
    expect(without.headers.get("www-authenticate")).toMatch(/^Bearer /);
    expect((await kb.as(member).request("POST", "/mcp", list)).status).toBe(401);
    expect((await kb.withToken(await kb.token(member, ["kb:api"])).request("POST", "/mcp", list)).status).toBe(403);
    expect((await kb.withToken(token).request("POST", "/mcp", list)).status).toBe(200);
    const { tokens } = (await kb.as(member).get("/api/api-tokens")).json;
    for (const { id } of tokens) await kb.as(member).delete(`/api/api-tokens/${id}`);
    expect((await kb.withToken(token).request("POST", "/mcp", list)).status).toBe(401);
  });
});
