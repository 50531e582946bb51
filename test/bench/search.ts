/* oxlint-disable no-console -- a program that prints its report */
import { DatabaseSync } from "@photostructure/sqlite";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { parseQuery } from "#text/query.ts";
import { STOP_WORDS } from "#text/stop-words.ts";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { findSpawnEntry } from "#core/spawn.ts";
import type { Matching, SearchIndex, SearchRequest } from "#storage/search-index.ts";
import { type Corpus, makeCorpus } from "./search-corpus.ts";
import { buildTantivy, fillTantivy, openTantivy, type PeerAccess, type Tantivy } from "./tantivy.ts";
import { bestInTurns } from "./turns.ts";
import { type BenchData, inTransaction, intern, openBenchData, type Report, WORKSPACE } from "./search-data.ts";

export interface SearchBenchOptions {
  items: number;
  /** Folder of Markdown, RST or text files. */
  textFolder: string;
  /** Search threads; 0 = in this thread. */
  threads: number;
  /** Compare with SQLite FTS5 in the same run. */
  hasFts: boolean;
  /** Compare with native Tantivy in the same run; it is built with cargo. */
  hasTantivy: boolean;
  /** A folder that keeps the databases for the next run; without it they are made each time and deleted. */
  keep?: string;
  report: Report;
}

/** `word` asks for one alone. `any` and `long` want two of the words, as a search does when few items have all; `one` wants one. */
const MODES = {
  word: { order: "relevance", match: "all" },
  all: { order: "relevance", match: "all" },
  any: { order: "relevance", match: "any" },
  one: { order: "relevance", match: "one" },
  recency: { order: "recency", match: "all" },
  long: { order: "relevance", match: "any" },
} as const;

type Mode = keyof typeof MODES;

/** How many of the words an item must have. */
const MINIMUM = { all: undefined, any: 2, one: 1 } as const;

interface Bench extends BenchData, SearchBenchOptions {
  corpus: Corpus;
  tantivy: Tantivy | undefined;
}

/** Builds an index, measures writing and searching, and prints percentiles and ratios to FTS5. */
export async function benchSearch(options: SearchBenchOptions): Promise<void> {
  const { items, report, keep } = options;
  if (keep !== undefined) mkdirSync(keep, { recursive: true });
  const corpus = makeCorpus(options.textFolder);
  report("corpus", { items, hash: corpus.hash, distinctWords: corpus.distinctWords });
  const data = openBenchData(corpus, options);
  const tantivy = options.hasTantivy ? await prepareTantivy(corpus, { ...options, folder: data.folder }) : undefined;
  const bench: Bench = { ...data, ...options, corpus, tantivy };
  try {
    await reportOpening(bench);
    const pool = openPool(bench);
    try {
      await reportQuestions(bench, pool);
      await reportChanges(bench, pool);
      report("rss MB", Math.round(process.memoryUsage().rss / 2 ** 20));
    } finally {
      await pool.close();
    }
  } finally {
    await tantivy?.close();
    data.close();
  }
}

async function prepareTantivy(
  corpus: Corpus,
  { folder, items, report }: { folder: string; items: number; report: Report },
): Promise<Tantivy | undefined> {
  if (!buildTantivy()) {
    report("Tantivy", "not run: cargo isn't installed");
    return undefined;
  }
  const index = path.join(folder, `tantivy-${items}-${corpus.hash}`);
  const speed = await fillTantivy(index, corpus, items);
  if (speed !== undefined) report("Tantivy bulk items/s, with the analyzer of kb before it", speed);
  return openTantivy(index);
}

function openPool({ file, threads }: Bench): SearchIndex {
  return makeSearchPool({
    file,
    size: threads,
    ...(threads > 0 && { workerUrl: findSpawnEntry("searcher") }),
  });
}

/** From nothing (a new thread, an empty cache) to the first answer, of three tries; the file is in the page cache. */
async function reportOpening(bench: Bench): Promise<void> {
  const viewer = bench.corpus.viewers[1] ?? { principals: [] };
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const pool = openPool(bench);
    times.push(await timeAsync(() => pool.search(request(["zzz"], viewer, "all"))));
    await pool.close();
  }
  bench.report("cold open + first search ms, three tries", times.map(round));
}

async function reportQuestions(bench: Bench, pool: SearchIndex): Promise<void> {
  const { corpus, ftsFile, report } = bench;
  const firsts: number[] = [];
  await pool.search(request(["zzz"], { principals: ["p1"] }, "all"));
  for (const each of corpus.viewers) firsts.push(await timeAsync(() => pool.search(request(["zzz"], each, "all"))));
  report("a viewer's first search p50/p95/p99 ms", percentiles(firsts));
  const fts = ftsFile === undefined ? undefined : openFts(ftsFile);
  for (const mode of Object.keys(MODES) as Mode[]) {
    const ours = await measure(mode, corpus, (words, principals) => pool.search(request(words, { principals }, mode)));
    report(`${mode} p50/p95/p99 ms`, ours);
    await compareWithTantivy(bench, pool, mode);
    const again = await measure(mode, corpus, (words, principals) => pool.search(request(words, { principals }, mode)));
    report(`${mode} asked again p50/p95/p99 ms`, again);
    if (fts === undefined) continue;
    const theirs = await measure(mode, corpus, async (words, principals) => fts.search(words, principals, mode));
    report(`${mode} FTS5 p50/p95/p99 ms`, theirs);
    report(`${mode} FTS5 ÷ ours p50/p95/p99`, ratiosOf(theirs, ours));
  }
  fts?.close();
}

/**
 * Both engines index the same terms and know the same visible items, so they must count the same. Our times have the way
 * to a search thread and back in them, the peer's are those of its search alone.
 */
async function compareWithTantivy({ corpus, tantivy, report }: Bench, pool: SearchIndex, mode: Mode): Promise<void> {
  if (tantivy === undefined) return;
  const { order } = MODES[mode];
  // As ours: each viewer has searched once, so that a kept set is there.
  for (const { principals } of corpus.viewers) {
    for (const access of PEER_ACCESSES) await tantivy.search({ order, access, words: ["zzz"], principals });
  }
  const totals = new Map<Question, number>();
  const different = new Set<Question>();
  const askPeer = (access: PeerAccess) => async (question: Question) => {
    const { words, viewer } = question;
    const [principals, minimum] = [principalsOf(corpus, viewer), MINIMUM[matchOf(mode, words)]];
    const { ms, total } = await tantivy.search({ order, minimum, access, words, principals });
    if (total !== totals.get(question)) different.add(question);
    return ms;
  };
  const best = await bestInTurns(questionsOf(mode, corpus), {
    ours: (question) =>
      timeAsync(async () => {
        const { words, viewer } = question;
        const { total } = await pool.search(request(words, { principals: principalsOf(corpus, viewer) }, mode));
        totals.set(question, total);
      }),
    terms: askPeer("terms"),
    kept: askPeer("kept"),
  });
  const ours = percentiles(best.get("ours") ?? []);
  report(`${mode} in turns p50/p95/p99 ms`, ours);
  for (const access of PEER_ACCESSES) {
    const theirs = percentiles(best.get(access) ?? []);
    const name = `Tantivy (${access === "terms" ? "access as a term set" : "access as a kept bit set"})`;
    report(`${mode} ${name} p50/p95/p99 ms`, theirs);
    report(`${mode} ours ÷ ${name} p50/p95/p99`, ratiosOf(ours, theirs));
  }
  report(`${mode} questions whose exact total differs from Tantivy's`, different.size);
}

const PEER_ACCESSES = ["terms", "kept"] as const satisfies PeerAccess[];

type Question = Corpus["questions"][number];

function principalsOf({ viewers }: Corpus, viewer: number): string[] {
  return viewers[viewer]?.principals ?? [];
}

function ratiosOf(times: readonly number[], peer: readonly number[]): number[] {
  return times.map((value, i) => round(value / (peer[i] ?? 1)));
}

function questionsOf(mode: Mode, corpus: Corpus): Corpus["questions"] {
  if (mode === "long") return corpus.longQuestions;
  if (mode === "word") return corpus.questions.filter(({ words }) => parseQuery(words.join(" ")).units.length === 1);
  return corpus.questions.filter(({ words }) => MODES[mode].match === "all" || words.length > 2);
}

/** How long a change takes until a search shows it, for changes of items and of memberships. */
async function reportChanges(bench: Bench, pool: SearchIndex): Promise<void> {
  const { db, writer, corpus, items, report } = bench;
  const viewer = corpus.viewers[1] ?? { principals: [] };
  const upserts: number[] = [];
  const newest = () => Number(db.prepare("SELECT max(aclId) AS n FROM accesses").get().n);
  let next = Math.max(items, newest());
  const put = (count: number) => {
    for (const { document } of corpus.documents(next, next + count)) {
      inTransaction(db, () => {
        intern(db, document.aclId, [0]);
        writer.apply(WORKSPACE, [{ type: "upsert", document }]);
      });
    }
    next += count;
    return pool.search(request([`ops-${99_999 + next}`], viewer, "all"));
  };
  for (let n = 0; n < 50; n++) upserts.push(await timeAsync(() => put(1)));
  report("upsert → searchable p50/p95/p99 ms", percentiles(upserts));
  const joins: number[] = [];
  for (let n = 0; n < 20; n++) {
    // As if the viewer had just joined a group that opens many items.
    const principals = [...viewer.principals, `p${1 + n}`].sort();
    const joined = { ...request(["error"], { principals }, "all"), viewer: { principals, epoch: n + 2 } };
    joins.push(await timeAsync(() => pool.search(joined)));
  }
  report("membership change → effective p50/p95/p99 ms", percentiles(joins));
  for (const unseen of [100, 1_000, 4_000]) {
    await put(unseen - 1);
    // The pool has seen those; one more search after the same number again, written before the clock starts.
    report(`first search after ${unseen} unseen changes ms`, round(await afterUnseen(bench, pool, next, unseen)));
    next += unseen;
  }
}

async function afterUnseen(bench: Bench, pool: SearchIndex, from: number, count: number): Promise<number> {
  const { db, writer, corpus } = bench;
  const viewer = corpus.viewers[1] ?? { principals: [] };
  for (const { document } of corpus.documents(from, from + count)) {
    inTransaction(db, () => {
      intern(db, document.aclId, [0]);
      writer.apply(WORKSPACE, [{ type: "upsert", document }]);
    });
  }
  return timeAsync(() => pool.search(request(["error"], viewer, "all")));
}

/** A question that says one thing is not asked for two. */
function matchOf(mode: Mode, words: readonly string[]): Matching {
  const { match } = MODES[mode];
  return match === "any" && parseQuery(words.join(" ")).units.length === 1 ? "one" : match;
}

function request(words: readonly string[], viewer: { principals: readonly string[] }, mode: Mode): SearchRequest {
  const { order } = MODES[mode];
  const match = matchOf(mode, words);
  const start = { group: 1, value: order === "recency" ? 8.64e15 : Number.MAX_VALUE, kbId: "" } as const;
  return {
    workspaceId: WORKSPACE,
    viewer: { principals: viewer.principals, epoch: 1 },
    query: words.join(" "),
    filters: {},
    order,
    limit: 10,
    deadlineMs: 60_000,
    // Pins the mode; page 1 would decide it by the number of hits.
    after: { position: start, match },
  };
}

/** The peer on a connection like that of a search thread; query stop words are dropped for it too. */
function openFts(file: string) {
  const db = new DatabaseSync(file, { readOnly: true });
  db.exec("PRAGMA cache_size=-65536");
  db.exec("PRAGMA mmap_size=8589934592");
  return {
    search(words: readonly string[], principals: readonly string[], mode: Mode): unknown {
      const telling = words.filter((word) => !STOP_WORDS.has(word));
      const isAny = MODES[mode].match !== "all";
      const match = (telling.length > 0 ? telling : words).map((word) => `"${word}"`).join(isAny ? " OR " : " AND ");
      const marks = principals.map(() => "?").join(",");
      // The plus keeps SQLite from probing once per principal: an item has five at most.
      const visible = `EXISTS (SELECT 1 FROM docs_access a WHERE a.id = fts.rowid AND +a.principal IN (${marks}))`;
      const order = MODES[mode].order === "recency" ? "(SELECT updatedAt FROM docs WHERE id = fts.rowid) DESC" : "rank";
      const hits = db
        .prepare(`SELECT rowid FROM fts WHERE fts MATCH ? AND ${visible} ORDER BY ${order} LIMIT 10`)
        .all(match, ...principals);
      const total = db.prepare(`SELECT count(*) FROM fts WHERE fts MATCH ? AND ${visible}`).get(match, ...principals);
      return { hits, total };
    },
    close: () => db.close(),
  };
}

/** Slow engines get fewer questions: 20 seconds a mode. */
async function measure(
  mode: Mode,
  corpus: Corpus,
  search: (words: string[], principals: string[]) => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  const start = performance.now();
  for (const { words, viewer } of questionsOf(mode, corpus)) {
    times.push(await timeAsync(() => search(words, principalsOf(corpus, viewer))));
    if (performance.now() - start > 20_000) break;
  }
  return percentiles(times);
}

function percentiles(times: number[]): number[] {
  const sorted = [...times].sort((a, b) => a - b);
  return [0.5, 0.95, 0.99].map((p) => round(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0));
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

async function timeAsync(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      items: { type: "string" },
      threads: { type: "string" },
      "no-fts": { type: "boolean" },
      "no-tantivy": { type: "boolean" },
      keep: { type: "string" },
    },
  });
  await benchSearch({
    items: Number(values.items ?? 100_000),
    textFolder: process.env.KB_BENCH_TEXT ?? "node_modules",
    threads: Number(values.threads ?? 2),
    hasFts: values["no-fts"] !== true,
    hasTantivy: values["no-tantivy"] !== true,
    ...(values.keep !== undefined && { keep: values.keep }),
    report: (name, value) => console.log(`${name}: ${JSON.stringify(value)}`),
  });
}
