import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeKit } from "../server/mcp/kit.ts";

/** What every client is asked to do: list the tools, call all four, and meet an error. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function startServer() {
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

describe("a real client lists and calls all four tools", () => {
  test("SDK version 1", async () => {
    const { url, token, kbId } = await startServer();
    const client = new ClientV1(ME);
    await client.connect(new HttpV1(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
    onTestFinished(() => client.close());
    await useAllTools(client, kbId);
    await client.ping();
    const progress: number[] = [];
    await client.callTool({ name: "kb_search", arguments: { query: "ledger" } }, undefined, {
      onprogress: (report) => void progress.push(report.progress),
    });
    expect(progress).toEqual([0]);
    expect(client.getInstructions()).toContain("kb_search");
  });

  test.each(["default", "auto"] as const)("SDK version 2, negotiation %s", async (mode) => {
    const { url, token, kbId } = await startServer();
    const client = new ClientV2(ME, mode === "auto" ? { versionNegotiation: { mode: "auto" } } : {});
    await client.connect(new HttpV2(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
    onTestFinished(() => client.close());
    await useAllTools(client, kbId);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
  });

  test("mcp-remote over stdio", async () => {
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
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
    onTestFinished(() => client.close());
    await useAllTools(client, kbId);
  });

  const python = findPython();
  if (python === undefined) {
    process.stderr.write(
      "Interop: the Python client was not run (no python with the package mcp; KB_TEST_PYTHON names one).\n",
    );
  }
  test.skipIf(python === undefined)("the Python package mcp", async () => {
    const { url, token, kbId } = await startServer();
    const { spawn } = await import("node:child_process");
    const child = spawn(python ?? "", [join(import.meta.dirname, "client.py"), url.href, token, kbId], {
      stdio: "pipe",
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect([code, output]).toEqual([0, expect.stringContaining("all four tools")]);
  });

  test("a revoked or missing token ends in a clear failure", async () => {
    const { url } = await startServer();
    const client = new ClientV1(ME);
    const attempt = client.connect(new HttpV1(url, { requestInit: { headers: { authorization: "Bearer nothing" } } }));
    await expect(attempt).rejects.toThrow(/unauthenticated|Unauthorized|401/);
  });
});

/** A Python that has the package `mcp`: the one that `KB_TEST_PYTHON` names, else the machine's own. */
function findPython(): string | undefined {
  const named = process.env["KB_TEST_PYTHON"];
  const candidates = named !== undefined && named !== "1" ? [named] : ["python3"];
  return candidates.find((command) => spawnSync(command, ["-c", "import mcp"], { timeout: 20_000 }).status === 0);
}
