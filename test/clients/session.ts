import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, vi } from "vitest";
import { AHEAD_SECONDS, type Kb, TITLE } from "./server.ts";

/** A client that has been let in. What it doesn't offer without a model is absent. */
export interface Session {
  /** Reads the list of tools. @throws unless it is ours */
  list(): Promise<void>;
  /** Searches once. @throws unless the document is found */
  search?(): Promise<void>;
  /** Its own clock is two hours ahead from now on; absent where the client waits for the server's refusal. */
  moveClock?(): Promise<void>;
}

/** A command line and its whole environment. */
export interface Command {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
}

const TOOLS = ["kb_search", "kb_search_entities", "kb_get_entity_context", "kb_get_file_content"];

/** A bridge of somebody else over stdio, with a host before it. It signs in by an address on stderr, or has a token. */
export async function openStdio({ command, args, env }: Command, kb: Kb): Promise<Session> {
  const transport = new StdioClientTransport({ command, args: [...args], env, stderr: "pipe" });
  const client = new Client({ name: "host", version: "1.0.0" });
  onTestFinished(() => client.close());
  let said = "";
  let isAsked = false;
  transport.stderr?.on("data", (part: Buffer) => {
    said += part.toString("utf8");
    const address = /(http:\/\/\S+\/oauth\/authorize\S+)\s/u.exec(said)?.[1];
    if (address === undefined || isAsked) return;
    isAsked = true;
    void sendBack(kb, address);
  });
  await client.connect(transport);
  return {
    list: async () => expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS),
    search: async () => expect(JSON.stringify(await client.callTool(SEARCH), undefined, 0)).toContain(TITLE),
  };
}

const SEARCH = { name: "kb_search", arguments: { query: "ledger" } };

/** A client may print the address before it listens for the answer. */
async function sendBack(kb: Kb, address: string): Promise<void> {
  const back = await kb.sayYes(address);
  await vi.waitFor(() => fetch(back), { timeout: 20_000 });
}

/** A host of ours on a library: it prints the address to open, and answers a line with a line. */
export async function openLines({ command, args, env }: Command, kb: Kb): Promise<Session> {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (part) => (said += String(part)));
  const lines = createInterface({ input: child.stdout });
  await signIn(child, lines, kb, () => said);
  const ask = async (line: string): Promise<unknown> => {
    const answered = once(lines, "line");
    child.stdin.write(`${line}\n`);
    // Our own hosts' line.
    const answer = JSON.parse(String((await answered)[0])) as { value?: unknown; error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  };
  return {
    list: async () => expect(await ask("tools")).toEqual(TOOLS),
    search: async () => expect(await ask("search")).toContain(TITLE),
    moveClock: async () => void (await ask(`later ${AHEAD_SECONDS}`)),
  };
}

async function signIn(child: ChildProcess, lines: Interface, kb: Kb, said: () => string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error(said().trim().slice(-600))));
    lines.on("line", (line) => {
      if (line === "READY") return resolve();
      const address = /^AUTHORIZE (.*)$/u.exec(line)?.[1];
      if (address !== undefined) sendBack(kb, address).catch(reject);
    });
  });
}

/** Runs a command to its end. @returns what it printed, without colours */
export async function print({ command, args, env }: Command, cwd: string): Promise<string> {
  const child = spawn(command, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += String(part)));
  await once(child, "close");
  return said;
}

/** Codex without a model: its server for editors, which lists and calls the tools of MCP servers. */
export function openCodex({ command, args, env }: Command, cwd: string): Session {
  const child = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const answers = new Map<number, (answer: unknown) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    // JSON-RPC of the program, one message a line.
    const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
    if (id !== undefined) answers.get(id)?.(result ?? error);
  });
  let count = 0;
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      answers.set(++count, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: count, method, params })}\n`);
    });
  const opened = ask("initialize", { clientInfo: { name: "host", version: "1.0.0" } });
  const thread = opened.then(async () => {
    const started = (await ask("thread/start", {})) as { thread?: { id: string } };
    if (started.thread === undefined) throw new Error(JSON.stringify(started));
    return started.thread.id;
  });
  thread.catch(() => undefined);
  return {
    async list() {
      await opened;
      expect(JSON.stringify(await ask("mcpServerStatus/list", {}))).toContain(`"kb_get_file_content"`);
    },
    async search() {
      const call = { threadId: await thread, server: "kb", tool: SEARCH.name, arguments: SEARCH.arguments };
      expect(JSON.stringify(await ask("mcpServer/tool/call", call))).toContain(TITLE);
    },
  };
}
