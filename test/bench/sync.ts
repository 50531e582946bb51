/**
 * A whole filesystem sync by the built program: items per second from "create the connector" to the end of its first run,
 * and what server and children hold. The peer is one bare Node process that reads the same files and inserts them into
 * SQLite FTS5: no permissions, no entities, no extraction in a child.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signIn, startServer, syncFolder } from "./server.ts";

export interface SyncBenchOptions {
  files: number;
  /** Real text to cut the files from. */
  textFolder: string;
  /** An existing folder to sync instead of made files; then there is no peer. */
  folder?: string;
}

export interface SyncBenchResult {
  items: number;
  itemsPerSecond: number;
  /** Files per second of the peer in the same run, and how many times longer the sync took. */
  peerPerSecond?: number;
  timesPeer?: number;
  /** Peaks in MiB. `VmHWM` counts the mapped database file too; `RssAnon` is what the processes hold themselves. */
  server: Memory;
  children: Memory;
}

interface Memory {
  vmHwmMb: number;
  rssAnonMb: number;
}

/** Runs the sync and its peer one after the other; needs `npm run build` before. Linux only: it reads `/proc`. */
export async function benchSync(options: SyncBenchOptions): Promise<SyncBenchResult> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-sync-")));
  try {
    const folder = options.folder ?? join(dir, "files");
    if (options.folder === undefined) makeFiles(folder, options.files, options.textFolder);
    const result = await runSync(dir, folder);
    if (options.folder !== undefined) return result;
    const peerPerSecond = await runPeer(dir, folder);
    return { ...result, peerPerSecond, timesPeer: peerPerSecond / result.itemsPerSecond };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Makes files of 1 to 4 kB in folders of 100, three deep, as in a real tree, from real text. */
export function makeFiles(folder: string, count: number, textFolder: string): void {
  const texts = readTexts(textFolder, Math.min(count * 2_500, 60_000_000));
  let [at, text] = [0, 0];
  for (let n = 0; n < count; n += 1) {
    const size = 1_000 + ((n * 7_919) % 3_001);
    const parent = join(folder, `area-${Math.floor(n / 2_000)}`, `topic-${Math.floor(n / 100) % 20}`);
    if (n % 100 === 0) mkdirSync(parent, { recursive: true });
    if ((texts[text]?.length ?? 0) - at < 1_000) [at, text] = [0, (text + 1) % texts.length];
    // The number keeps files apart when the text is used up and begins again.
    writeFileSync(join(parent, `note-${n}.md`), `# Note ${n}\n\n${texts[text]?.slice(at, at + size) ?? ""}`);
    at += size;
  }
}

function readTexts(folder: string, chars: number): string[] {
  const texts: string[] = [];
  let length = 0;
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  for (const name of names) {
    if (length >= chars) break;
    if (!/\.(?:md|markdown|txt|d\.ts)$/u.test(name)) continue;
    const text = readFileSync(join(folder, name), "utf8").slice(0, 200_000);
    if (text.length < 1_000) continue;
    texts.push(text);
    length += text.length;
  }
  if (texts.length === 0) throw new Error(`There is no Markdown or text in ${folder}.`);
  return texts;
}

async function runSync(dir: string, folder: string): Promise<SyncBenchResult> {
  const server = await startServer(dir, [folder]);
  try {
    const ask = await signIn(server.url);
    const watch = makeMemoryWatch(server.child.pid ?? 0);
    const { counts, seconds } = await syncFolder(ask, folder, () => watch.look());
    return { items: counts.seen, itemsPerSecond: counts.seen / seconds, ...watch.peaks() };
  } finally {
    await server.stop();
  }
}

/** Peaks of a process and of its child processes together, by `/proc`. */
function makeMemoryWatch(pid: number) {
  const server: Memory = { vmHwmMb: 0, rssAnonMb: 0 };
  const children: Memory = { vmHwmMb: 0, rssAnonMb: 0 };
  const note = (memory: Memory, pids: readonly number[]) => {
    const sizes = pids.map(readStatus);
    const sum = (name: keyof Memory) => Math.round(sizes.reduce((total, size) => total + size[name], 0));
    memory.vmHwmMb = Math.max(memory.vmHwmMb, sum("vmHwmMb"));
    memory.rssAnonMb = Math.max(memory.rssAnonMb, sum("rssAnonMb"));
  };
  return {
    look(): void {
      note(server, [pid]);
      note(children, childrenOf(pid));
    },
    peaks: () => ({ server, children }),
  };
}

function childrenOf(pid: number): number[] {
  // A process started by any thread is listed under that thread.
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readProc(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean).map(Number),
  );
}

function readStatus(pid: number): Memory {
  const status = readProc(`/proc/${pid}/status`);
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "mu").exec(status)?.[1] ?? 0) / 1_024;
  return { vmHwmMb: mb("VmHWM"), rssAnonMb: mb("RssAnon") };
}

/** Empty for a process that is gone. */
function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const PEER = `
import { DatabaseSync } from "@photostructure/sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
const [folder, file] = process.argv.slice(-2);
const db = new DatabaseSync(file);
db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE VIRTUAL TABLE t USING fts5(path, body)");
const insert = db.prepare("INSERT INTO t (path, body) VALUES (?, ?)");
const startedAt = performance.now();
let done = 0;
db.exec("BEGIN");
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  insert.run(path, readFileSync(path, "utf8"));
  if (++done % 200 === 0) db.exec("COMMIT; BEGIN");
}
db.exec("COMMIT");
console.log(done / ((performance.now() - startedAt) / 1000));
`;

async function runPeer(dir: string, folder: string): Promise<number> {
  const args = ["--input-type=module", "-e", PEER, "--", folder, join(dir, "peer.sqlite")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (part: Buffer) => (output += part.toString("utf8")));
  await new Promise((resolve) => child.once("close", resolve));
  return Number(output);
}
