/**
 * What others notice of one person's flood, by the built program: `npx tsx test/long/flood.ts [CALLS] [--program FILE]` (500)
 * sends CALLS heavy searches at once with one person's token, while a colleague searches ten times a second and
 * `/healthz` is asked on a new connection every 50 ms. Prints what the colleague waited before and during the flood, what
 * one heavy search takes alone, and the slowest `/healthz`. Exits with 1 when `/healthz` took longer than 250 ms, or the
 * colleague's p95 is longer than before and one heavy search together. Linux only: it reads `/proc`.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { cpuOf, mcpHeaders, percentiles, runOpenLoop } from "../bench/load.ts";
import { exchange, makeQuestions } from "../bench/questions.ts";
import { type Ask, signIn, startServer, syncFolder } from "../bench/server.ts";
import { makeFiles } from "../bench/sync.ts";

const [FILES, QUIET_MS, COLLEAGUE_PER_SECOND, HEALTH_MS, FLOOD_MS] = [5_000, 10_000, 10, 50, 30_000];
const MOST_HEALTH_MS = 250;
const TEXT_FOLDER = new URL("../../docs", import.meta.url).pathname;

/** Sends all calls at once and gives what was refused. */
const SENDER = `
const { request } = require("node:http");
process.once("message", async (calls) => {
  const refusals = [];
  const send = ({ url, body, headers }) => new Promise((resolve) => {
    const fail = (what) => { refusals.push(String(what)); resolve(); };
    const outgoing = request(url, { agent: false, method: "POST", headers }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", fail);
      answer.on("end", () => {
        const text = String(Buffer.concat(parts));
        if (answer.statusCode === 200 && !/"isError":true|"error":/.test(text)) resolve();
        else fail(answer.statusCode + " " + text.slice(0, 200));
      });
    });
    outgoing.on("error", fail);
    outgoing.end(body);
  });
  await Promise.all(calls.map(send));
  process.send(refusals, () => process.exit());
});
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { program: { type: "string" }, interface: { type: "string", default: "mcp" } },
});
const CALLS = Number(positionals[0] ?? 500);
const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-flood-")));
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}

async function main(): Promise<boolean> {
  const folder = join(dir, "files");
  makeFiles(folder, FILES, TEXT_FOLDER);
  const server = await startServer(dir, [folder], [], values.program);
  try {
    const ask = await signIn(server.url);
    await syncFolder(ask, folder);
    const questions = makeQuestions(folder);
    const load = { url: server.url, token: await addColleague(ask, server.url), questions };
    const token = await makeToken(ask);
    const heavy = (n: number) => {
      const call = heavyCall(server.url, token, thirtyWords(questions, n));
      return exchange(new Agent(), call.url, call.body, call.headers);
    };
    for (let n = 0; n < 5; n++) await heavy(n);
    const one = await timed(() => heavy(CALLS));
    const quiet = await runOpenLoop(load, COLLEAGUE_PER_SECOND, sleep(QUIET_MS));
    const before = cpuOf(server.child.pid ?? 0);

    const startedAt = performance.now();
    const flood = floodFromAside(
      Array.from({ length: CALLS }, (_, n) => heavyCall(server.url, token, thirtyWords(questions, n))),
    );
    const end = Promise.race([flood, sleep(FLOOD_MS)]);
    const [beside, health] = await Promise.all([
      runOpenLoop(load, COLLEAGUE_PER_SECOND, end),
      askHealth(server.url, end),
    ]);
    const refusals = await flood;
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = cpuOf(server.child.pid ?? 0);
    say(`one heavy search alone: ${one.toFixed(0)} ms`);
    say(`colleague before: ${JSON.stringify(quiet)}`);
    say(`colleague beside: ${JSON.stringify(beside)}`);
    say(`/healthz beside: ${JSON.stringify(health)}`);
    say(
      `${CALLS} calls in ${seconds.toFixed(1)} s, ${refusals.length} refused, e.g. ${refusals[0]?.slice(-200) ?? "-"}`,
    );
    say(
      `computed: main thread ${Math.round(after.main - before.main)} ms, others ${Math.round(after.others - before.others)}`,
    );
    return health.max <= MOST_HEALTH_MS && beside.failed === 0 && beside.p95 <= quiet.p95 + one;
  } finally {
    await server.stop();
  }
}

/** One request that asks for as much as it may. */
interface HeavyCall {
  url: string;
  body: string;
  headers: Record<string, string>;
}

function heavyCall(url: string, token: string, query: string): HeavyCall {
  const search = { query, limit: 50, detail: "detailed" };
  if (values.interface === "api") {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return { url: `${url}/api/connectors/search`, body: JSON.stringify(search), headers };
  }
  const params = { name: "kb_search", arguments: { ...search, maxTokens: 20_000 } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return { url: `${url}/mcp`, body, headers: mcpHeaders(token) };
}

/** The sender is a process of its own: what it computes must not count as waiting. Gives the refusals. */
async function floodFromAside(calls: readonly HeavyCall[]): Promise<string[]> {
  const sender = spawn(process.execPath, ["-e", SENDER], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const refusals = new Promise<string[]>((resolve) =>
    sender.once("message", (message) => resolve(message as string[])),
  );
  sender.send(calls);
  return refusals;
}

function thirtyWords(questions: readonly string[], n: number): string {
  const from = (n * 13) % questions.length;
  return [...questions.slice(from), ...questions].slice(0, 12).join(" ").split(" ").slice(0, 30).join(" ");
}

/** Every connection is a new one: a health check of a container has none that is kept. */
async function askHealth(url: string, end: Promise<unknown>) {
  const took: number[] = [];
  const failures: string[] = [];
  const underWay: Promise<unknown>[] = [];
  const timer = setInterval(() => {
    const asked = timed(() => exchange(new Agent(), `${url}/healthz`, undefined, {}));
    const noted = asked.then((ms) => took.push(ms)).catch((error: unknown) => failures.push(String(error)));
    underWay.push(noted);
  }, HEALTH_MS);
  await end;
  clearInterval(timer);
  await Promise.all(underWay);
  return { ...percentiles(took), failed: failures.length, firstFailure: failures[0] };
}

async function makeToken(ask: Ask): Promise<string> {
  return String((await ask("POST", "/api/api-tokens", { name: "flood" }))["plaintext"]);
}

/** Invites somebody who accepts. @returns a token of theirs */
async function addColleague(ask: Ask, url: string): Promise<string> {
  const invited = await ask("POST", "/api/workspace/invitations", { email: "ben@bench.test", role: "member" });
  const token = /[^/#=?]+$/u.exec(String(invited["url"]))?.[0];
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ token, name: "Ben", email: "ben@bench.test", password: "green teapot evening" });
  const accepted = await fetch(`${url}/api/invitations/accept`, { method: "POST", headers, body });
  if (!accepted.ok) throw new Error(`The invitation wasn't accepted: ${accepted.status} ${await accepted.text()}`);
  const cookie = (accepted.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const made = await fetch(`${url}/api/api-tokens`, {
    method: "POST",
    headers: { ...headers, cookie },
    body: JSON.stringify({ name: "ben" }),
  });
  // The contract's answer of a creation.
  return ((await made.json()) as { plaintext: string }).plaintext;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
