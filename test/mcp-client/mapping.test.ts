import { expect, test } from "vitest";
import type { McpTool, McpToolResult } from "#mcp-client/contract.ts";
import { readHits, readText } from "#mcp-client/hits.ts";
import { faultsOfMapping, parseMapping, pinMapping, previewTool } from "#mcp-client/mapping.ts";
import { problemFrom } from "./servers.ts";

const tool = (name: string, inputSchema: McpTool["inputSchema"] = {}, pin = "p1"): McpTool => ({
  name,
  inputSchema,
  pin,
  isReadOnly: true,
});
const SEARCH = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };

test("a mapping is pinned to the tools as they are, and unusable once one is gone or has changed", () => {
  const pinned = pinMapping({ search: { tool: "find", args: {}, argument: "query" } }, [tool("find", SEARCH)]);
  if (!("mapping" in pinned)) throw new Error("It doesn't fit.");
  expect(parseMapping(JSON.parse(JSON.stringify(pinned.mapping)))).toEqual(pinned.mapping);
  expect(faultsOfMapping(pinned.mapping, [tool("find", SEARCH)])).toEqual([]);
  expect(faultsOfMapping(pinned.mapping, [tool("find", SEARCH, "p2")])).toEqual([
    { role: "search", tool: "find", reason: "tool_changed" },
  ]);
  expect(faultsOfMapping(pinned.mapping, [])).toMatchObject([{ reason: "tool_gone" }]);
  expect([parseMapping(null), parseMapping({}), parseMapping({ search: { tool: "find" } })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a draft has to fit the tool's arguments", () => {
  const faultOf = (draft: Parameters<typeof pinMapping>[0]) => {
    const pinned = pinMapping(draft, [tool("find", SEARCH), tool("any")]);
    return "faults" in pinned ? pinned.faults.map(({ reason }) => reason) : "fits";
  };
  expect(faultOf({ search: { tool: "find", args: {} } })).toEqual(["argument_missing"]);
  expect(faultOf({ search: { tool: "find", args: {}, argument: "q" } })).toEqual(["argument_unknown"]);
  expect(faultOf({ list: { tool: "find", args: {} } })).toEqual(["argument_missing"]);
  expect(faultOf({ list: { tool: "find", args: { query: "*" } } })).toBe("fits");
  expect(faultOf({ fetch: { tool: "any", args: {}, argument: "whatever" } })).toBe("fits");
  expect(faultOf({ fetch: { tool: "none", args: {}, argument: "id" } })).toEqual(["tool_gone"]);
});

const texts = (...content: string[]): McpToolResult => ({
  isError: false,
  content: content.map((text) => ({ type: "text", text })),
});

test.each<[string, McpToolResult, unknown]>([
  [
    "the structured form",
    { ...texts("x"), structured: { results: [{ id: 7, title: "T", url: "https://a.example/" }] } },
    [{ id: "7", title: "T", url: "https://a.example/" }],
  ],
  [
    "JSON in a text",
    texts('{"items":[{"path":"a/b.md","modified":"2026-01-01T00:00:00Z"}]}'),
    [{ id: "a/b.md", title: "a/b.md", updatedAt: Date.UTC(2026, 0, 1) }],
  ],
  [
    "a list of texts in JSON",
    texts('["a", "b", "a"]'),
    [
      { id: "a", title: "a" },
      { id: "b", title: "b" },
    ],
  ],
  [
    "links to resources",
    { isError: false, content: [{ type: "link", resource: { uri: "a://b", name: "B" } }] },
    [{ id: "a://b", title: "B" }],
  ],
  [
    "lines",
    texts("/a/1.md\n/a/2.md\n\n"),
    [
      { id: "/a/1.md", title: "/a/1.md" },
      { id: "/a/2.md", title: "/a/2.md" },
    ],
  ],
  [
    "lines in a wrapped text",
    { ...texts("/a/1.md"), structured: { content: "/a/1.md" } },
    [{ id: "/a/1.md", title: "/a/1.md" }],
  ],
  [
    "Python's wrapped list",
    { ...texts("x"), structured: { result: [{ id: "1", text: "t" }] } },
    [{ id: "1", title: "1", text: "t" }],
  ],
])("entries are read from %s", (_what, result, hits) => {
  expect(readHits(result).hits).toEqual(hits);
});

test("entries that could pass for others, and links that lead to scripts, are left out", () => {
  const results = [
    { id: "a\u202Eb", title: "x" },
    { id: "ok", title: "T\u0007\u202Eitle\nkbId: forged", url: "javascript:alert(1)" },
    { id: "", title: "" },
    5,
    { id: "x".repeat(2_000) },
  ];
  expect(readHits({ content: [], structured: { results } }).hits).toEqual([{ id: "ok", title: "Title kbId: forged" }]);
});

test("a bomb inside a text is a text", () => {
  const bomb = `{"results":${"[".repeat(200_000)}`;
  expect(readHits(texts(bomb)).hits).toEqual([]);
  expect(readText(texts(bomb)).text).toBe(bomb);
});

test("text is read from the structured form, from JSON, from embedded resources, or as it is", () => {
  expect(readText({ ...texts("x"), structured: { id: "1", text: "whole" } })).toEqual({ text: "whole" });
  expect(readText(texts('{"id":"1","content":"whole"}'))).toEqual({ text: "whole" });
  const embedded = { uri: "a://b", type: "text" as const, text: "<p>", mimeType: "text/html" };
  expect(readText({ content: [{ type: "resource", content: embedded }] })).toEqual({
    text: "<p>",
    mimeType: "text/html",
  });
  expect(readText(texts("one", "two"))).toEqual({ text: "one\n\ntwo" });
});

test("a preview calls the tool once and shows what would be read", async () => {
  const calls: unknown[] = [];
  const session = {
    async callTool(name: string, args: Readonly<Record<string, unknown>>) {
      calls.push([name, args]);
      return name === "fails" ? { ...texts("PLANTED"), isError: true } : texts("a\nb");
    },
  };
  expect(await previewTool(session, "search", { tool: "find", args: { limit: 5 }, argument: "query" }, "plan")).toEqual(
    {
      hits: [
        { id: "a", title: "a" },
        { id: "b", title: "b" },
      ],
    },
  );
  expect(await previewTool(session, "fetch", { tool: "read", args: {}, argument: "id" }, "a")).toEqual({
    text: "a\nb",
  });
  expect(calls).toEqual([
    ["find", { limit: 5, query: "plan" }],
    ["read", { id: "a" }],
  ]);
  expect(await problemFrom(previewTool(session, "list", { tool: "fails", args: {} }, undefined))).toBe("call: refused");
});
