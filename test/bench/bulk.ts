/**
 * Searches in the time after a bulk load, while the index is compacted, and when that has settled: delays of an open loop,
 * and the CPU of a call as many times that of bare Node with an equal body under the same loop.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { startBare } from "./bare.ts";
import { type Load, measureLoop, memoryOf, runOpenLoop } from "./load.ts";
import { type Corpus, makeCorpus } from "./search-corpus.ts";
import { type Ask, signIn, startServer } from "./server.ts";

export interface BulkBenchOptions {
  items: number;
  /** Searches a second. */
  rate: number;
  /** How long each loop lasts. */
  seconds: number;
  /** Real text to put the items together from. */
  textFolder: string;
  report(name: string, value: unknown): void;
}

const LINES_A_REQUEST = 2_000;
/** What a server has that people search already. */
const FIRST_ITEMS = 2_000;
const WARM_UP_PER_SECOND = 50;
const WARM_UP_MS = 10_000;
const BARE_MS = 4_000;
const QUIET_MS = 3_000;

interface Bench extends BulkBenchOptions {
  pid: number;
  load: Load;
  bare: { url: string; child: ChildProcess };
}

/** Pushes, searches at once, waits for the end of the upkeep, searches again; needs `npm run build` before. */
export async function benchBulk(options: BulkBenchOptions): Promise<void> {
  const { report, items } = options;
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-bulk-")));
  const corpus = makeCorpus(options.textFolder);
  const questions = corpus.questions.map(({ words }) => words.join(" "));
  const bare = await startBare();
  const server = await startServer(dir, []);
  try {
    const ask = await signIn(server.url);
    const { plaintext } = (await ask("POST", "/api/api-tokens", { name: "bench" })) as { plaintext: string };
    const load = { url: server.url, token: plaintext, questions };
    const bench: Bench = { ...options, pid: server.child.pid ?? 0, load, bare };
    const push = await makePush(ask, server.url, corpus);
    await push(0, FIRST_ITEMS);
    await runOpenLoop(load, WARM_UP_PER_SECOND, sleep(WARM_UP_MS));
    report("pushed", { items, itemsPerSecond: await push(FIRST_ITEMS, FIRST_ITEMS + items) });
    const upkeep = watchUpkeep(join(dir, "data", "kb.db"));
    const rightAfter = await measure(bench);
    report("right after", { ...rightAfter, slices: upkeep.slices() });
    await upkeep.settled();
    report("settled", await measure(bench));
    report("memory", memoryOf(bench.pid));
    upkeep.close();
  } finally {
    bare.child.kill();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** With the CPU of bare Node for a call, of a loop at the same rate just after this one. */
async function measure({ pid, load, bare, rate, seconds }: Bench) {
  const row = await measureLoop(pid, () => runOpenLoop(load, rate, sleep(seconds * 1_000)));
  const peer = await measureLoop(bare.child.pid ?? 0, () =>
    runOpenLoop({ ...load, url: bare.url }, rate, sleep(BARE_MS)),
  );
  const { all } = peer.cpuPerSearch;
  return { ...row, bare: { p95: peer.p95, cpu: all }, timesBare: round(row.cpuPerSearch.all / all) };
}

/** Pushes items by the key of a connector that everybody of the workspace may read; gives items a second. */
async function makePush(ask: Ask, url: string, corpus: Corpus) {
  const access = { visibility: "workspace" };
  const made = await ask("POST", "/api/connectors", { providerId: "push", name: "bench", access });
  // The route's schema names both.
  const { connector, key } = made as { connector: { id: string }; key: string };
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" };
  return async (start: number, end: number): Promise<number> => {
    const startedAt = performance.now();
    for (let from = start; from < end; from += LINES_A_REQUEST) {
      const body = linesOf(corpus, from, Math.min(end, from + LINES_A_REQUEST));
      const answer = await fetch(`${url}/api/connectors/${connector.id}/items`, { method: "POST", headers, body });
      const results = await answer.text();
      if (!answer.ok || results.includes('"error"')) throw new Error(`push: ${answer.status} ${results.slice(0, 400)}`);
    }
    return round(((end - start) * 1_000) / (performance.now() - startedAt));
  };
}

function linesOf(corpus: Corpus, from: number, to: number): string {
  let [lines, i] = ["", from];
  for (const { document, title, body } of corpus.documents(from, to)) {
    const updatedAt = new Date(document.updatedAt ?? 0).toISOString();
    const access = { known: true, all: [["workspace"]] };
    const item = {
      externalId: `T-${i}`,
      kind: "task",
      key: `OPS-${i++}`,
      title,
      text: body,
      updatedAt,
      version: "1",
      access,
    };
    lines += `${JSON.stringify({ t: "upsert", item })}\n`;
  }
  return lines;
}

/** Looks at how many slices of upkeep the index has had. */
function watchUpkeep(file: string) {
  const db = new DatabaseSync(file, { readOnly: true });
  const read = () => Number(db.prepare("SELECT sum(foldStep) AS steps FROM index_state").get()?.["steps"]);
  const first = read();
  return {
    slices: () => read() - first,
    async settled(): Promise<void> {
      for (let last = -1; last !== read(); await sleep(QUIET_MS)) last = read();
    },
    close: () => db.close(),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
