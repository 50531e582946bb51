import { DatabaseSync } from "@photostructure/sqlite";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { INDEX_DDL } from "../storage/index/ddl.ts";
import type { Database } from "#storage/index/sqlite.ts";
import { type IndexWriter, makeIndexWriter } from "#storage/index/write/writer.ts";
import type { Corpus } from "./search-corpus.ts";

export const WORKSPACE = "wsp_bench";
const DEAD_SHARE = 0.05;
const DELTA_ITEMS = 4_000;
const BATCH = 50_000;

export type Report = (name: string, value: unknown) => void;

export interface BenchData {
  /** Where the databases are filled: that of `keep`, or one that goes with the run. */
  folder: string;
  /** The database file of the index, and that of FTS5 when it is wanted. */
  file: string;
  ftsFile: string | undefined;
  db: Database;
  writer: IndexWriter;
  close(): void;
}

/**
 * Opens the database of a run, filled: bulk, then 5 % replaced (dead copies), then a delta of 4,000 changes. With `keep`,
 * what that folder holds already is taken (writing is not measured again), and the run works on a copy.
 */
export function openBenchData(
  corpus: Corpus,
  options: { items: number; hasFts: boolean; keep?: string; report: Report },
): BenchData {
  const scratch = mkdtempSync(path.join(tmpdir(), "kb-bench-"));
  const folder = options.keep ?? scratch;
  const filled = path.join(folder, `kb-${options.items}-${corpus.hash}.db`);
  const ftsFile = options.hasFts ? path.join(folder, `fts-${options.items}-${corpus.hash}.db`) : undefined;
  if (!existsSync(filled)) fillIndex(filled, corpus, options);
  if (ftsFile !== undefined && !existsSync(ftsFile)) fillFts(ftsFile, corpus, options);
  const file = path.join(scratch, "kb.db");
  if (file !== filled) copyFileSync(filled, file);
  const db = openWriter(file);
  const close = () => {
    db.close();
    rmSync(scratch, { recursive: true, force: true });
  };
  return { folder, file, ftsFile, db, writer: makeIndexWriter(db), close };
}

/** Enters an access of one list of principals under a number. */
export function intern(db: Database, aclId: number, principals: readonly number[]): void {
  const names = principals.map((n) => `p${n}`);
  db.prepare("INSERT INTO access_lists VALUES (?, ?, ?)").run(WORKSPACE, aclId, JSON.stringify(names));
  const number = db.prepare("INSERT INTO access_principals VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  const put = db.prepare("INSERT INTO access_list_principals VALUES (?, ?)");
  for (const n of principals) {
    number.run(WORKSPACE, `p${n}`, n);
    put.run(n, aclId);
  }
  db.prepare("INSERT INTO accesses VALUES (?, ?, ?)").run(WORKSPACE, aclId, String(aclId));
}

export function inTransaction(db: Database, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  work();
  db.exec("COMMIT");
}

export function timeOf(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function openWriter(file: string): Database {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA page_size=8192");
  db.exec("PRAGMA journal_mode=WAL");
  db.exec("PRAGMA synchronous=NORMAL");
  db.exec("PRAGMA cache_size=-65536");
  for (const ddl of [
    `CREATE TABLE IF NOT EXISTS access_lists
      (workspaceId TEXT, listId INTEGER, principals TEXT, PRIMARY KEY (workspaceId, listId))`,
    `CREATE TABLE IF NOT EXISTS access_principals (workspaceId TEXT, principal TEXT, principalNo INTEGER,
      PRIMARY KEY (workspaceId, principal)) WITHOUT ROWID`,
    `CREATE TABLE IF NOT EXISTS access_list_principals (principalNo INTEGER, listId INTEGER,
      PRIMARY KEY (principalNo, listId)) WITHOUT ROWID`,
    `CREATE TABLE IF NOT EXISTS accesses
      (workspaceId TEXT, aclId INTEGER, listIds TEXT, PRIMARY KEY (workspaceId, aclId))`,
    ...INDEX_DDL,
  ]) {
    db.exec(ddl);
  }
  return db;
}

function fillIndex(file: string, corpus: Corpus, { items, report }: { items: number; report: Report }): void {
  const db = openWriter(file);
  const writer = makeIndexWriter(db);
  let textBytes = 0;
  let bulkMs = 0;
  for (let from = 0; from < items; from += BATCH) {
    const batch = [...corpus.documents(from, Math.min(items, from + BATCH))];
    inTransaction(db, () => {
      for (const [k, { title, body }] of batch.entries()) {
        textBytes += Buffer.byteLength(title) + Buffer.byteLength(body);
        intern(db, from + k + 1, corpus.principalsOf(from + k));
      }
    });
    const documents = batch.map(({ document }) => document);
    bulkMs += timeOf(() => inTransaction(db, () => writer.bulk(WORKSPACE, documents)));
  }
  report("bulk items/s", Math.round((items / bulkMs) * 1000));
  const again = [...corpus.documents(0, Math.ceil(items * DEAD_SHARE))].map(({ document }) => document);
  inTransaction(db, () => writer.bulk(WORKSPACE, again));
  // What an idle server would have done by now.
  while (writer.nextCompactionSlice(WORKSPACE));
  const changed = [...corpus.documents(items - DELTA_ITEMS, items)].map(({ document }) => document);
  let deltaMs = 0;
  for (let i = 0; i < changed.length; i += 100) {
    const changes = changed.slice(i, i + 100).map((document) => ({ type: "upsert" as const, document }));
    deltaMs += timeOf(() => inTransaction(db, () => writer.apply(WORKSPACE, changes)));
  }
  report("delta items/s", Math.round((changed.length / deltaMs) * 1000));
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  reportSizes(db, textBytes, report);
  db.close();
}

function reportSizes(db: Database, textBytes: number, report: Report): void {
  const row = db
    .prepare("SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE 'index\\_%' ESCAPE '\\' AND aggregate = TRUE")
    .get();
  report("index MB", Math.round(Number(row.bytes) / 1e5) / 10);
  report("index bytes / text bytes", Math.round((Number(row.bytes) / textBytes) * 1000) / 1000);
}

/** FTS5 with external content, porter stems, and accesses in a table that is asked by EXISTS. */
function fillFts(file: string, corpus: Corpus, { items, report }: { items: number; report: Report }): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA page_size=8192");
  db.exec("PRAGMA journal_mode=WAL");
  db.exec("PRAGMA synchronous=OFF");
  db.exec("CREATE TABLE docs (id INTEGER PRIMARY KEY, title TEXT, body TEXT, updatedAt INTEGER)");
  db.exec("CREATE TABLE docs_access (id INTEGER, principal TEXT, PRIMARY KEY (id, principal)) WITHOUT ROWID");
  db.exec(
    "CREATE VIRTUAL TABLE fts USING fts5(title, body, content='docs', content_rowid='id', tokenize='porter unicode61')",
  );
  const doc = db.prepare("INSERT INTO docs VALUES (?, ?, ?, ?)");
  const fts = db.prepare("INSERT INTO fts (rowid, title, body) VALUES (?, ?, ?)");
  const access = db.prepare("INSERT INTO docs_access VALUES (?, ?)");
  let ms = 0;
  for (let from = 0; from < items; from += BATCH) {
    const batch = [...corpus.documents(from, Math.min(items, from + BATCH))];
    ms += timeOf(() =>
      inTransaction(db, () => {
        for (const [k, { title, body, document }] of batch.entries()) {
          const id = from + k + 1;
          for (const principal of corpus.principalsOf(from + k)) access.run(id, `p${principal}`);
          doc.run(id, title, body, document.updatedAt);
          fts.run(id, title, body);
        }
      }),
    );
  }
  report("FTS5 bulk items/s", Math.round((items / ms) * 1000));
  ms = timeOf(() => db.exec("INSERT INTO fts(fts) VALUES ('optimize')"));
  report("FTS5 optimize s", Math.round(ms / 100) / 10);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
