import { DatabaseSync } from "@photostructure/sqlite";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { analyzeDocument } from "#text/analyzer.ts";
import type { CompactionLimits } from "#storage/index/write/compaction.ts";
import { type IndexReader, type IndexReaderOptions, makeIndexReader } from "#storage/index/read/reader.ts";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { listDigest } from "#storage/access/list-digest.ts";
import type { Database } from "#storage/index/sqlite.ts";
import { type IndexWriter, makeIndexWriter } from "#storage/index/write/writer.ts";
import type { IndexChange, IndexedDocument, SearchRequest } from "#storage/search-index.ts";
import { INDEX_DDL } from "./ddl.ts";

/** The store's tables that the index reads. */
export const ACCESS_DDL = [
  `CREATE TABLE access_lists (
    workspaceId TEXT, listId INTEGER, principals TEXT, digest INTEGER, PRIMARY KEY (workspaceId, listId))`,
  `CREATE TABLE access_principals (
    workspaceId TEXT, principal TEXT, principalNo INTEGER, PRIMARY KEY (workspaceId, principal)) WITHOUT ROWID`,
  `CREATE TABLE access_list_principals (
    principalNo INTEGER, listId INTEGER, PRIMARY KEY (principalNo, listId)) WITHOUT ROWID`,
  `CREATE TABLE accesses (workspaceId TEXT, aclId INTEGER, listIds TEXT, PRIMARY KEY (workspaceId, aclId))`,
];

/** Enters that a list names a principal, under the principal's number. */
function nameInList(
  db: Database,
  { workspaceId, principal, listId }: { workspaceId: string; principal: string; listId: number },
): void {
  db.prepare(
    `INSERT INTO access_principals SELECT ?, ?, count(*) + 1 FROM access_principals WHERE true
     ON CONFLICT DO NOTHING`,
  ).run(workspaceId, principal);
  db.prepare(
    `INSERT INTO access_list_principals
     SELECT principalNo, ? FROM access_principals WHERE workspaceId = ? AND principal = ?`,
  ).run(listId, workspaceId, principal);
}

/** Small numbers: a few dozen documents pass through every level. */
export const TINY_LIMITS: CompactionLimits = {
  deltaRows: 5,
  maxDeltaRows: 9,
  smallDocs: 12,
  fanIn: 3,
  mediumDocs: 30,
  maxDocs: 40,
  deadShare: 0.2,
  accessRows: 6,
  accessChunk: 4,
};

export interface ItemSpec {
  kbId: string;
  title?: string;
  text?: string;
  labels?: string[];
  aclId?: number;
  more?: Partial<IndexedDocument>;
}

/** An item as the sync would hand it to the index. */
export function makeDocument(spec: ItemSpec): IndexedDocument {
  const { title = "", text = "", labels = [] } = spec;
  return {
    kbId: spec.kbId,
    kind: "file",
    status: null,
    providerId: "filesystem",
    source: "filesystem:docs",
    connectorId: "con_1",
    aclId: spec.aclId ?? 1,
    text: analyzeDocument({ title, path: [], labels, text }),
    updatedAt: 1_700_000_000_000,
    createdAt: null,
    dueAt: null,
    people: [],
    assignees: [],
    containers: [],
    fields: [],
    ...spec.more,
  };
}

/** A search with everything left at its plainest. */
export function makeRequest(change: Partial<SearchRequest> & { principals?: readonly string[] }): SearchRequest {
  const { principals = ["everyone"], ...rest } = change;
  return {
    workspaceId: "w1",
    viewer: { principals, epoch: 1 },
    query: "",
    filters: {},
    order: "relevance",
    limit: 10,
    ...rest,
  };
}

/** A file with the index in it, a writer and readers, and the records that phrases are verified on. */
export class TestIndex {
  readonly texts = new Map<string, readonly string[]>();
  readonly file: string;
  db: Database;
  writer: IndexWriter;
  #readers: Database[] = [];
  readonly #limits: CompactionLimits;
  readonly #folder: string;

  /** `migrated` is a database that has the store's tables already. */
  constructor(limits: CompactionLimits = TINY_LIMITS, migrated?: Uint8Array) {
    this.#limits = limits;
    this.#folder = mkdtempSync(path.join(tmpdir(), "kb-index-"));
    this.file = path.join(this.#folder, "kb.db");
    if (migrated) writeFileSync(this.file, migrated);
    this.db = new DatabaseSync(this.file);
    this.db.exec("PRAGMA journal_mode=WAL");
    this.db.exec("PRAGMA synchronous=OFF");
    if (!migrated) for (const ddl of [...ACCESS_DDL, ...INDEX_DDL]) this.db.exec(ddl);
    this.writer = makeIndexWriter(this.db, { limits, sliceMs: 0.2 });
  }

  /** Lists are dense from three entries on, so that a small world has some of both. */
  openReader(options: Partial<Omit<IndexReaderOptions, "readText">> = {}): IndexReader {
    const db = new DatabaseSync(this.file, { readOnly: true });
    this.#readers.push(db);
    return makeIndexReader(db, {
      readText: (workspaceId, kbId) => this.texts.get(`${workspaceId} ${kbId}`),
      postings: new PostingCache({ dense: 3 }),
      ...options,
    });
  }

  /** Interns an access of these OR lists under a number of the test's choice. */
  access(workspaceId: string, aclId: number, lists: readonly (readonly string[])[]): void {
    const listIds = lists.map((principals) => this.#list(workspaceId, principals)).sort((a, b) => a - b);
    this.db
      .prepare("INSERT OR IGNORE INTO accesses VALUES (?, ?, ?)")
      .run(workspaceId, aclId, [...new Set(listIds)].join(","));
  }

  transaction<T>(work: () => T): T {
    this.db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.db.exec("COMMIT");
      return result;
    } catch (error) {
      this.db.exec("ROLLBACK");
      throw error;
    }
  }

  apply(workspaceId: string, changes: readonly IndexChange[]): void {
    this.transaction(() => this.writer.apply(workspaceId, changes));
  }

  put(workspaceId: string, ...specs: ItemSpec[]): void {
    for (const spec of specs) this.texts.set(`${workspaceId} ${spec.kbId}`, [spec.title ?? "", spec.text ?? ""]);
    this.apply(
      workspaceId,
      specs.map((spec) => ({ type: "upsert", document: makeDocument(spec) })),
    );
  }

  compactAll(workspaceId?: string): void {
    while (this.writer.nextCompactionSlice(workspaceId));
  }

  /** As after a restart: everything in memory is gone, what was half written is swept. */
  reopenWriter(): void {
    this.db.close();
    this.db = new DatabaseSync(this.file);
    this.writer = makeIndexWriter(this.db, { limits: this.#limits, sliceMs: 0.2 });
    this.transaction(() => this.writer.sweep());
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
    this.db.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #list(workspaceId: string, principals: readonly string[]): number {
    const key = JSON.stringify([...principals].sort());
    const known = this.db
      .prepare("SELECT listId FROM access_lists WHERE workspaceId = ? AND principals = ?")
      .get(workspaceId, key);
    if (known !== undefined) return Number(known.listId);
    const next = this.db
      .prepare("SELECT ifnull(max(listId), 0) + 1 AS listId FROM access_lists WHERE workspaceId = ?")
      .get(workspaceId);
    const listId = Number(next.listId);
    const digest = listDigest(workspaceId, key);
    this.db.prepare("INSERT INTO access_lists VALUES (?, ?, ?, ?)").run(workspaceId, listId, key, digest);
    for (const principal of new Set(principals)) nameInList(this.db, { workspaceId, principal, listId });
    return listId;
  }
}
