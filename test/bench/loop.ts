/**
 * The server's main thread while a folder is synced and folded and agents search: event-loop delay, `/healthz` from
 * outside, and searches over `/mcp` with a token; then `/mcp` against the bare index on the same questions.
 *
 * The load is open: a question leaves at its time whether or not the one before was answered, so a standing server is
 * counted as often as somebody would have met it.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { findSpawnEntry } from "#core/spawn.ts";
import { atRate, type Delays, LIMIT, type Load, percentiles, search } from "./load.ts";
import { exchange, makeQuestions, readEverybody } from "./questions.ts";
import { type BenchServer, signIn, startServer, syncFolder } from "./server.ts";
import { makeFiles } from "./sync.ts";

export interface LoopBenchOptions {
  /** Files that are there before the load, and as many again while it runs. */
  files: number;
  /** Real text to cut the files from. */
  textFolder: string;
  /** An existing folder to sync instead of made files, before and under load. */
  folder?: string;
  report(name: string, value: unknown): void;
}

const SEARCHES_PER_SECOND = 20;
const HEALTH_PER_SECOND = 100;
const QUIET_SECONDS = 10;

/** Runs all phases one after the other and reports each; needs `npm run build` before. */
export async function benchLoop(options: LoopBenchOptions): Promise<void> {
  const { report } = options;
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-loop-")));
  const [first, second] =
    options.folder === undefined ? [join(dir, "first"), join(dir, "second")] : [options.folder, options.folder];
  if (options.folder === undefined) {
    for (const folder of [first, second]) makeFiles(folder, options.files, options.textFolder);
  }
  const server = await startServer(dir, [...new Set([first, second])], ["--import", PROBE]);
  try {
    const ask = await signIn(server.url);
    await askProbe(server);
    const alone = await syncFolder(ask, first);
    report("sync alone", { items: alone.counts.seen, itemsPerSecond: round(alone.counts.seen / alone.seconds) });
    report("sync alone: main thread", await askProbe(server));

    const { plaintext } = (await ask("POST", "/api/api-tokens", { name: "bench" })) as { plaintext: string };
    const load = { url: server.url, token: plaintext, questions: makeQuestions(first) };
    await runLoad(load, sleep(3_000));
    await askProbe(server);
    report("searches alone", await runLoad(load, sleep(QUIET_SECONDS * 1_000)));
    report("searches alone: main thread", await askProbe(server));

    const under = await measureTogether(load, () => syncFolder(ask, second));
    const { counts, seconds } = under.result;
    report("sync and searches", { items: counts.seen, itemsPerSecond: round(counts.seen / seconds), ...under.delays });
    report("sync and searches: main thread", await askProbe(server));
    report("/mcp against the bare index, one after the other", await comparePairs(dir, load));
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureTogether<Result>(load: Load, work: () => Promise<Result>) {
  const working = work();
  const delays = await runLoad(load, working);
  return { result: await working, delays };
}

/** Asks at fixed times until `end` settles. */
async function runLoad({ url, token, questions }: Load, end: Promise<unknown>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const searches: number[] = [];
  const health: number[] = [];
  const failures: string[] = [];
  const underWay = new Set<Promise<void>>();
  const measure = async (into: number[], one: () => Promise<void>) => {
    const startedAt = performance.now();
    await one().catch((error: unknown) => void failures.push(String(error)));
    into.push(performance.now() - startedAt);
  };
  const send = (into: number[], one: () => Promise<void>) => {
    const done = measure(into, one).finally(() => underWay.delete(done));
    underWay.add(done);
  };
  let asked = 0;
  const stopSearches = atRate(SEARCHES_PER_SECOND, () =>
    send(searches, () => search(agent, { url, token }, questions[asked++ % questions.length] ?? "")),
  );
  const stopHealth = atRate(HEALTH_PER_SECOND, () => send(health, () => get(agent, `${url}/healthz`)));
  await end;
  stopSearches();
  stopHealth();
  await Promise.all(underWay);
  agent.destroy();
  const failed = failures.length > 0 && { failed: failures.length, firstFailure: failures[0] };
  return { search: percentiles(searches), healthz: percentiles(health), ...failed };
}

function get(agent: Agent, url: string): Promise<void> {
  return exchange(agent, url, undefined, {});
}

/** Each question to the index and then to `/mcp`, so that both meet the same machine. */
async function comparePairs(dir: string, load: Load) {
  const file = join(dir, "data", "kb.db");
  const { workspaceId, principals } = readEverybody(file);
  const pool = makeSearchPool({ file, size: 1, workerUrl: findSpawnEntry("searcher") });
  const agent = new Agent({ keepAlive: true });
  const [bare, whole]: [number[], number[]] = [[], []];
  const base = { workspaceId, viewer: { principals, epoch: 1 }, filters: {}, order: "relevance" } as const;
  try {
    for (const [n, query] of [...load.questions.slice(0, 50), ...load.questions].entries()) {
      const startedAt = performance.now();
      await pool.search({ ...base, query, limit: LIMIT + 3 });
      const between = performance.now();
      await search(agent, load, query);
      if (n < 50) continue;
      bare.push(between - startedAt);
      whole.push(performance.now() - between);
    }
  } finally {
    agent.destroy();
    await pool.close();
  }
  const [index, mcp] = [percentiles(bare), percentiles(whole)];
  return { index, mcp, moreAtP50: round(mcp.p50 - index.p50), moreAtP95: round(mcp.p95 - index.p95) };
}

/** What the server's main thread did since the last time. */
function askProbe({ child }: BenchServer): Promise<ProbeAnswer> {
  return new Promise((resolve) => {
    // The server has a message of its own: that it is ready. It waits for the first listener.
    const take = (message: object) => {
      if (!("delay" in message)) return;
      child.off("message", take);
      // What `PROBE` sends.
      resolve(message as ProbeAnswer);
    };
    child.on("message", take);
    child.send("delays");
  });
}

interface ProbeAnswer {
  delay: Delays;
  /** The same without the time in which the thread was ready and other programs had the cores. Linux tells it. */
  delayOnACore: Delays;
  /** Share of the time in which the main thread computed. */
  busy: number;
}

/** Runs inside the server's main thread. A sample of either kind holds the millisecond that it waits for. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
if (isMainThread && process.send) {
  const round = (ms) => Math.round(Math.max(0, ms) * 100) / 100;
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const [file, bytes] = [openSync("/proc/thread-self/schedstat"), Buffer.alloc(64)];
  const look = () => {
    const [ran, waited] = bytes.toString("latin1", 0, readSync(file, bytes, 0, 64, 0)).split(" ");
    return { at: performance.now(), ran: ran / 1e6, waited: waited / 1e6 };
  };
  let [first, last, own] = [look(), look(), []];
  setInterval(() => {
    const next = look();
    own.push(next.at - last.at - 1 - (next.waited - last.waited));
    last = next;
  }, 1).unref();
  process.on("message", () => {
    const sorted = own.sort((a, b) => a - b);
    const of = (at) => Object.fromEntries(
      Object.entries({ p50: 50, p95: 95, p99: 99, p999: 99.9, max: 100 }).map(([name, p]) => [name, round(at(p))]),
    );
    process.send({
      delay: { ...of((p) => histogram.percentile(p) / 1e6 - 1), count: histogram.count },
      delayOnACore: { ...of((p) => sorted[Math.ceil((sorted.length * p) / 100) - 1] ?? 0), count: sorted.length },
      busy: round((last.ran - first.ran) / (last.at - first.at)),
    });
    histogram.reset();
    [first, own] = [last, []];
  });
  process.channel.unref();
}
`)}`;

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
