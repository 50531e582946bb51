/** Load for the benchmarks that ask a server, and what it costs that server. Linux only: it reads `/proc`. */
import { readdirSync, readFileSync } from "node:fs";
import { Agent } from "node:http";
import { cpus } from "node:os";
import { exchange } from "./questions.ts";

/** Milliseconds. */
export interface Delays {
  p50: number;
  p95: number;
  p99: number;
  p999: number;
  max: number;
  count: number;
}

/** Whom to ask, with which token, and what. */
export interface Load {
  url: string;
  token: string;
  questions: readonly string[];
}

/** Milliseconds that the first thread of a process has computed, and all its others together. */
export interface CpuTimes {
  main: number;
  others: number;
}

/** Results that a search is asked for. */
export const LIMIT = 10;

/** Sockets of a load: calls beyond them wait at the sender, and that wait counts. */
const SOCKETS = 64;

/** What an open loop found. */
export interface LoopResult extends Delays {
  /** Refused or failed calls; they are in the delays too. */
  failed: number;
  firstFailure?: string;
}

/**
 * Searches at a fixed rate until `end` settles. The load is open: a question leaves at its time whether or not the one
 * before was answered, and its wait counts from that time on.
 */
export async function runOpenLoop(load: Load, perSecond: number, end: Promise<unknown>): Promise<LoopResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });
  const took: number[] = [];
  const failures: string[] = [];
  const underWay = new Set<Promise<void>>();
  let asked = 0;
  const stop = atRate(perSecond, (dueAt) => {
    const done = search(agent, load, load.questions[asked++ % load.questions.length] ?? "")
      .catch((error: unknown) => void failures.push(String(error).slice(0, 400)))
      .finally(() => {
        took.push(performance.now() - dueAt);
        underWay.delete(done);
      });
    underWay.add(done);
  });
  await end;
  stop();
  await Promise.all(underWay);
  agent.destroy();
  const [firstFailure] = failures;
  return { ...percentiles(took), failed: failures.length, ...(firstFailure !== undefined && { firstFailure }) };
}

/** Calls at fixed times, each with the `performance.now()` it was due at; a late timer makes up for what it missed. Gives what ends it. */
export function atRate(perSecond: number, call: (dueAt: number) => void): () => void {
  const startedAt = performance.now();
  let made = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000);
    for (; made < due; made++) call(startedAt + ((made + 1) * 1_000) / perSecond);
  }, 1);
  return () => clearInterval(timer);
}

/** One call of `kb_search` over `/mcp`. @throws Error for anything but a success */
export function search(agent: Agent, { url, token }: Omit<Load, "questions">, query: string): Promise<void> {
  const params = { name: "kb_search", arguments: { query, limit: LIMIT } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return exchange(agent, `${url}/mcp`, body, mcpHeaders(token));
}

export function mcpHeaders(token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-03-26",
  };
}

export function percentiles(values: readonly number[]): Delays {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1), count: sorted.length };
}

/** What a loop found, with the CPU of process `pid` for each search, and the share of the machine that neither it nor the sender took. */
export async function measureLoop(pid: number, run: () => Promise<LoopResult>) {
  const look = () => ({ at: performance.now(), all: cpuOfMachine(), own: process.cpuUsage(), server: cpuOf(pid) });
  const before = look();
  const result = await run();
  const after = look();
  const main = after.server.main - before.server.main;
  const others = after.server.others - before.server.others;
  const { user, system } = process.cpuUsage(before.own);
  const elsewhere = after.all - before.all - main - others - (user + system) / 1_000;
  const { p50, p95, p99, count, failed, firstFailure } = result;
  return {
    p50,
    p95,
    p99,
    count,
    failed,
    ...(firstFailure !== undefined && { firstFailure }),
    cpuPerSearch: { main: round(main / count), others: round(others / count), all: round((main + others) / count) },
    takenByOthers: round(Math.max(0, elsewhere) / (after.at - before.at) / cpus().length),
  };
}

/** What a process has computed so far. */
export function cpuOf(pid: number): CpuTimes {
  const sum: CpuTimes = { main: 0, others: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // A thread that has just ended is gone from the list of the next call.
    const ran = Number(readProc(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]) / 1e6;
    sum[Number(thread) === pid ? "main" : "others"] += ran;
  }
  return sum;
}

/** Milliseconds that all cores have computed for anybody. */
export function cpuOfMachine(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] =
    readProc("/proc/stat").split("\n", 1)[0]?.trim().split(/\s+/u).slice(1).map(Number) ?? [];
  // In hundredths of a second.
  return (user + nice + system + irq + softIrq + steal) * 10;
}

/** MiB that a process holds: all of it, and without the pages of files. */
export function memoryOf(pid: number): { rssMb: number; rssAnonMb: number } {
  const status = readProc(`/proc/${pid}/status`);
  const mb = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "mu").exec(status)?.[1] ?? 0) / 1_024);
  return { rssMb: mb("VmRSS"), rssAnonMb: mb("RssAnon") };
}

/** Empty for a process that is gone. */
function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
