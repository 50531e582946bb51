import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { MappingBody } from "#api/provider-servers.ts";
import { pinMapping } from "#mcp-client/mapping.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import type { KitFixture } from "../kit/fixture.ts";
import { makeReplica, runInto } from "../kit/replica.ts";
import { open } from "./servers.ts";
import { findFastMcp, findNodeServers, findPythonMcp, startProgram } from "./real-servers.ts";

const TIMEOUT = { timeout: 120_000 };
const NODE = findNodeServers();

/** What a run of the source over the server hands over: texts by id. */
async function sync(url: string, draft: MappingBody = {}): Promise<Map<string, string | undefined>> {
  const source = makeMcpSource();
  const { items: tools } = await (await open(url)).listTools();
  const pinned = pinMapping(draft, tools);
  if (!("mapping" in pinned)) throw new Error(JSON.stringify(pinned.faults));
  const replica = makeReplica();
  const mcp = { open: ({ signal }: { signal: AbortSignal }) => open(url, { signal }), mapping: pinned.mapping };
  const fixture = { source, config: source.spec.config.parse({}), context: { mcp } };
  // What a run needs of a fixture.
  await runInto(fixture as unknown as KitFixture, replica);
  return new Map(
    [...replica.items.values()].map(({ externalId, content }) => [
      externalId,
      content.type === "inline" ? content.text : undefined,
    ]),
  );
}

describe.skipIf(NODE === undefined)("servers of the reference collection", () => {
  test("server-everything: tools, resources, templates, completion and notices", TIMEOUT, async () => {
    const program = `${NODE}/@modelcontextprotocol/server-everything/dist/index.js`;
    const base = await startProgram([process.execPath, program, "streamableHttp"], { says: /listening on port/i });
    const url = `${base}/mcp`;
    const session = await open(url, { isListening: true });
    expect(session.capabilities).toEqual({
      tools: true,
      resources: true,
      subscribe: true,
      listChanged: true,
      completions: true,
    });
    const tools = (await session.listTools()).items.map(({ name }) => name);
    expect(tools).toEqual(expect.arrayContaining(["echo", "toggle-subscriber-updates"]));
    expect(await session.callTool("echo", { message: "hello" })).toMatchObject({
      content: [{ type: "text", text: "Echo: hello" }],
    });
    const { items } = await session.listResources();
    const [first] = items;
    expect(items.length).toBeGreaterThan(3);
    expect(await session.readResource(first?.uri ?? "")).toMatchObject([{ type: "text" }]);
    expect((await session.listResourceTemplates()).items.length).toBeGreaterThan(0);
    const updated = new Promise<string>((resolve) => session.onUpdated(resolve));
    await session.subscribe(first?.uri ?? "");
    await session.callTool("toggle-subscriber-updates", {});
    expect(await updated).toBe(first?.uri);
    const texts = await sync(url);
    expect([...texts.keys()]).toContain(`resource:${first?.uri}`);
    expect(texts.size).toBeGreaterThanOrEqual(items.length);
  });

  test("server-filesystem behind supergateway has tools only, and is read as they are mapped", TIMEOUT, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "kb-mcp-files-")));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "notes"));
    writeFileSync(join(folder, "notes/plan.md"), "the plan of the quarter");
    writeFileSync(join(folder, "read me.txt"), "read this first");
    const stdio = `${process.execPath} ${NODE}/@modelcontextprotocol/server-filesystem/dist/index.js ${folder}`;
    const gateway = [process.execPath, `${NODE}/supergateway/dist/index.js`, "--stdio", stdio];
    const base = await startProgram([...gateway, "--outputTransport", "streamableHttp", "--port", "$PORT"], {
      says: /listening on port/i,
    });
    const url = `${base}/mcp`;
    expect((await open(url)).capabilities).toMatchObject({ tools: true, resources: false });
    const texts = await sync(url, {
      list: { tool: "search_files", args: { path: folder, pattern: "**/*.*" } },
      fetch: { tool: "read_text_file", args: {}, argument: "path" },
    });
    expect([...texts].sort()).toEqual([
      [`tool:${folder}/notes/plan.md`, "the plan of the quarter"],
      [`tool:${folder}/read me.txt`, "read this first"],
    ]);
  });
});

/** A server with a resource, a template and a search; the two libraries differ in two lines. */
const SCRIPT = (head: string, run: string) => `
import os
${head}
@mcp.resource("note://one", mime_type="text/markdown")
def one() -> str:
    return "the first note"
@mcp.tool()
def search(query: str) -> dict:
    return {"results": [{"id": "n1", "title": f"Note about {query}", "url": "https://notes.example/1"}]}
@mcp.tool()
def notes() -> list[dict]:
    return [{"id": "n1", "title": "Note 1"}, {"id": "n2", "title": "Note 2"}]
@mcp.tool()
def fetch(id: str) -> str:
    return f"text of {id}"
${run}
`;

const PYTHONS = [
  {
    name: "mcp",
    find: findPythonMcp,
    script: SCRIPT(
      "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('notes', host='127.0.0.1', port=int(os.environ['PORT']))",
      "mcp.run(transport='streamable-http')",
    ),
  },
  {
    name: "fastmcp",
    find: findFastMcp,
    script: SCRIPT(
      "from fastmcp import FastMCP\nmcp = FastMCP('notes')",
      "mcp.run(transport='http', host='127.0.0.1', port=int(os.environ['PORT']), show_banner=False)",
    ),
  },
];

describe.each(PYTHONS)("a server made with Python's $name", ({ find, script }) => {
  const python = find();

  test.skipIf(python === undefined)("its resource and its mapped tools are read", TIMEOUT, async () => {
    if (python === undefined) return;
    const base = await startProgram([python.command, "-c", script], { says: /Uvicorn running/, env: python.env });
    const url = `${base}/mcp`;
    const texts = await sync(url, {
      list: { tool: "notes", args: {} },
      fetch: { tool: "fetch", args: {}, argument: "id" },
    });
    expect(Object.fromEntries(texts)).toEqual({
      "resource:note://one": "the first note",
      "tool:n1": "text of n1",
      "tool:n2": "text of n2",
    });
  });
});
