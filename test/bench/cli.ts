/**
 * Start of `kb --version` and of the bridge against bare Node, and calls through the bridge against direct fetch.
 * CPU time of the child, which a busy machine does not move as it moves wall time; both are printed.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir, cpus } from "node:os";
import { join } from "node:path";
import { CLI } from "../program.ts";

const STARTS = 15;
const CALLS = 300;
type Message = { id: number } & Record<string, unknown>;

const INITIALIZE = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };

/** One measured row of the benchmark's report. */
export interface BenchRow {
  name: string;
  value: number;
  unit: string;
  /** What it is measured against, and how much of it. */
  ratio?: number;
}

/** Runs all rows; takes about 20 seconds on an idle machine. */
export async function benchCli(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), "kb-bench-"));
  const server = await startServer();
  const env = { PATH: process.env["PATH"] ?? "", HOME: dir, KB_URL: server.url, KB_TOKEN: "kb_pat_benchmark" };
  try {
    const bare = await cpuOf(["-e", "0"], env);
    const version = await cpuOf([CLI, "--version"], env);
    const network = await cpuOf([CLI, "tokens", "list"], env);
    const bareWall = await wallOf(["-e", "0"], env);
    const initialize = await bridgeStart(env, [INITIALIZE]);
    const list = await bridgeStart(env, [INITIALIZE, { jsonrpc: "2.0", id: 1, method: "tools/list" }]);
    const direct = await directCalls(server.url);
    const bridged = await bridgeCalls(env);
    return [
      { name: "node -e 0, CPU", value: bare, unit: "ms" },
      { name: "kb --version, CPU above bare node", value: version - bare, unit: "ms" },
      { name: "kb tokens list, CPU above bare node", value: network - bare, unit: "ms" },
      { name: "bridge: start to initialize answer", value: initialize, unit: "ms", ratio: initialize / bareWall },
      { name: "bridge: start to first tools/list answer", value: list, unit: "ms", ratio: list / bareWall },
      { name: "direct fetch, median call", value: direct, unit: "ms" },
      { name: "bridge, median call", value: bridged, unit: "ms", ratio: bridged / direct },
    ];
  } finally {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Median CPU milliseconds of a child, as it reports them at its end. */
async function cpuOf(args: string[], env: Record<string, string>): Promise<number> {
  const hook =
    "data:text/javascript,process.on('exit',()=>{const u=process.cpuUsage();process.stderr.write('\\nCPU '+(u.user+u.system)/1000)})";
  const times: number[] = [];
  // The hook costs the same for every row.
  for (let run = 0; run < STARTS; run += 1) {
    const stderr = await finished(["--import", hook, ...args], env);
    times.push(Number(/CPU ([\d.]+)/.exec(stderr)?.[1] ?? Number.NaN));
  }
  return median(times);
}

async function wallOf(args: string[], env: Record<string, string>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < STARTS; run += 1) {
    const startedAt = performance.now();
    await finished(args, env);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** What a child wrote to stderr. Not synchronous: the server that it calls lives in this process. */
function finished(args: string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (part: Buffer) => (stderr += part.toString("utf8")));
  return new Promise((resolve) => child.once("close", () => resolve(stderr)));
}

async function bridgeStart(env: Record<string, string>, messages: readonly Message[]): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < STARTS; run += 1) {
    const startedAt = performance.now();
    const bridge = openBridge(env);
    for (const message of messages) await bridge.ask(message);
    times.push(performance.now() - startedAt);
    await bridge.close();
  }
  return median(times);
}

async function bridgeCalls(env: Record<string, string>): Promise<number> {
  const bridge = openBridge(env);
  await bridge.ask(INITIALIZE);
  const times: number[] = [];
  for (let id = 1; id <= CALLS; id += 1) {
    const startedAt = performance.now();
    await bridge.ask({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "kb_search", arguments: { query: "x" } },
    });
    times.push(performance.now() - startedAt);
  }
  await bridge.close();
  return median(times.slice(20));
}

async function directCalls(url: string): Promise<number> {
  const times: number[] = [];
  for (let id = 1; id <= CALLS; id += 1) {
    const startedAt = performance.now();
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "kb_search", arguments: { query: "x" } },
    });
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    JSON.parse(await response.text());
    times.push(performance.now() - startedAt);
  }
  return median(times.slice(20));
}

function openBridge(env: Record<string, string>): {
  ask(message: Message): Promise<void>;
  close(): Promise<void>;
} {
  const child = spawn(process.execPath, [CLI, "mcp"], { env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const waiting = new Map<unknown, () => void>();
  let rest = "";
  child.stdout.on("data", (part: Buffer) => {
    const lines = (rest + part.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    // Every line of the bridge is a JSON-RPC message.
    for (const line of lines) waiting.get((JSON.parse(line) as { id: unknown }).id)?.();
  });
  return {
    ask: (message) =>
      new Promise((resolve) => {
        waiting.set(message.id, resolve);
        child.stdin.write(`${JSON.stringify(message)}\n`);
      }),
    close: () => {
      child.stdin.end();
      return exited;
    },
  };
}

async function startServer(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString("utf8")));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      // Our own requests: JSON-RPC on /mcp, nothing on GET.
      const id = body === "" ? null : (JSON.parse(body) as { id: unknown }).id;
      response.end(
        request.method === "GET"
          ? '{"tokens":[],"mcpUrl":""}'
          : JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

if (process.argv[1]?.endsWith("bench/cli.ts") === true) {
  process.stdout.write(`Node ${process.versions.node}, ${cpus().length} cores\n`);
  for (const row of await benchCli()) {
    const ratio = row.ratio === undefined ? "" : `  ${row.ratio.toFixed(2)}x`;
    process.stdout.write(`${row.name.padEnd(44)}${row.value.toFixed(2).padStart(9)} ${row.unit}${ratio}\n`);
  }
}
