import { DatabaseSync } from "@photostructure/sqlite";
import { chanceOf, scoresOf } from "#cli/eval/measures.ts";
import { makeIndexReader } from "#storage/index/read/reader.ts";
import { INDEX_DDL } from "../../storage/index/ddl.ts";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { STOP_WORDS } from "#text/stop-words.ts";
import { inTransaction, type Report } from "../search-data.ts";
import { type Collection, readCollections } from "./collections.ts";

const WORKSPACE = "wsp_relevance";
const DEPTH = 10;

/** Gives the best documents for a question. */
export type Engine = (question: string) => string[];

/**
 * nDCG@10 of each collection, as a person gets it on page 1, against FTS5 with porter stems and bm25 over any of the
 * words that are no stop words; `p` is the chance that luck gives as large a difference (paired randomization).
 */
export function benchRelevance(cranfield: string | undefined, report: Report): void {
  for (const collection of readCollections(cranfield)) {
    const ours = scoreAll(collection, makeOurs(collection));
    const fts = scoreAll(collection, makeFts(collection));
    report(`${collection.name}: ${collection.documents.length} documents, ${collection.questions.length} questions`, {
      ours: summary(collection, ours),
      "FTS5 porter": summary(collection, fts),
      p: chanceOf(ours.map((score, i) => score - (fts[i] ?? 0))),
    });
  }
}

/** nDCG@10 of each question, in their order. */
export function scoreAll({ questions }: Collection, search: Engine): number[] {
  return questions.map(({ text, relevant }) => {
    const grades = new Map([...relevant].map((id) => [id, 1]));
    return relevant.size === 0 ? 0 : scoresOf(search(text), grades, DEPTH).ndcg;
  });
}

/** The mean of all, odd and even questions and of five folds, to four places. */
export function summary({ questions }: Collection, scores: readonly number[]) {
  const mean = (isWanted: (id: number) => boolean) => {
    const values = scores.filter((_, i) => isWanted(questions[i]?.id ?? 0));
    return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10_000) / 10_000;
  };
  return {
    all: mean(() => true),
    odd: mean((id) => id % 2 === 1),
    even: mean((id) => id % 2 === 0),
    folds: [0, 1, 2, 3, 4].map((fold) => mean((id) => id % 5 === fold)),
  };
}

export function makeOurs({ documents }: Collection): Engine {
  const db = new DatabaseSync(":memory:");
  for (const ddl of [
    "CREATE TABLE access_lists (workspaceId TEXT, listId INTEGER, principals TEXT)",
    "CREATE TABLE access_principals (workspaceId TEXT, principal TEXT, principalNo INTEGER)",
    "CREATE TABLE access_list_principals (principalNo INTEGER, listId INTEGER)",
    "CREATE TABLE accesses (workspaceId TEXT, aclId INTEGER, listIds TEXT)",
    ...INDEX_DDL,
  ]) {
    db.exec(ddl);
  }
  db.prepare("INSERT INTO access_lists VALUES (?, 1, '[]')").run(WORKSPACE);
  db.prepare("INSERT INTO access_principals VALUES (?, 'everyone', 1)").run(WORKSPACE);
  db.exec("INSERT INTO access_list_principals VALUES (1, 1)");
  db.prepare("INSERT INTO accesses VALUES (?, 1, '1')").run(WORKSPACE);
  const writer = makeIndexWriter(db);
  inTransaction(db, () => writer.bulk(WORKSPACE, documents.map(toDocument)));
  const texts = new Map(documents.map(({ id, title, text }) => [id, [title, text]]));
  const reader = makeIndexReader(db, { readText: (_, kbId) => texts.get(kbId) });
  return (question) =>
    reader
      .search({
        workspaceId: WORKSPACE,
        viewer: { principals: ["everyone"], epoch: 1 },
        // As plain words: the question's full stops and dashes are not meant as operators.
        query: question.replace(/[-"*]/g, " "),
        filters: {},
        order: "relevance",
        limit: DEPTH,
      })
      .hits.map(({ kbId }) => kbId);
}

function toDocument({ id, title, text }: Collection["documents"][number]): IndexedDocument {
  return {
    kbId: id,
    kind: "page",
    status: null,
    providerId: "bench",
    source: "bench:relevance",
    connectorId: "con_1",
    aclId: 1,
    text: analyzeDocument({ title, path: [], labels: [], text }),
    updatedAt: null,
    createdAt: null,
    dueAt: null,
    people: [],
    assignees: [],
    containers: [],
    fields: [],
  };
}

function makeFts({ documents }: Collection): Engine {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE fts USING fts5(id UNINDEXED, title, text, tokenize='porter unicode61')");
  const insert = db.prepare("INSERT INTO fts VALUES (?, ?, ?)");
  for (const { id, title, text } of documents) insert.run(id, title, text);
  const search = db.prepare(`SELECT id FROM fts WHERE fts MATCH ? ORDER BY bm25(fts) LIMIT ${DEPTH}`);
  return (question) => {
    const words = question.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const telling = [...new Set(words.filter((word) => !STOP_WORDS.has(word)))];
    if (telling.length === 0) return [];
    return search.all(telling.map((word) => `"${word}"`).join(" OR ")).map((row) => String(row.id));
  };
}
