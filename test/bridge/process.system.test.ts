import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, onTestFinished, test } from "vitest";
import { TOOL_NAMES } from "#api/tools.ts";
import { tempDir } from "../temp-dir.ts";
import { cleanEnv, CLI, runBuilt, startCli } from "./built.ts";
import { result, startUpstream, type Answer } from "./upstream.ts";

const TOOL = { name: "kb_search", description: "Searches", inputSchema: { type: "object", properties: {} } };

/** A server of both kinds of revisions: 2026-07-28 when the header says so, else the older form. */
const mcpServer: Answer = (seen, response) => {
  const modern = seen.headers["mcp-protocol-version"] === "2026-07-28" ? { resultType: "complete" } : {};
  const cache = modern.resultType === undefined ? {} : { ttlMs: 0, cacheScope: "private" };
  if (seen.method === "tools/list") return result({ tools: [TOOL], ...modern, ...cache })(seen, response);
  return result({
    content: [{ type: "text", text: `hello ${String(seen.headers["mcp-protocol-version"])}` }],
    ...modern,
  })(seen, response);
};

describe("real clients through the built bridge", () => {
  test("SDK v1 lists and calls", async ({ expect }) => {
    const upstream = await startUpstream(mcpServer);
    const client = new ClientV1({ name: "test", version: "1" });
    await client.connect(new StdioV1(serverParameters(upstream.url)));
    onTestFinished(() => client.close());
    expect(client.getInstructions()).toContain("kb_search");
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["kb_search"]);
    const answer = await client.callTool({ name: "kb_search", arguments: { query: "x" } });
    expect(answer.content).toEqual([{ type: "text", text: "hello 2025-11-25" }]);
    await client.ping();
  });

  test.for([
    ["default", undefined, "2025-11-25"],
    ["auto", { mode: "auto" as const }, "2026-07-28"],
  ] as const)(
    "SDK v2, version negotiation %s, lists and calls",
    async ([, versionNegotiation, version], { expect }) => {
      const upstream = await startUpstream(mcpServer);
      const client = new ClientV2(
        { name: "test", version: "1" },
        versionNegotiation === undefined ? {} : { versionNegotiation },
      );
      await client.connect(new StdioV2(serverParameters(upstream.url)));
      onTestFinished(() => client.close());
      expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["kb_search"]);
      const answer = await client.callTool({ name: "kb_search", arguments: { query: "x" } });
      expect(answer.content).toEqual([{ type: "text", text: `hello ${version}` }]);
    },
  );
});

function serverParameters(url: string): { command: string; args: string[]; env: Record<string, string> } {
  return {
    command: process.execPath,
    args: [CLI, "mcp"],
    env: cleanEnv(tempDir(), { KB_URL: url, KB_TOKEN: "kb_pat_testing" }),
  };
}

const INITIALIZE = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } })}\n`;
const LIST = `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`;

/** Resolves with the first line that the process writes to stdout. */
function firstLine(child: ReturnType<typeof startCli>): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (part: Buffer) => {
      text += part.toString("utf8");
      if (text.includes("\n")) resolve(text.split("\n")[0] ?? "");
    });
  });
}

function exitOf(child: ReturnType<typeof startCli>): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", resolve));
}

describe("the life of the bridge's process", () => {
  test("it ends with 0 when stdin ends, and has written JSON lines only", async ({ expect }) => {
    const dir = tempDir();
    const env = cleanEnv(dir, { KB_URL: "http://127.0.0.1:9", KB_TOKEN: "kb_pat_testing" });
    const { code, stdout } = await runBuilt(["mcp"], { cwd: dir, env, input: `${INITIALIZE}nonsense\n` });
    expect(code).toBe(0);
    const ids = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: unknown }).id);
    expect(new Set(ids)).toEqual(new Set([1, null]));
  });

  test("a request that was piped in is answered", async ({ expect }) => {
    const upstream = await startUpstream(mcpServer);
    const dir = tempDir();
    const env = cleanEnv(dir, { KB_URL: upstream.url, KB_TOKEN: "kb_pat_testing" });
    const { code, stdout } = await runBuilt(["mcp"], { cwd: dir, env, input: LIST });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 2, result: { tools: [TOOL] } });
  });

  test.for(["SIGTERM", "SIGHUP", "SIGINT"] as const)("it ends on %s", async (signal, { expect }) => {
    const dir = tempDir();
    const child = startCli(["mcp"], { cwd: dir, env: cleanEnv(dir) });
    const ended = exitOf(child);
    child.stdin.write(INITIALIZE);
    await firstLine(child);
    child.kill(signal);
    expect(await ended).toBe(0);
  });

  test("it ends when no one reads its stdout any more", async ({ expect }) => {
    const dir = tempDir();
    const child = startCli(["mcp"], { cwd: dir, env: cleanEnv(dir) });
    const ended = exitOf(child);
    child.stdin.on("error", () => undefined);
    child.stdin.write(INITIALIZE);
    await firstLine(child);
    child.stdout.destroy();
    const timer = setInterval(() => child.stdin.write(INITIALIZE), 20);
    onTestFinished(() => clearInterval(timer));
    expect(await ended).toBe(0);
  });

  test("the log file gets one line per event and no token", async ({ expect }) => {
    const dir = tempDir();
    const log = join(dir, "bridge.log");
    const env = cleanEnv(dir, { KB_URL: "http://127.0.0.1:9", KB_TOKEN: "kb_pat_testing" });
    const child = startCli(["mcp", "--verbose", "--log-file", log], { cwd: dir, env });
    child.stdin.write(LIST);
    expect(JSON.parse(await firstLine(child))).toMatchObject({
      result: { tools: TOOL_NAMES.map((name) => ({ name })) },
    });
    child.stdin.end();
    await exitOf(child);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("\n")).toContain("no answer from http://127.0.0.1:9/mcp");
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z (debug|info|warn) /);
    expect(lines.join("\n")).not.toContain("kb_pat_testing");
  });
});

describe("where the bridge's token comes from", () => {
  test("the stored login is used for its origin", async ({ expect }) => {
    const upstream = await startUpstream(mcpServer);
    const dir = tempDir();
    storeLogin(dir, upstream.url);
    const child = startCli(["mcp"], { cwd: dir, env: cleanEnv(dir) });
    child.stdin.write(LIST);
    expect(JSON.parse(await firstLine(child))).toMatchObject({ id: 2, result: { tools: [TOOL] } });
    expect(upstream.seen[0]?.headers.authorization).toBe("Bearer kb_pat_stored");
  });

  test("a token file named by the environment is read", async ({ expect }) => {
    const upstream = await startUpstream(mcpServer);
    const dir = tempDir();
    writeFileSync(join(dir, "token"), "kb_pat_from_file\n");
    const env = cleanEnv(dir, { KB_TOKEN_FILE: join(dir, "token") });
    const child = startCli(["mcp", "--url", `${upstream.url}/mcp`], { cwd: dir, env });
    child.stdin.write(LIST);
    await firstLine(child);
    expect(upstream.seen[0]?.headers.authorization).toBe("Bearer kb_pat_from_file");
  });

  test("without a login the model reads the command that signs in", async ({ expect }) => {
    const dir = tempDir();
    const child = startCli(["mcp"], { cwd: dir, env: cleanEnv(dir) });
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "kb_search" } })}\n`,
    );
    expect(JSON.parse(await firstLine(child))).toMatchObject({
      result: {
        isError: true,
        content: [
          {
            text: "not_signed_in: this bridge has no login for http://127.0.0.1:7700, so ask the person to run: kb login http://127.0.0.1:7700",
          },
        ],
      },
    });
  });
});

function storeLogin(dir: string, url: string): void {
  const config = join(dir, "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(
    join(config, "config.json"),
    JSON.stringify({ version: 1, currentProfile: "x", profiles: { x: { url } } }),
  );
  const login = { mcpToken: { id: "tok_2222222222222222", plaintext: "kb_pat_stored" } };
  writeFileSync(join(config, "credentials.json"), JSON.stringify({ version: 1, origins: { [url]: login } }), {
    mode: 0o600,
  });
}
