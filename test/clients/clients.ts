import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Release } from "./install.ts";
import type { Kb } from "./server.ts";
import { type Command, openCodex, openLines, openStdio, print, type Session } from "./session.ts";

/** A client of somebody else, and how it gets in. */
export interface RealClient extends Release {
  credential: "OAuth" | "token";
  open(folder: string, kb: Kb): Promise<Session> | Session;
}

/** Every client that is tried, in the order of the table. */
export const CLIENTS: readonly RealClient[] = [
  npm("@modelcontextprotocol/sdk", "1.32.2", "OAuth", openSdk),
  pypi("mcp", "1.12.4", ["pydantic==2.11.10"]),
  pypi("mcp", "2.3.0"),
  pypi("fastmcp", "2.11.3", ["mcp==1.12.4", "pydantic==2.11.10"]),
  pypi("fastmcp", "4.2.3"),
  npm("mcp-remote", "0.1.18", "OAuth", openRemote),
  npm("mcp-remote", "0.15.1", "OAuth", openRemote),
  npm("supergateway", "4.0.0", "token", openGateway),
  npm("@modelcontextprotocol/inspector", "2.12.0", "token", openInspector),
  npm("@anthropic-ai/claude-code", "2.1.332", "token", openClaude),
  npm("@openai/codex", "0.171.0", "token", openCodexOver),
  npm("@google/gemini-cli", "0.61.0", "token", openGemini),
];

function npm(name: string, version: string, credential: RealClient["credential"], open: RealClient["open"]) {
  return { registry: "npm", name, version, credential, open } as const;
}

function pypi(name: string, version: string, beside: readonly string[] = []): RealClient {
  const host = join(import.meta.dirname, "python_client.py");
  return {
    registry: "PyPI",
    name,
    version,
    beside,
    credential: "OAuth",
    open: (folder, kb) => openLines(withHome(kb, join(folder, "venv/bin/python"), host, name, kb.url), kb),
  };
}

/** With a home of its own, and no browser to find. */
function withHome(kb: Kb, command: string, ...args: string[]): Command {
  return { command, args, env: { PATH: process.env["PATH"] ?? "", HOME: kb.home, BROWSER: "true" } };
}

const bin = (folder: string, name: string) => join(folder, "node_modules/.bin", name);

function openSdk(folder: string, kb: Kb) {
  return openLines(withHome(kb, process.execPath, join(import.meta.dirname, "sdk-client.mjs"), folder, kb.url), kb);
}

function openRemote(folder: string, kb: Kb) {
  const proxy = join(folder, "node_modules/mcp-remote/dist/proxy.js");
  const args = [proxy, kb.url, "--allow-http", "--transport", "http-only"];
  const { command, env } = withHome(kb, process.execPath);
  // Without programs to find, nothing can open a window.
  return openStdio({ command, args, env: { ...env, PATH: "/nonexistent" } }, kb);
}

async function openGateway(folder: string, kb: Kb) {
  const header = ["--header", `Authorization: Bearer ${await kb.token()}`];
  return openStdio(withHome(kb, bin(folder, "supergateway"), "--streamableHttp", kb.url, ...header), kb);
}

async function openInspector(folder: string, kb: Kb): Promise<Session> {
  const token = await kb.token();
  const ask = (...args: string[]) => {
    const to = ["--cli", kb.url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
    return print(withHome(kb, bin(folder, "mcp-inspector"), ...to, "--method", ...args), kb.home);
  };
  return {
    list: async () => expect(await ask("tools/list")).toContain(`"kb_get_file_content"`),
    search: async () =>
      expect(await ask("tools/call", "--tool-name", "kb_search", "--tool-arg", "query=ledger")).toContain(
        "Ledger plan",
      ),
  };
}

/** Claude Code connects to check what it lists; tools are called by its model only. */
async function openClaude(folder: string, kb: Kb): Promise<Session> {
  const program = join(folder, `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`);
  const ask = (...args: string[]) => print(withHome(kb, program, "mcp", ...args), kb.home);
  await ask("add", "--transport", "http", "kb", kb.url, "--header", `Authorization: Bearer ${await kb.token()}`);
  return {
    async list() {
      expect(await ask("list")).toMatch(/^kb: .*✔ Connected/mu);
      expect(await ask("get", "kb")).toContain("✔ Connected");
    },
  };
}

async function openGemini(folder: string, kb: Kb): Promise<Session> {
  const settings = join(kb.home, ".gemini");
  mkdirSync(settings);
  const headers = { Authorization: `Bearer ${await kb.token()}` };
  const mcpServers = { kb: { httpUrl: kb.url, headers } };
  const security = { folderTrust: { enabled: false } };
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ mcpServers, security }));
  const list = () => print(withHome(kb, bin(folder, "gemini"), "mcp", "list"), kb.home);
  return { list: async () => expect(await list()).toMatch(/kb: .* - Connected/u) };
}

async function openCodexOver(folder: string, kb: Kb): Promise<Session> {
  const settings = join(kb.home, ".codex");
  mkdirSync(settings);
  const server = `[mcp_servers.kb]\nurl = "${kb.url}"\nbearer_token_env_var = "KB_TOKEN"\n`;
  writeFileSync(join(settings, "config.toml"), server);
  const { command, args, env } = withHome(kb, bin(folder, "codex"), "app-server");
  return openCodex({ command, args, env: { ...env, KB_TOKEN: await kb.token() } }, kb.home);
}
