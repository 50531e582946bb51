/**
 * How many files of `src` one request runs through: those of which at least one function is called, by V8's precise
 * coverage of the built program with its source maps, all threads of the server included (extraction's child processes are
 * not). Each act is done twice to be warm and eight times to count; a file counts when it ran every time, so that what ran
 * by a timer does not.
 *
 *   npx tsx test/bench/files-run.ts                 counts by folder; needs `npm run build` before
 *   npx tsx test/bench/files-run.ts --list          and every file
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import { ADMIN, type Ask, type BenchServer, signIn, startServer } from "./server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CLI = join(ROOT, "dist/cli.js");
const WARM_UPS = 2;
const TIMES = 8;

/** Where each function that ran begins in its built script. */
interface Ran {
  url: string;
  offsets: number[];
}

/** By file of `src`: its functions that ran. */
type Files = Map<string, Set<string>>;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { list: { type: "boolean", default: false } } });
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-files-")));
  const folder = join(dir, "files");
  mkdirSync(folder);
  for (let n = 0; n < 40; n++)
    writeFileSync(join(folder, `note-${n}.md`), `# Kettle ${n}\n\nThe blue kettle of room ${n}.\n`);
  let server = await startServer(dir, [folder]);
  try {
    let ask = await signIn(server.url);
    const [config, access] = [{ root: folder }, { visibility: "workspace" }];
    const added = await ask("POST", "/api/connectors", { providerId: "filesystem", name: "files", config, access });
    const { id } = added["connector"] as { id: string }; // as the route's schema says
    await syncEnds(dir);
    const { plaintext } = await ask("POST", "/api/api-tokens", { name: "files" });
    // A server that has just synced still looks after the processes that extracted.
    await server.stop();
    server = await startServer(dir, [folder], ["--import", PROBE]);
    ask = await signIn(server.url);

    print("one kb_search over /mcp", await filesOf(server, () => kbSearch(server.url, String(plaintext))), values.list);
    const env = { PATH: process.env["PATH"] ?? "", HOME: dir, KB_URL: server.url };
    await runCommand(env, ["login", "--email", ADMIN.email, "--password-stdin"]);
    const commands: Files[] = [];
    const create = await filesOf(server, async () => void commands.push(await createToken(env, join(dir, "coverage"))));
    print("one `kb tokens create`: the server", create, values.list);
    print("one `kb tokens create`: the command", inEach(commands.slice(-TIMES)), values.list);
    const post = async () => void (await ask("POST", "/api/api-tokens", { name: "made" }));
    print("one POST /api/api-tokens of a session", await filesOf(server, post), values.list);
    let made = 0;
    const sync = await filesOf(server, () => syncOneFile(ask, { dir, folder, id, name: `new-${made++}.md` }));
    print("one synced file, from the request for the sync", sync, values.list);
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The files that run each time that something is done. */
async function filesOf(server: BenchServer, act: () => Promise<void>): Promise<Files> {
  for (let n = 0; n < WARM_UPS; n++) await act();
  const all: Files[] = [];
  for (let n = 0; n < TIMES; n++) {
    await takeCoverage(server);
    await act();
    all.push(toFiles(await takeCoverage(server)));
  }
  return inEach(all);
}

function inEach([first = new Map(), ...others]: readonly Files[]): Files {
  return new Map([...first].filter(([file]) => others.every((one) => one.has(file))));
}

async function kbSearch(url: string, token: string): Promise<void> {
  const params = { name: "kb_search", arguments: { query: "blue kettle" } };
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const text = await answer.text();
  if (!text.includes("Kettle")) throw new Error(`The search found nothing: ${text}`);
}

/** Runs the command in a process of its own and gives the files that ran there. */
async function createToken(env: Record<string, string>, folder: string): Promise<Files> {
  rmSync(folder, { recursive: true, force: true });
  await runCommand({ ...env, NODE_V8_COVERAGE: folder }, ["tokens", "create", "made", "--password-stdin"]);
  return toFiles(
    readdirSync(folder).flatMap((name) => {
      // Written by Node, as `Profiler.takePreciseCoverage` gives it.
      const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { result: Coverage[] };
      return result.map(({ url, functions }) => ({
        url,
        offsets: functions.flatMap(({ ranges: [range] }) => (range && range.count > 0 ? [range.startOffset] : [])),
      }));
    }),
  );
}

async function runCommand(env: Record<string, string>, args: readonly string[]): Promise<void> {
  const run = promisify(execFile)(process.execPath, [CLI, ...args], { env });
  run.child.stdin?.end(`${ADMIN.password}\n`);
  await run;
}

interface Coverage {
  url: string;
  functions: { ranges: { startOffset: number; count: number }[] }[];
}

async function syncOneFile(
  ask: Ask,
  { dir, folder, id, name }: { dir: string; folder: string; id: string; name: string },
): Promise<void> {
  writeFileSync(join(folder, name), `# ${name}\n\nA copper pot in the shape of ${name}.\n`);
  await ask("POST", `/api/connectors/${id}/syncs`, {});
  await syncEnds(dir);
}

/** Waits until no run is open, by the database: a question to the server would be counted. */
async function syncEnds(dir: string): Promise<void> {
  const db = new DatabaseSync(join(dir, "data", "kb.db"), { readOnly: true });
  const open = db.prepare("SELECT count(*) AS n FROM syncs WHERE finishedAt IS NULL");
  while (Number((open.get() as { n: number }).n) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  db.close();
  // What the server does when a run has ended.
  await new Promise((resolve) => setTimeout(resolve, 300));
}

async function takeCoverage({ child }: BenchServer): Promise<Ran[]> {
  return new Promise((resolve) => {
    // The probe below sends a list. The server itself says that it is ready, which is kept until somebody listens.
    child.on("message", function onMessage(ran) {
      if (!Array.isArray(ran)) return;
      child.off("message", onMessage);
      resolve(ran as Ran[]);
    });
    child.send("take");
  });
}

const maps = new Map<string, { map: SourceMap; lineStarts: number[] } | undefined>();

function toFiles(ran: readonly Ran[]): Files {
  const files: Files = new Map();
  for (const { url, offsets } of ran) {
    if (!url.startsWith("file:")) continue;
    const script = fileURLToPath(url);
    if (!maps.has(script)) maps.set(script, readMap(script));
    const read = maps.get(script);
    if (read === undefined) continue;
    for (const offset of offsets) {
      // The whole script: it runs when it is loaded.
      if (offset === 0) continue;
      const line = read.lineStarts.findLastIndex((start) => start <= offset);
      const entry = read.map.findEntry(line, offset - (read.lineStarts[line] ?? 0));
      if (!("originalSource" in entry)) continue;
      const file = relative(join(ROOT, "src"), fileURLToPath(new URL(entry.originalSource, url)));
      if (file.startsWith("..")) continue;
      const at = `${entry.originalLine}:${entry.originalColumn}`;
      files.set(file, (files.get(file) ?? new Set()).add(at));
    }
  }
  return files;
}

function readMap(script: string): { map: SourceMap; lineStarts: number[] } | undefined {
  if (relative(join(ROOT, "dist"), script).startsWith("..")) return undefined;
  const text = readFileSync(script, "utf8");
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  // Written by tsup beside the script.
  const payload = JSON.parse(readFileSync(`${script}.map`, "utf8")) as ConstructorParameters<typeof SourceMap>[0];
  return { map: new SourceMap(payload), lineStarts };
}

function print(title: string, files: Files, isListed: boolean): void {
  const functions = [...files.values()].reduce((total, each) => total + each.size, 0);
  process.stdout.write(`${title}: ${files.size} files, ${functions} functions\n`);
  const folders = new Map<string, number>();
  for (const file of files.keys()) {
    const folder = file
      .split("/")
      .slice(0, 2)
      .join("/")
      .replace(/\/[^/]*\.ts$/u, "");
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const counts = [...folders].map(([folder, count]) => `${folder} ${count}`).toSorted();
  process.stdout.write(`  ${counts.join(", ")}\n`);
  if (!isListed) return;
  for (const file of [...files.keys()].toSorted()) process.stdout.write(`    ${file} ${files.get(file)?.size}\n`);
}

/** In the server's main thread: answers each message with what ran since the last one, in all threads. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
import { Session } from "node:inspector";
import { isMainThread } from "node:worker_threads";
if (isMainThread && process.send) {
  const session = new Session();
  session.connect();
  const post = (method, params) => new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result))));
  const waiting = new Map();
  const workers = new Set();
  let nextId = 1;
  const postTo = (sessionId, method, params) => new Promise((resolve) => {
    const id = nextId++;
    waiting.set(sessionId + id, resolve);
    const message = JSON.stringify({ id, method, params });
    post("NodeWorker.sendMessageToWorker", { sessionId, message }).catch(() => resolve(undefined));
  });
  const start = (send) => send("Profiler.enable").then(() =>
    send("Profiler.startPreciseCoverage", { callCount: true, detailed: false }));
  session.on("NodeWorker.attachedToWorker", ({ params: { sessionId } }) => {
    workers.add(sessionId);
    void start((method, params) => postTo(sessionId, method, params));
  });
  session.on("NodeWorker.detachedFromWorker", ({ params: { sessionId } }) => workers.delete(sessionId));
  session.on("NodeWorker.receivedMessageFromWorker", ({ params: { sessionId, message } }) => {
    const { id, result } = JSON.parse(message);
    waiting.get(sessionId + id)?.(result);
    waiting.delete(sessionId + id);
  });
  const ranIn = (coverage) => (coverage?.result ?? []).map(({ url, functions }) => ({
    url,
    offsets: functions.flatMap(({ ranges: [range] }) => (range.count > 0 ? [range.startOffset] : [])),
  }));
  await start(post);
  await post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  process.on("message", async () => {
    const taken = [post("Profiler.takePreciseCoverage"),
      ...[...workers].map((worker) => postTo(worker, "Profiler.takePreciseCoverage"))];
    process.send((await Promise.all(taken)).flatMap(ranIn));
  });
  process.channel.unref();
}
`)}`;

await main();
