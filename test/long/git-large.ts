/**
 * The `git` source on a large repository: `npx tsx test/long/git-large.ts [FILES] [COMMITS] [KILLS]` makes one with
 * `git fast-import` (100,000 files, 5,000 commits), syncs it with the whole engine, and measures the first run, a run
 * after one commit (beside that of a small repository), a renamed folder, a forced push and a deleted branch; then it
 * kills first runs with SIGKILL at random moments and compares the end states. Prints the figures; exit code 1 when
 * something is not as it must be. Needs a build (`npm run build`) for the writer and the extractor.
 */
import { runsOf } from "#server/sync/run/run-session.ts";
import { makeSyncBytes } from "../spool.ts";
import { runParts } from "../sources/stored.ts";
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { findPackageRoot, findSpawnEntry } from "#core/spawn.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { makeExtractor } from "#extract/pool.ts";
import { makeSourceRegistry } from "#sources/registry.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { makeSyncWorker } from "#server/sync/worker/worker.ts";
import { NO_HTTP, NO_HTTP_POOL, NO_NETWORK } from "../network.ts";
import { CONNECTOR, digestOf, makeConnector, WORKSPACE } from "../server/sync/harness.ts";

const PATH = process.env["PATH"] ?? "";
let ticks = 0;

if (process.argv[2] === "--child") await syncOnce(process.argv.slice(3));
else await prove(process.argv.slice(2).map(Number));

async function prove([files = 100_000, commits = 5_000, kills = 5]: number[]): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "kb-git-large-")));
  try {
    const large = makeRepository(join(base, "large"), files, commits);
    const small = makeRepository(join(base, "small"), 1_000, 50);
    const calm = await firstRun(base, "calm", large);
    await oneCommit(base, small, calm);
    await renamed(calm);
    await forced(calm);
    await withoutBranch(calm);
    // The forced push has left another number of files than the beginning.
    const today = {
      ...large,
      branchSize: git(large.root, "ls-tree", "-r", "--name-only", "main").trim().split("\n").length,
    };
    if (kills > 0) await killed(base, await firstRun(base, "calm-again", today), kills);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

interface Repository {
  root: string;
  branchSize: number;
}

/** A database with one connector, its data folder beside it. */
interface Installation {
  file: string;
  repository: Repository;
  digest: string;
}

async function firstRun(base: string, name: string, repository: Repository): Promise<Installation> {
  const file = await install(base, name, repository);
  const run = await sync(file, repository);
  const digest = await endDigest(file);
  const { items, indexed } = count(file);
  const mirror = sizeOf(join(`${file}-data`, "git"));
  say(
    `first run: ${seconds(run.tookMs)}, ${Math.round((items * 1_000) / run.tookMs)} items/s; ${items} items, ${indexed} with text; ` +
      `peak memory ${run.peakMb} MB; mirror ${Math.round(mirror / 1e6)} MB, database ${Math.round(statSync(file).size / 1e6)} MB`,
  );
  must(items === repository.branchSize, `${repository.branchSize} files became ${items} items`);
  return { file, repository, digest };
}

async function oneCommit(base: string, small: Repository, calm: Installation): Promise<void> {
  const other = await firstRun(base, "small", small);
  for (const { file, repository } of [other, calm]) {
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      change(repository.root, `d0/s0/f${i}.md`, `changed ${i}\n`);
      const run = await sync(file, repository, "incremental");
      times.push(run.runMs);
      must(run.counts.upserted === 1 && run.counts.deleted === 0, `one commit gave ${JSON.stringify(run.counts)}`);
    }
    const source = await sourceAlone(file, repository);
    await sync(file, repository, "incremental");
    say(
      `after one commit, ${repository.branchSize} files: runs ${times.map(ms).join(", ")}; the source alone ${ms(source)}`,
    );
  }
}

/** An incremental run of the source itself, without the engine around it. */
async function sourceAlone(file: string, { root }: Repository): Promise<number> {
  change(root, "d0/s0/f9.md", "changed by itself\n");
  const source = await sourcesOf(file, root).get("git");
  const db = new DatabaseSync(file, { readOnly: true });
  const row = db.prepare("SELECT cursor FROM connectors").get() as { cursor: string };
  db.close();
  const startedAt = performance.now();
  let upserts = 0;
  const context = {
    config: source.spec.config.parse({ url: root, ref: "main" }),
    connector: { id: CONNECTOR, name: "Large" },
    http: NO_HTTP,
    signal: new AbortController().signal,
    now: () => Date.now(),
    log: () => undefined,
    ...runParts(() => "known"),
  };
  const run = {
    mode: "incremental" as const,
    runId: "x",
    scope: { include: [], exclude: [] },
    cursor: JSON.parse(row.cursor) as unknown,
  };
  for await (const event of runsOf(source)?.(context, run) ?? []) {
    if (event.t === "upsert") upserts++;
  }
  must(upserts === 1, `the source alone gave ${upserts} items`);
  return performance.now() - startedAt;
}

async function killed(base: string, calm: Installation, kills: number): Promise<void> {
  for (let i = 0; i < kills; i++) {
    const name = `killed-${i}`;
    // The repository has moved on since the calm run: a calm one of today is the measure.
    const file = await install(base, name, calm.repository);
    let hits = 0;
    for (const share of [Math.random() * 0.3, 0.3 + Math.random() * 0.6]) {
      const at = Math.floor(share * calm.repository.branchSize);
      if ((await sync(file, calm.repository, undefined, { killAt: at, offset: hits })).isKilled) hits++;
    }
    await sync(file, calm.repository, undefined, { offset: hits });
    const [digest, expected] = [await endDigest(file), await endDigest(calm.file)];
    say(`killed ${hits} times in a first run: ${digest === expected ? "same end state" : "DIFFERENT end state"}`);
    must(digest === expected && hits > 0, "a killed run ended in another state, or was not killed");
    rmSync(`${file}-data`, { recursive: true, force: true });
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  }
}

async function renamed({ file, repository }: Installation): Promise<void> {
  const before = kbIds(file, "d1/");
  const root = repository.root;
  importStream(
    root,
    `${head("rename")}from refs/heads/main^0\nR d1 renamed\nM 100644 inline renamed/s0/f0.md\n${data(`${textOf(1)}changed too\n`)}\n`,
  );
  const run = await sync(file, repository, "incremental");
  const after = kbIds(file, "renamed/");
  const kept = [...before].filter(([path, kbId]) => after.get(path.replace("d1/", "renamed/")) === kbId).length;
  say(`a folder of ${before.size} files renamed: ${ms(run.runMs)}, ${kept} kept their kbId (one changed as well)`);
  must(kept === before.size && kbIds(file, "d1/").size === 0, "a rename lost a kbId");
}

async function forced({ file, repository }: Installation): Promise<void> {
  const { root } = repository;
  git(root, "update-ref", "refs/heads/main", "refs/heads/main~10");
  change(root, "d0/s0/forced.md", "forced\n");
  const run = await sync(file, repository, "incremental");
  const wanted = git(root, "ls-tree", "-r", "--name-only", "main").trim().split("\n").length;
  const { items, held } = count(file);
  say(
    `a forced push ten commits back: ${ms(run.runMs)}, ${JSON.stringify(run.counts)}; ${items} items of ${wanted} files, ${held} held`,
  );
  must(items - held <= wanted && items >= wanted, "a forced push left other items than files");
}

async function withoutBranch({ file, repository }: Installation): Promise<void> {
  const before = count(file).items;
  const oid = git(repository.root, "rev-parse", "main").trim();
  git(repository.root, "update-ref", "-d", "refs/heads/main");
  const run = await sync(file, repository, "incremental");
  git(repository.root, "update-ref", "refs/heads/main", oid);
  say(`the branch deleted: ${run.state} (${run.problem}); ${count(file).items} of ${before} items stay`);
  must(run.state === "failed" && count(file).items === before, "a deleted branch removed items");
}

/** A repository of this many files, made by this many commits: one large, the rest small. */
function makeRepository(root: string, files: number, commits: number): Repository {
  mkdirSync(root);
  git(root, "init", "--quiet", "--bare");
  const startedAt = performance.now();
  const parts: string[] = [head("all")];
  for (let i = 0; i < files; i++) parts.push(`M 100644 inline ${pathOf(i)}\n${data(textOf(i))}`);
  for (let c = 1; c < commits; c++) {
    parts.push(`\n${head(`commit ${c}`)}`);
    for (let k = 0; k < 5; k++) {
      const i = (c * 7_919 + k * 104_729) % files;
      parts.push(`M 100644 inline ${pathOf(i)}\n${data(`${textOf(i)}changed in ${c}\n`)}`);
    }
  }
  writeAll(root, parts.join(""));
  say(
    `${root.split("/").at(-1)}: ${files} files, ${commits} commits, made in ${seconds(performance.now() - startedAt)}`,
  );
  git(root, "symbolic-ref", "HEAD", "refs/heads/main");
  return { root, branchSize: files };
}

function writeAll(root: string, stream: string): void {
  execFileSync("git", ["fast-import", "--quiet", "--force"], { cwd: root, input: stream, maxBuffer: 1 << 30 });
}

function head(message: string): string {
  const who = `Ana Diaz <ana@example.test> ${1_600_000_000 + ticks++ * 60} +0000`;
  return `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\n${data(message)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function pathOf(i: number): string {
  return `d${i % 50}/s${Math.floor(i / 50) % 40}/f${Math.floor(i / 2_000)}.md`;
}

function textOf(i: number): string {
  const words = createHash("sha256").update(String(i)).digest("hex").match(/.{4}/g) ?? [];
  return `# File ${i}\n\nAbout ${words.join(" ")} and more.\n\n${`Line ${i} of ${words[0]}.\n`.repeat(8)}`;
}

function importStream(root: string, stream: string): void {
  writeAll(root, stream);
}

function change(root: string, path: string, text: string): void {
  importStream(root, `${head("change")}from refs/heads/main^0\nM 100644 inline ${path}\n${data(text)}\n`);
}

function git(root: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 30 });
}

async function install(base: string, name: string, { root }: Repository): Promise<string> {
  const file = join(base, `${name}.db`);
  const database = await openDatabase({ file });
  const store = makeStore(database);
  const now = Date.now();
  await store.workspaces.insert({ workspaceId: WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: now });
  await store
    .in(WORKSPACE)
    .connectors.create(makeConnector(now, { providerId: "git", config: { url: root, ref: "main" } }));
  await database.close();
  return file;
}

interface RunFigures {
  tookMs: number;
  runMs: number;
  peakMb: number;
  isKilled: boolean;
  state: string;
  problem: string;
  counts: { upserted: number; deleted: number };
}

/** A run in a process of its own; killed once the file holds this many items. */
async function sync(
  file: string,
  { root }: Repository,
  mode?: "incremental",
  { killAt, offset = 0 }: { killAt?: number; offset?: number } = {},
): Promise<RunFigures> {
  const args = ["--import", "tsx", import.meta.filename, "--child", file, root, mode ?? "", String(offset * 60_000)];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: findPackageRoot(), stdio: ["ignore", "ignore", "inherit"] });
  let peakMb = 0;
  const over = new AbortController();
  const watch = (async () => {
    while (!over.signal.aborted) {
      await wait(100);
      peakMb = Math.max(peakMb, residentMb(child.pid));
      if (killAt !== undefined && count(file).items >= killAt) child.kill("SIGKILL");
    }
  })();
  const code = await new Promise<number | null>((resolve) => child.on("exit", (exit) => resolve(exit)));
  over.abort();
  await watch;
  if (code !== null && code !== 0) throw new Error(`The child ended with ${code}.`);
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const row = db
    .prepare(
      "SELECT state, problem, counts, startedAt, finishedAt FROM syncs ORDER BY createdAt DESC, rowid DESC LIMIT 1",
    )
    .get();
  db.close();
  const last = row as { state: string; problem: string | null; counts: string; startedAt: number; finishedAt: number };
  return {
    tookMs: performance.now() - startedAt,
    runMs: last.finishedAt - last.startedAt,
    peakMb,
    isKilled: code === null,
    state: last.state,
    problem: last.problem ?? "",
    counts: JSON.parse(last.counts) as RunFigures["counts"],
  };
}

function sourcesOf(file: string, root: string) {
  return makeSourceRegistry({
    allowedRoots: async () => [root],
    dataFolder: `${file}-data`,
    isOpenToStrangers: false,
    guard: NO_NETWORK,
    searchPath: PATH,
  });
}

/** The child: asks for a run unless one is open, and works until nothing is due. */
async function syncOnce([file = "", root = "", mode = "", offset = "0"]: string[]): Promise<void> {
  const silent = { debug() {}, info() {}, warn: complain, error: complain };
  const database = await openDatabase({ file, writerEntry: findSpawnEntry("writer") });
  const store = makeStore(database);
  const extractor = makeExtractor({
    childPath: findSpawnEntry("extractor"),
    now: () => performance.now(),
    analyze: analyzeDocument,
    log: silent,
  });
  const now = () => Date.now() + Number(offset);
  const workspace = store.in(WORKSPACE);
  const connector = await workspace.connectors.find(CONNECTOR);
  if (!connector) throw new Error("The connector is gone.");
  if ((await workspace.syncs.listOpen([CONNECTOR])).length === 0) {
    const wish = {
      trigger: "manual" as const,
      now: now(),
      randomBytes,
      ...(mode === "incremental" && { mode: "incremental" as const }),
    };
    await store.transaction((tx) => requestSync(tx, WORKSPACE, connector, wish));
  }
  const sources = sourcesOf(file, root);
  const worker = makeSyncWorker({
    store,
    findSource: (providerId) => sources.find(providerId),
    extractor,
    analyze: analyzeDocument,
    loadAuthority: async (_workspaceId, _source, { connectorId }) => ({ connectorId, named: { has: () => true } }),
    withoutUnknownPeople: (item) => item,
    keepsSecrets: async () => false,
    ...makeSyncBytes(),
    http: NO_HTTP_POOL,
    now,
    randomBytes,
    sleep: (time, signal) => wait(time, undefined, { signal }).catch(() => undefined),
    log: silent,
    parallel: 16,
  });
  await worker.runUntilIdle();
  await extractor.close();
  await database.close();
}

function complain(fields: Record<string, unknown>, message: string): void {
  const text = (_key: string, value: unknown) => (value instanceof Error ? value.stack : value);
  process.stderr.write(`${message} ${JSON.stringify(fields, text).slice(0, 2_000)}\n`);
}

async function endDigest(file: string): Promise<string> {
  const database = await openDatabase({ file });
  try {
    return await digestOf(database);
  } finally {
    await database.close();
  }
}

function count(file: string): { items: number; indexed: number; held: number } {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    const living = "FROM items WHERE removedAt IS NULL";
    const sql = `SELECT (SELECT count(*) ${living}) AS items, (SELECT count(*) ${living} AND indexState = 'indexed') AS indexed,
      (SELECT count(*) ${living} AND indexState = 'held') AS held`;
    return db.prepare(sql).get() as { items: number; indexed: number; held: number };
  } finally {
    db.close();
  }
}

function kbIds(file: string, prefix: string): Map<string, string> {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const sql = "SELECT externalId, kbId FROM items WHERE removedAt IS NULL AND externalId LIKE ?";
  const rows = db.prepare(sql).all(`${prefix}%`) as { externalId: string; kbId: string }[];
  db.close();
  return new Map(rows.map(({ externalId, kbId }) => [externalId, kbId]));
}

function residentMb(pid: number | undefined): number {
  try {
    const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kb ?? 0) / 1_024);
  } catch {
    // It has ended.
    return 0;
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function must(isSo: boolean, what: string): void {
  if (isSo) return;
  say(`NOT AS IT MUST BE: ${what}`);
  process.exitCode = 1;
}

function seconds(time: number): string {
  return `${(time / 1_000).toFixed(1)} s`;
}

function ms(time: number): string {
  return `${Math.round(time)} ms`;
}

function say(line: string): void {
  process.stdout.write(`${line} [load ${loadavg()[0]?.toFixed(1)}]\n`);
}
