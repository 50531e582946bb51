/**
 * The long form of pushing, by the built program: `npx tsx test/long/push.ts [ITEMS]` (100,000) makes a file of lines and
 * sends it with `kb push` to a `kb serve` of its own. Prints items a second and peak memory of both; then
 * - sends the same again: nothing may change, neither a record nor the state of the index,
 * - sends it changed, with the key rotated in the middle: nothing may be lost,
 * - ends `kb push --whole-set` with a signal in the middle: nothing may be removed, and the same command must go on,
 * - sends a set without a tenth of the items: they go; one without a half: it is held.
 * Exit code 1 when something is not as it must be.
 */
import { createHash } from "node:crypto";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { makeRandom } from "../extract/mutations.ts";
import { CLI } from "../program.ts";

const ADMIN = { email: "admin@acme.test", password: "blue kettle morning" };
const ITEMS = Number(process.argv[2] ?? 100_000);
/** What makes a row of a table one of its kind. */
const KEYS = { items: "kbId", item_texts: "kbId, chunk", item_entities: "kbId, entityId, role", accesses: "aclId" };
const dir = mkdtempSync(join(tmpdir(), "kb-push-"));
const dataDir = join(dir, "data");
const keyFile = join(dir, "key");
const running = new Set<ChildProcess>();

try {
  await main();
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const server = await startServer();
  const call = await signIn(server.url);
  const made = await call("POST", "/api/connectors", {
    providerId: "push",
    name: "Tracker",
    access: { visibility: "workspace" },
  });
  const connectorId = String((made["connector"] as { id: string }).id);
  writeFileSync(keyFile, String(made["key"]), { mode: 0o600 });
  const push = (file: string, ...more: string[]) => runPush(server, connectorId, file, more);

  const file = await writeLines("first", () => true, "1");
  say(`${ITEMS} items, ${Math.round(statSync(file).size / 1e6)} MB of lines`);
  const first = await push(file);
  report("push", first, server);
  check("every line is upserted", first.results.get("upserted") === ITEMS && first.code === 0);
  await quiet();
  const before = stateOf();

  const again = await push(file);
  report("the same again", again, server);
  await quiet();
  check("every line is unchanged", again.results.get("unchanged") === ITEMS && again.code === 0);
  check("no record and nothing of the index changed", stateOf() === before);

  const second = await writeLines("second", () => true, "2");
  const rotated = push(second);
  await until(() => rotated.sent() > ITEMS / 4);
  const { key } = await call("POST", `/api/connectors/${connectorId}/rotate-key`, { overlapSeconds: 0 });
  writeFileSync(keyFile, String(key), { mode: 0o600 });
  const rotatedEnd = await rotated;
  report("every item changed, the key rotated at once in the middle", rotatedEnd, server);
  check("the client went on with the new key", rotatedEnd.stderr.includes("The key was rotated"));
  check("nothing is lost", versions().get("2") === ITEMS && rotatedEnd.code === 0);

  const third = await writeLines("third", (i) => i % 10 !== 0, "3");
  const half = push(third, "--whole-set");
  await until(() => half.sent() > ITEMS / 4);
  half.child.kill("SIGINT");
  const halfEnd = await half;
  say(`  ${halfEnd.stderr.trim().split("\n").at(-1)}`);
  check("a set that was interrupted removes nothing", living() === ITEMS && halfEnd.code === 130);
  const rest = await push(third, "--whole-set");
  report("the same command goes on", rest, server);
  const kept = ITEMS - Math.ceil(ITEMS / 10);
  // What was stored when the signal came may be more than the client had an answer for.
  check("it sends the rest alone", rest.total > 0 && rest.total <= kept - halfEnd.total);
  check("what was not sent is gone", living() === kept && versions().get("3") === kept && rest.code === 0);

  const fourth = await writeLines("fourth", (i) => i % 10 !== 0 && i < ITEMS / 2, "3");
  const held = await push(fourth, "--whole-set");
  report("half a set", held, server);
  check("its rest is held", living() === kept && held.stderr.includes("for approval"));
  await stop(server.child);
}

interface Ended {
  code: number | null;
  stderr: string;
  results: Map<string, number>;
  total: number;
  tookMs: number;
  peakBytes: number;
}

function report(what: string, { results, total, tookMs, peakBytes }: Ended, server: { child: ChildProcess }): void {
  const rate = Math.round((total * 1_000) / tookMs);
  const counts = [...results].map(([result, count]) => `${count} ${result}`).join(", ");
  const [load = 0] = loadavg();
  const peaks = `client ${mib(peakBytes)}, server ${mib(peakOf(server.child))} at most`;
  say(`${what}: ${counts} in ${(tookMs / 1_000).toFixed(1)} s, ${rate}/s; ${peaks}; load ${load.toFixed(1)}`);
}

function runPush(server: { url: string }, connectorId: string, file: string, more: readonly string[]) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: dir, KB_URL: server.url };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [CLI, "push", connectorId, "--key", `@${keyFile}`, ...more, file], { env });
  running.add(child);
  const results = new Map<string, number>();
  let total = 0;
  let rest = "";
  let stderr = "";
  let peakBytes = 0;
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, peakOf(child))), 50);
  child.stdin.end();
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  child.stdout.on("data", (chunk) => {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      // The contract's PushResult.
      const { result } = JSON.parse(line) as { result: string };
      results.set(result, (results.get(result) ?? 0) + 1);
      total += 1;
    }
  });
  const end = once(child, "close").then((): Ended => {
    clearInterval(watch);
    running.delete(child);
    if (child.exitCode !== 0) say(`  exit ${child.exitCode}: ${stderr.trim().split("\n").slice(-3).join(" | ")}`);
    return { code: child.exitCode, stderr, results, total, tookMs: performance.now() - startedAt, peakBytes };
  });
  return Object.assign(end, { child, sent: () => total });
}

async function writeLines(name: string, isIn: (i: number) => boolean, version: string): Promise<string> {
  const file = join(dir, `${name}.ndjson`);
  const out = createWriteStream(file);
  for (let i = 0; i < ITEMS; i++) {
    if (!isIn(i)) continue;
    const random = makeRandom(i + 1);
    const word = () => `w${Math.floor(20_000 * random() ** 3).toString(36)}`;
    const text = `${version} ${Array.from({ length: 100 }, word).join(" ")}`;
    const item = {
      externalId: `T-${i}`,
      kind: "task",
      key: `OPS-${i}`,
      title: `Task ${i} ${word()} ${word()}`,
      status: i % 3 === 0 ? "done" : "open",
      labels: [`team-${i % 20}`],
      assignees: [{ name: `Person ${i % 50}` }],
      updatedAt: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
      version,
      text,
      access: { known: true, all: [["workspace"]] },
    };
    if (!out.write(`${JSON.stringify({ t: "upsert", item })}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  return file;
}

async function startServer(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--data-dir", dataDir], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: dir,
      KB_BOOTSTRAP_EMAIL: ADMIN.email,
      KB_BOOTSTRAP_PASSWORD: ADMIN.password,
      KB_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  running.add(child);
  let output = "";
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  await until(() => output.includes("kb is listening on") || child.exitCode !== null);
  const url = /kb is listening on (http:\S+)/.exec(output)?.[1];
  if (url === undefined) throw new Error(`The server did not start:\n${output}`);
  return { url, child };
}

async function signIn(url: string) {
  const session = await fetch(`${url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ADMIN),
  });
  const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return async (method: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
    const headers = { cookie, "content-type": "application/json" };
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    // An object of the contract.
    return (await answer.json()) as Record<string, unknown>;
  };
}

function read<T>(work: (db: DatabaseSyncInstance) => T): T {
  const db = new DatabaseSync(join(dataDir, "kb.db"), { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Every record of an item, with the texts, and the three numbers of the index. */
function stateOf(): string {
  return read((db) => {
    const hash = createHash("sha256");
    for (const [table, order] of Object.entries(KEYS)) {
      for (const row of db.prepare(`select * from ${table} order by ${order}`).iterate())
        hash.update(JSON.stringify(row));
    }
    return `${hash.digest("hex")} ${indexState(db)}`;
  });
}

function indexState(db: DatabaseSyncInstance): string {
  return JSON.stringify(db.prepare("select generation, deltaSeq, aclSeq from index_state").all());
}

function living(): number {
  const sql = "select count(*) as n from items where removedAt is null";
  const row: Record<string, unknown> | undefined = read((db) => db.prepare(sql).get());
  return Number(row?.["n"]);
}

function versions(): Map<string, number> {
  const sql = "select version, count(*) as n from items where removedAt is null group by version";
  const rows: Record<string, unknown>[] = read((db) => db.prepare(sql).all());
  return new Map(rows.map((row) => [String(row["version"]), Number(row["n"])]));
}

/** Until there is nothing left to compact. */
async function quiet(): Promise<void> {
  for (let last = ""; ;) {
    const now = read(indexState);
    if (now === last) return;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  running.delete(child);
}

/** The most memory that a process had at any time, in bytes. */
function peakOf({ pid }: ChildProcess): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1_024;
  } catch {
    // It has just ended: what was read before counts.
    return 0;
  }
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

function check(what: string, isSo: boolean): void {
  say(`  ${isSo ? "yes" : "NO "}  ${what}`);
  if (!isSo) process.exitCode = 1;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
