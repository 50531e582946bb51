import { expect, test } from "vitest";
import { paramHeaders, paramHeadersOf } from "#mcp-client/param-headers.ts";
import { open, startRaw } from "./servers.ts";

const text = (name: unknown) => ({ type: "string", "x-mcp-header": name });
const object = (properties: object) => ({ type: "object", properties });

test("properties name their headers, at any depth of objects", () => {
  const schema = object({
    region: text("Region"),
    limit: { type: "integer", "x-mcp-header": "Limit" },
    where: object({ tenant: text("Tenant-Id"), isOpen: { type: "boolean", "x-mcp-header": "Open" } }),
    "x-mcp-header": { type: "string" },
    plain: { type: "string", default: { "x-mcp-header": "data" } },
  });
  const wanted = paramHeadersOf(schema) ?? [];
  expect(wanted.map(({ name, path }) => [name, path.join(".")])).toEqual([
    ["Region", "region"],
    ["Limit", "limit"],
    ["Tenant-Id", "where.tenant"],
    ["Open", "where.isOpen"],
  ]);
  expect(paramHeaders(wanted, { region: "eu west", limit: 5, where: { tenant: "a", isOpen: false } })).toEqual({
    "Mcp-Param-Region": "eu west",
    "Mcp-Param-Limit": "5",
    "Mcp-Param-Tenant-Id": "a",
    "Mcp-Param-Open": "false",
  });
  expect(paramHeaders(wanted, { region: null, limit: 1.5, where: "a" })).toEqual({});
});

test.each([
  ["no name", object({ a: text("") })],
  ["a name that is no text", object({ a: text(7) })],
  ["a space in the name", object({ a: text("A B") })],
  ["a line break in the name", object({ a: text("A\r\nAuthorization: x") })],
  ["the same name in another case", object({ a: text("Id"), b: text("ID") })],
  ["an object", object({ a: { type: "object", "x-mcp-header": "A" } })],
  ["a number", object({ a: { type: "number", "x-mcp-header": "A" } })],
  ["no type", object({ a: { "x-mcp-header": "A" } })],
  ["the arguments themselves", text("A")],
  ["items of a list", object({ a: { type: "array", items: text("A") } })],
  ["one of several schemas", object({ a: { anyOf: [text("A")] } })],
  ["a definition", { ...object({}), $defs: { a: text("A") } }],
])("a tool whose header is of %s may not be called", (_what, schema) => {
  expect(paramHeadersOf(schema)).toBeUndefined();
});

test.each([
  ["ü", "=?base64?w7w=?="],
  [" a", "=?base64?IGE=?="],
  ["a\r\nAuthorization: x", "=?base64?YQ0KQXV0aG9yaXphdGlvbjogeA==?="],
  ["", "=?base64??="],
  ["=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="],
  ["a b", "a b"],
])("the value %j travels as %s", (value, sent) => {
  expect(paramHeaders([{ path: ["a"], name: "A" }], { a: value })).toEqual({ "Mcp-Param-A": sent });
});

test("a server of the newest revision gets the headers, and tools with headers that may not be are left out", async () => {
  const sent: unknown[] = [];
  const tools = [
    { name: "search", inputSchema: object({ query: text("Query") }) },
    { name: "broken", inputSchema: object({ query: text("Q Q") }) },
  ];
  const url = await startRaw({
    "server/discover": () => ({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      serverInfo: { name: "fake", version: "1" },
      ttlMs: 0,
      cacheScope: "private",
    }),
    "tools/list": () => ({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" }),
    "tools/call": ({ request }) => {
      sent.push(request.headers["mcp-param-query"]);
      return { resultType: "complete", content: [] };
    },
  });
  const session = await open(url);
  expect(session.protocolVersion).toBe("2026-07-28");
  const { items, leftOut } = await session.listTools();
  expect([items.map(({ name }) => name), leftOut]).toEqual([["search"], 1]);
  await session.callTool("search", { query: "blue kettle" });
  expect(sent).toEqual(["blue kettle"]);
});
