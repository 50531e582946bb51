import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { cleanEnv, CLI } from "../bridge/built.ts";
import { tempDir } from "../temp-dir.ts";
import { makeKit } from "../server/mcp/kit.ts";

const PYTHON = findPython();
if (PYTHON === undefined) {
  process.stderr.write(
    "Interop: the Python client was not run (no python with the package mcp; KB_TEST_PYTHON names one).\n",
  );
}

/** What every client is asked to do: list the tools, call all four, and meet an error. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

interface TestServer {
  url: URL;
  token: string;
  kbId: string;
}

async function startServer(): Promise<TestServer> {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const [kbId = ""] = await kb.addItems(owner, [
    { title: "Ledger plan", text: "The ledger closes on Friday.", author: { name: "Anna Kowalska", claimed: true } },
  ]);
  const server = serve({ fetch: kb.app.fetch, port: 0, hostname: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), token: await kb.token(owner), kbId };
}

async function useAllTools(client: AnyClient, kbId: string): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "kb_search",
    "kb_search_entities",
    "kb_get_entity_context",
    "kb_get_file_content",
  ]);
  const call = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));
  expect(await call("kb_search", { query: "ledger" })).toContain(kbId);
  expect(await call("kb_search_entities", { query: "anna" })).toContain("Anna Kowalska");
  expect(await call("kb_get_entity_context", { entity: "Anna Kowalska" })).toContain(kbId);
  expect(await call("kb_get_file_content", { kbId })).toContain("> The ledger closes on Friday.");
  expect(await call("kb_get_file_content", { kbId: "nothing" })).toContain("not_found: ");
}

const ME = { name: "interop", version: "1.0.0" };

/** The two ways to the tools: the server's own endpoint, and the bridge that a host starts. */
const ENDPOINTS = ["/mcp", "the bridge"] as const;
type Endpoint = (typeof ENDPOINTS)[number];

function bearer({ token }: TestServer) {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function bridge({ url, token }: TestServer) {
  const env = cleanEnv(tempDir(), { KB_URL: url.href, KB_TOKEN: token });
  return { command: process.execPath, args: [CLI, "mcp"], env };
}

const transportV1 = (endpoint: Endpoint, server: TestServer) =>
  endpoint === "/mcp" ? new HttpV1(server.url, bearer(server)) : new StdioV1(bridge(server));
const transportV2 = (endpoint: Endpoint, server: TestServer) =>
  endpoint === "/mcp" ? new HttpV2(server.url, bearer(server)) : new StdioV2(bridge(server));

describe.each(ENDPOINTS)("a real client lists and calls all four tools through %s", (endpoint) => {
  test("SDK version 1", async () => {
    const server = await startServer();
    const client = new ClientV1(ME);
    await client.connect(transportV1(endpoint, server));
    onTestFinished(() => client.close());
    await useAllTools(client, server.kbId);
    await client.ping();
    const progress: number[] = [];
    await client.callTool({ name: "kb_search", arguments: { query: "ledger" } }, undefined, {
      onprogress: (report) => void progress.push(report.progress),
    });
    // This client forgets the caller's handler when the answer comes in the same chunk as the progress before it, which
    // pipes do under load; over HTTP they come apart.
    if (endpoint === "/mcp" || progress.length > 0) expect(progress).toEqual([0]);
    expect(client.getInstructions()).toContain("kb_search");
  });

  test.each(["default", "auto"] as const)("SDK version 2, negotiation %s", async (mode) => {
    const server = await startServer();
    const client = new ClientV2(ME, mode === "auto" ? { versionNegotiation: { mode: "auto" } } : {});
    await client.connect(transportV2(endpoint, server));
    onTestFinished(() => client.close());
    await useAllTools(client, server.kbId);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
  });

  test.skipIf(PYTHON === undefined)("the Python package mcp", async () => {
    const server = await startServer();
    const { command, args, env } = bridge(server);
    const target = endpoint === "/mcp" ? [server.url.href, server.token] : [command, ...args];
    const child = spawn(PYTHON ?? "", [join(import.meta.dirname, "client.py"), server.kbId, ...target], {
      stdio: "pipe",
      env,
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect([code, output]).toEqual([0, expect.stringContaining("all four tools")]);
  });
});

describe("a bridge of someone else", () => {
  test("mcp-remote lists and calls all four tools", async () => {
    const { url, token, kbId } = await startServer();
    const proxy = join(dirname(createRequire(import.meta.url).resolve("mcp-remote/package.json")), "dist/proxy.js");
    const client = new ClientV1(ME);
    const args = [
      proxy,
      url.href,
      "--allow-http",
      "--transport",
      "http-only",
      "--header",
      `Authorization:Bearer ${token}`,
    ];
    await client.connect(new StdioV1({ command: process.execPath, args, stderr: "ignore" }));
    onTestFinished(() => client.close());
    await useAllTools(client, kbId);
  });
});

test("a revoked or missing token ends in a clear failure", async () => {
  const server = { ...(await startServer()), token: "nothing" };
  const attempt = new ClientV1(ME).connect(transportV1("/mcp", server));
  await expect(attempt).rejects.toThrow(/unauthenticated|Unauthorized|401/);
  const client = new ClientV1(ME);
  // The bridge itself answers the opening and lists the tools; each call says what is wrong.
  await client.connect(transportV1("the bridge", { ...server, token: "kb_pat_nothing" }));
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools).toHaveLength(4);
  const call = await client.callTool({ name: "kb_search", arguments: { query: "x" } });
  expect(call).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^not_signed_in: http/) }] });
});

/** A Python that has the package `mcp`: the one that `KB_TEST_PYTHON` names, else the machine's own. */
function findPython(): string | undefined {
  const named = process.env["KB_TEST_PYTHON"];
  const candidates = named !== undefined && named !== "1" ? [named] : ["python3"];
  return candidates.find((command) => spawnSync(command, ["-c", "import mcp"], { timeout: 20_000 }).status === 0);
}
