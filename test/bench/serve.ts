/**
 * What serving searches takes: memory of the built program without items and with them, CPU of one call, and delays of an
 * open loop of searches at several rates, quiet and during a sync. Delays depend on what else runs: each row says how much of
 * the machine others took. CPU of a call depends on it little.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Load, measureLoop, memoryOf, runOpenLoop } from "./load.ts";
import { makeQuestions } from "./questions.ts";
import { type Ask, type BenchServer, signIn, startServer, syncFolder } from "./server.ts";
import { makeFiles } from "./sync.ts";

export interface ServeBenchOptions {
  /** Items that the server has. */
  files: number;
  /** Searches a second, one rate after the other. */
  rates: readonly number[];
  /** How long each rate lasts when nothing is synced. */
  seconds: number;
  /** Real text to cut the files from. */
  textFolder: string;
  /** A folder that keeps files and data for the next run. */
  keep?: string;
  report(name: string, value: unknown): void;
}

const WARM_UP_PER_SECOND = 50;
const WARM_UP_MS = 10_000;
/** A server that has just started still allocates, and loads in its first ten seconds what the first caller would wait for. */
const SETTLE_MS = 20_000;
/** Seconds' worth of new files for each rate under sync. */
const SYNCED_PER_SECOND = 200;

/** Runs all phases one after the other and reports each; needs `npm run build` before. */
export async function benchServe(options: ServeBenchOptions): Promise<void> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-serve-")));
  try {
    await reportEmpty(join(scratch, "empty"), options);
    const { keep = join(scratch, "items") } = options;
    mkdirSync(keep, { recursive: true });
    await reportLoads(realpathSync(keep), scratch, options);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function reportEmpty(dir: string, { report }: ServeBenchOptions): Promise<void> {
  mkdirSync(dir);
  const server = await startServer(dir, [dir]);
  try {
    await signIn(server.url);
    await sleep(SETTLE_MS);
    report("memory of an empty server", memoryOf(pidOf(server)));
  } finally {
    await server.stop();
  }
}

async function reportLoads(dir: string, scratch: string, options: ServeBenchOptions): Promise<void> {
  const { files, rates, seconds, textFolder, report } = options;
  const [folder, added] = [join(dir, "files"), join(scratch, "added")];
  const isFilled = existsSync(join(dir, "data", "kb.db"));
  if (!existsSync(folder)) makeFiles(folder, files, textFolder);
  let server = await startServer(dir, [folder, added]);
  try {
    if (!isFilled) {
      await syncFolder(await signIn(server.url), folder);
      // Memory of serving, without what the sync has left.
      await server.stop();
      server = await startServer(dir, [folder, added]);
    }
    const ask = await signIn(server.url);
    const { plaintext } = (await ask("POST", "/api/api-tokens", { name: "bench" })) as { plaintext: string };
    const load: Load = { url: server.url, token: plaintext, questions: makeQuestions(folder) };
    await sleep(SETTLE_MS);
    report("memory before the first search", memoryOf(pidOf(server)));
    await runOpenLoop(load, WARM_UP_PER_SECOND, sleep(WARM_UP_MS));
    for (const rate of rates) {
      report(
        `${rate} searches/s`,
        await measureLoop(pidOf(server), () => runOpenLoop(load, rate, sleep(seconds * 1_000))),
      );
    }
    report("memory after these searches", memoryOf(pidOf(server)));
    for (const [n, rate] of rates.entries()) {
      const fresh = join(added, String(n));
      makeFiles(fresh, SYNCED_PER_SECOND * seconds, textFolder);
      report(`${rate} searches/s during a sync`, await measureUnderSync(server, ask, { load, rate, folder: fresh }));
    }
    report("memory at the end", memoryOf(pidOf(server)));
  } finally {
    await server.stop();
  }
}

async function measureUnderSync(
  server: BenchServer,
  ask: Ask,
  { load, rate, folder }: { load: Load; rate: number; folder: string },
) {
  let synced: Awaited<ReturnType<typeof syncFolder>> | undefined;
  const row = await measureLoop(pidOf(server), async () => {
    const syncing = syncFolder(ask, folder);
    const result = await runOpenLoop(load, rate, syncing);
    synced = await syncing;
    return result;
  });
  return { ...row, itemsPerSecond: synced && round(synced.counts.seen / synced.seconds) };
}

function pidOf({ child }: BenchServer): number {
  return child.pid ?? 0;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
