/* oxlint-disable no-console -- a program that prints its report */
import { DatabaseSync } from "@photostructure/sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { makeSearchPool } from "#server/adapters/index-embedded/pool.ts";
import { INDEX_DDL } from "#server/adapters/index-embedded/schema.ts";
import type { Database } from "#server/adapters/index-embedded/sqlite.ts";
import { type IndexWriter, makeIndexWriter } from "#server/adapters/index-embedded/writer.ts";
import { findSpawnEntry } from "#server/adapters/spawn.ts";
import type { SearchIndex, SearchRequest } from "#server/ports/search-index.ts";
import { type Corpus, makeCorpus } from "./search-corpus.ts";

export interface SearchBenchOptions {
  items: number;
  /** Folder of Markdown, RST or text files. */
  textFolder: string;
  /** Search threads; 0 = in this thread. */
  threads: number;
  /** Compare with SQLite FTS5 in the same run. */
  hasFts: boolean;
  report(name: string, value: unknown): void;
}

const WORKSPACE = "wsp_bench";
const DEAD_SHARE = 0.05;
const DELTA_ITEMS = 4_000;
const BATCH = 50_000;

type Mode = "all" | "any" | "recency" | "long";
const MODES: readonly Mode[] = ["all", "any", "recency", "long"];

/** Builds an index, measures writing and searching, and prints percentiles and ratios to FTS5. */
export async function benchSearch(options: SearchBenchOptions): Promise<void> {
  const { items, report } = options;
  const folder = mkdtempSync(path.join(tmpdir(), "kb-bench-"));
  const file = path.join(folder, "kb.db");
  const db = openWriter(file);
  try {
    const corpus = makeCorpus(options.textFolder);
    report("corpus", { items, hash: corpus.hash, distinctWords: corpus.distinctWords });
    const writer = makeIndexWriter(db);
    const textBytes = fill(db, writer, corpus, options);
    reportSizes(db, textBytes, report);
    await searchAll(file, db, writer, corpus, options);
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function openWriter(file: string): Database {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA page_size=8192");
  db.exec("PRAGMA journal_mode=WAL");
  db.exec("PRAGMA synchronous=NORMAL");
  db.exec("PRAGMA cache_size=-65536");
  for (const ddl of [
    "CREATE TABLE access_lists (workspaceId TEXT, listId INTEGER, principals TEXT, PRIMARY KEY (workspaceId, listId))",
    `CREATE TABLE access_list_principals (workspaceId TEXT, principal TEXT, listId INTEGER,
      PRIMARY KEY (workspaceId, principal, listId)) WITHOUT ROWID`,
    "CREATE TABLE accesses (workspaceId TEXT, aclId INTEGER, listIds TEXT, PRIMARY KEY (workspaceId, aclId))",
    ...INDEX_DDL,
  ]) {
    db.exec(ddl);
  }
  return db;
}

/** Bulk, then 5 % replaced (dead copies), then a delta. Gives the bytes of title and body. */
function fill(
  db: Database,
  writer: IndexWriter,
  corpus: Corpus,
  { items, hasFts, report }: SearchBenchOptions,
): number {
  let textBytes = 0;
  let bulkMs = 0;
  const fts = hasFts ? openFts(db, corpus) : undefined;
  for (let from = 0; from < items; from += BATCH) {
    const batch = [...corpus.documents(from, Math.min(items, from + BATCH))];
    db.exec("BEGIN");
    for (const [k, { title, body }] of batch.entries()) {
      textBytes += Buffer.byteLength(title) + Buffer.byteLength(body);
      intern(db, from + k + 1, corpus.principalsOf(from + k));
      fts?.(from + k, title, body);
    }
    db.exec("COMMIT");
    bulkMs += time(() =>
      inTransaction(db, () =>
        writer.bulk(
          WORKSPACE,
          batch.map(({ document }) => document),
        ),
      ),
    );
  }
  report("bulk items/s", Math.round((items / bulkMs) * 1000));
  const again = [...corpus.documents(0, Math.ceil(items * DEAD_SHARE))].map(({ document }) => document);
  inTransaction(db, () => writer.bulk(WORKSPACE, again));
  const changed = [...corpus.documents(items - DELTA_ITEMS, items)].map(({ document }) => document);
  let deltaMs = 0;
  for (let i = 0; i < changed.length; i += 100) {
    const changes = changed.slice(i, i + 100).map((document) => ({ type: "upsert" as const, document }));
    deltaMs += time(() => inTransaction(db, () => writer.apply(WORKSPACE, changes)));
  }
  report("delta items/s", Math.round((changed.length / deltaMs) * 1000));
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return textBytes;
}

function intern(db: Database, aclId: number, principals: readonly number[]): void {
  const names = principals.map((n) => `p${n}`);
  db.prepare("INSERT INTO access_lists VALUES (?, ?, ?)").run(WORKSPACE, aclId, JSON.stringify(names));
  const put = db.prepare("INSERT INTO access_list_principals VALUES (?, ?, ?)");
  for (const name of names) put.run(WORKSPACE, name, aclId);
  db.prepare("INSERT INTO accesses VALUES (?, ?, ?)").run(WORKSPACE, aclId, String(aclId));
}

function openFts(db: Database, corpus: Corpus): (i: number, title: string, body: string) => void {
  db.exec("CREATE TABLE docs (id INTEGER PRIMARY KEY, title TEXT, body TEXT, updatedAt INTEGER)");
  db.exec("CREATE TABLE docs_access (id INTEGER, principal TEXT, PRIMARY KEY (id, principal)) WITHOUT ROWID");
  db.exec(
    "CREATE VIRTUAL TABLE fts USING fts5(title, body, content='docs', content_rowid='id', tokenize='porter unicode61')",
  );
  const doc = db.prepare("INSERT INTO docs VALUES (?, ?, ?, ?)");
  const fts = db.prepare("INSERT INTO fts (rowid, title, body) VALUES (?, ?, ?)");
  const access = db.prepare("INSERT INTO docs_access VALUES (?, ?)");
  return (i, title, body) => {
    for (const principal of corpus.principalsOf(i)) access.run(i + 1, `p${principal}`);
    doc.run(i + 1, title, body, i);
    fts.run(i + 1, title, body);
  };
}

function reportSizes(db: Database, textBytes: number, report: SearchBenchOptions["report"]): void {
  const row = db
    .prepare("SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE 'index\\_%' ESCAPE '\\' AND aggregate = TRUE")
    .get();
  report("index MB", Math.round(Number(row.bytes) / 1e5) / 10);
  report("index bytes / text bytes", Math.round((Number(row.bytes) / textBytes) * 1000) / 1000);
}

async function searchAll(
  file: string,
  db: Database,
  writer: IndexWriter,
  corpus: Corpus,
  { threads, hasFts, items, report }: SearchBenchOptions,
): Promise<void> {
  const pool = makeSearchPool({
    file,
    size: threads,
    fold: async () => undefined,
    ...(threads > 0 && { workerUrl: findSpawnEntry("searcher") }),
  });
  try {
    const viewer = corpus.viewers[0] ?? { principals: [] };
    const cold = await timeAsync(() => pool.search(request(["zzz"], viewer, "all")));
    report("cold open + first search ms", round(cold));
    for (const each of corpus.viewers) await pool.search(request(["zzz"], each, "all"));
    for (const mode of MODES) {
      const ours = await measure(mode, corpus, (words, principals) =>
        pool.search(request(words, { principals }, mode)),
      );
      report(`${mode} p50/p95/p99 ms`, ours);
      if (!hasFts) continue;
      const theirs = await measure(mode, corpus, async (words, principals) => ftsSearch(db, words, principals, mode));
      report(`${mode} FTS5 p50/p95/p99 ms`, theirs);
      report(`${mode} FTS5 ÷ ours at p95`, round((theirs[1] ?? 0) / (ours[1] ?? 1)));
    }
    await reportChanges(db, writer, pool, corpus, items, report);
    report("rss MB", Math.round(process.memoryUsage().rss / 2 ** 20));
  } finally {
    await pool.close();
  }
}

async function reportChanges(
  db: Database,
  writer: IndexWriter,
  pool: SearchIndex,
  corpus: Corpus,
  items: number,
  report: SearchBenchOptions["report"],
): Promise<void> {
  const viewer = corpus.viewers[1] ?? { principals: [] };
  const upserts: number[] = [];
  for (const { document } of corpus.documents(items, items + 50)) {
    intern(db, document.aclId, [0]);
    upserts.push(
      await timeAsync(async () => {
        inTransaction(db, () => writer.apply(WORKSPACE, [{ type: "upsert", document }]));
        await pool.search(request([`ops-${99_999 + document.aclId}`], viewer, "all"));
      }),
    );
  }
  report("upsert → searchable p50/p95/p99 ms", percentiles(upserts));
  const joins: number[] = [];
  for (let n = 0; n < 20; n++) {
    // As if the viewer had just joined a group that opens many items.
    const principals = [...viewer.principals, `p${1 + n}`].sort();
    joins.push(
      await timeAsync(() =>
        pool.search({ ...request(["error"], { principals }, "all"), viewer: { principals, epoch: n + 2 } }),
      ),
    );
  }
  report("membership change → effective p50/p95/p99 ms", percentiles(joins));
}

function request(words: readonly string[], viewer: { principals: readonly string[] }, mode: Mode): SearchRequest {
  const start = { group: 1, value: mode === "recency" ? 8.64e15 : Number.MAX_VALUE, kbId: "" } as const;
  return {
    workspaceId: WORKSPACE,
    viewer: { principals: viewer.principals, epoch: 1 },
    query: words.join(" "),
    filters: {},
    order: mode === "recency" ? "recency" : "relevance",
    limit: 10,
    deadlineMs: 60_000,
    // Pins the mode; page 1 would decide it by the number of hits.
    after: { position: start, match: mode === "any" || mode === "long" ? "any" : "all" },
  };
}

function ftsSearch(db: Database, words: readonly string[], principals: readonly string[], mode: Mode): unknown {
  const isAny = mode === "any" || mode === "long";
  const match = words.map((word) => `"${word}"`).join(isAny ? " OR " : " AND ");
  const marks = principals.map(() => "?").join(",");
  // The plus keeps SQLite from probing once per principal: an item has five at most.
  const visible = `EXISTS (SELECT 1 FROM docs_access a WHERE a.id = fts.rowid AND +a.principal IN (${marks}))`;
  const order = mode === "recency" ? "(SELECT updatedAt FROM docs WHERE id = fts.rowid) DESC" : "rank";
  const hits = db
    .prepare(`SELECT rowid FROM fts WHERE fts MATCH ? AND ${visible} ORDER BY ${order} LIMIT 10`)
    .all(match, ...principals);
  const total = db.prepare(`SELECT count(*) FROM fts WHERE fts MATCH ? AND ${visible}`).get(match, ...principals);
  return { hits, total };
}

/** Slow engines get fewer questions: 20 seconds a mode. */
async function measure(
  mode: Mode,
  corpus: Corpus,
  search: (words: string[], principals: string[]) => Promise<unknown>,
): Promise<number[]> {
  const questions =
    mode === "long" ? corpus.longQuestions : corpus.questions.filter(({ words }) => mode !== "any" || words.length > 2);
  const times: number[] = [];
  const start = performance.now();
  for (const { words, viewer } of questions) {
    const principals = corpus.viewers[viewer]?.principals ?? [];
    times.push(await timeAsync(() => search(words, principals)));
    if (performance.now() - start > 20_000) break;
  }
  return percentiles(times);
}

function percentiles(times: number[]): number[] {
  const sorted = [...times].sort((a, b) => a - b);
  return [0.5, 0.95, 0.99].map((p) => round(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function time(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

async function timeAsync(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function inTransaction(db: Database, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  work();
  db.exec("COMMIT");
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { items: { type: "string" }, threads: { type: "string" }, "no-fts": { type: "boolean" } },
  });
  await benchSearch({
    items: Number(values.items ?? 100_000),
    textFolder: process.env.KB_BENCH_TEXT ?? "node_modules",
    threads: Number(values.threads ?? 2),
    hasFts: values["no-fts"] !== true,
    report: (name, value) => console.log(`${name}: ${JSON.stringify(value)}`),
  });
}
