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
      "mcp:header-authorization",
      "mcp:header-accept",
      "mcp:header-content-type",
      "mcp:header-protocol-version",
      "versioning:header",
      "auth:mcp-takes-pat",
      "auth:scope",
      "mcp:body-jsonrpc",
      "mcp:body-id",
      "mcp:body-method",
      "mcp:lists-kb-search",
      "mcp:lists-kb-search-entities",
      "mcp:lists-kb-get-entity-context",
      "mcp:lists-kb-get-file-content",
      "service:one-endpoint",
    ],
    "tools/list answers a request with exactly its headers and names the four tools",
    async ({ expect }) => {
      const { send } = await makeDialogue();
      for (const id of [1, "abc", 0, "", -7, 1.5]) {
        const { status, json } = await send({ jsonrpc: "2.0", id, method: "tools/list" });
        expect(status).toBe(200);
        expect([json.jsonrpc, json.id]).toEqual(["2.0", id]);
        expect(json.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
          "kb_search",
          "kb_search_entities",
          "kb_get_entity_context",
          "kb_get_file_content",
        ]);
      }
    },
  );

  verifies(
    [
      "mcp:call-params",
      "mcp:body-params",
      "mcp:search-text-results",
      "search-arg:query",
      "search-arg:kind",
      "search-arg:sort-by",
      "limits:search-limit",
      "auth:visible-only",
    ],
    "kb_search gives exactly the newest visible tasks as text with their fields",
    async ({ expect }) => {
      const { call, send } = await makeDialogue();
      const { json } = await call("kb_search", { query: "release", kind: "task", sortBy: "recency", limit: 3 });
      const { text } = json.result.content[0];
      expect(text.match(/^\[\d\] .*$/gm)).toEqual(["[1] Release task 0", "[2] Release task 1", "[3] Release task 2"]);
      expect(text.match(/^kbId: kbi_\w{16} \| task, open/gm)).toHaveLength(3);
      expect(text).toContain("providerId: push | source: push:tests | URL: https://tasks.test/0");
      expect(text).toContain("> Step 0 of the release.");
      expect(text).not.toContain("secret");
      const missing = await send({ jsonrpc: "2.0", id: 1, method: "tools/call" });
      expect(missing.json.error.code).toBe(-32602);
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
    const list = { body: { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers: HEADERS };
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
