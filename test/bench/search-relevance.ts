import { DatabaseSync } from "@photostructure/sqlite";
import { readFileSync } from "node:fs";
import path from "node:path";
import { analyzeDocument } from "#text/analyzer.ts";
import { STOP_WORDS } from "#text/stop-words.ts";
import { makeIndexReader } from "#storage/index/read/reader.ts";
import { INDEX_DDL } from "#storage/index/schema.ts";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { inTransaction, type Report } from "./search-data.ts";

interface Cranfield {
  documents: { id: string; title: string; text: string }[];
  questions: { id: number; text: string; relevant: ReadonlySet<string> }[];
}

const WORKSPACE = "wsp_cranfield";
const DEPTH = 10;

/**
 * nDCG@10 on Cranfield (1,400 abstracts, 225 questions, judgements taken as relevant or not), ours as a person gets it
 * on page 1 against FTS5 with porter stems and bm25 over any of the words that are no stop words. Factors may be tuned
 * on odd questions and are reported on even ones; the folder holds `cran.all.1400`, `cran.qry` and `cranqrel`.
 */
export function benchRelevance(folder: string, report: Report): void {
  const data = readCranfield(folder);
  const engines = { ours: makeOurs(data), "FTS5 porter": makeFts(data), "FTS5 porter, title 4": makeFts(data, 4) };
  for (const [name, search] of Object.entries(engines)) {
    const scores = data.questions.map(({ id, text, relevant }) => ({ id, value: ndcg(search(text), relevant) }));
    const mean = (isWanted: (id: number) => boolean) => {
      const values = scores.filter(({ id }) => isWanted(id)).map(({ value }) => value);
      return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10_000) / 10_000;
    };
    const folds = [0, 1, 2, 3, 4].map((fold) => mean((id) => id % 5 === fold));
    report(`nDCG@10 ${name}`, {
      all: mean(() => true),
      odd: mean((id) => id % 2 === 1),
      even: mean((id) => id % 2 === 0),
      folds,
    });
  }
}

function readCranfield(folder: string): Cranfield {
  const read = (name: string) => readFileSync(path.join(folder, name), "utf8").replaceAll("\r", "");
  const records = (text: string) => text.split(/^\.I /m).slice(1);
  const field = (record: string, name: string) =>
    (new RegExp(`^\\.${name}\\n([\\s\\S]*?)(?=^\\.[A-Z]\\n|(?![\\s\\S]))`, "m").exec(record)?.[1] ?? "").trim();
  const judgements = read("cranqrel")
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return {
    documents: records(read("cran.all.1400")).map((record) => ({
      id: String(Number.parseInt(record, 10)),
      title: field(record, "T"),
      text: field(record, "W"),
    })),
    // Judgements number the questions by their place, not by the number written beside them.
    questions: records(read("cran.qry")).map((record, i) => ({
      id: i + 1,
      text: field(record, "W"),
      relevant: new Set(
        judgements
          .filter(([question, , , code]) => Number(question) === i + 1 && Number(code) >= 1 && Number(code) <= 4)
          .map(([, , document]) => document ?? ""),
      ),
    })),
  };
}

/** Gains of 1 for relevant documents, as trec_eval counts with binary judgements. */
function ndcg(found: readonly string[], relevant: ReadonlySet<string>): number {
  const gainAt = (rank: number) => 1 / Math.log2(rank + 2);
  let ideal = 0;
  for (let rank = 0; rank < Math.min(DEPTH, relevant.size); rank++) ideal += gainAt(rank);
  const gain = found.slice(0, DEPTH).reduce((sum, id, rank) => sum + (relevant.has(id) ? gainAt(rank) : 0), 0);
  return ideal === 0 ? 0 : gain / ideal;
}

function makeOurs({ documents }: Cranfield): (question: string) => string[] {
  const db = new DatabaseSync(":memory:");
  for (const ddl of [
    "CREATE TABLE access_lists (workspaceId TEXT, listId INTEGER, principals TEXT)",
    "CREATE TABLE access_list_principals (workspaceId TEXT, principal TEXT, listId INTEGER)",
    "CREATE TABLE accesses (workspaceId TEXT, aclId INTEGER, listIds TEXT)",
    ...INDEX_DDL,
  ]) {
    db.exec(ddl);
  }
  db.prepare("INSERT INTO access_lists VALUES (?, 1, '[]')").run(WORKSPACE);
  db.prepare("INSERT INTO access_list_principals VALUES (?, 'everyone', 1)").run(WORKSPACE);
  db.prepare("INSERT INTO accesses VALUES (?, 1, '1')").run(WORKSPACE);
  const writer = makeIndexWriter(db);
  inTransaction(db, () => writer.bulk(WORKSPACE, documents.map(toDocument)));
  const reader = makeIndexReader(db, { readText: () => undefined });
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

function toDocument({ id, title, text }: Cranfield["documents"][number]): IndexedDocument {
  return {
    kbId: id,
    kind: "page",
    status: null,
    providerId: "bench",
    source: "bench:cranfield",
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

function makeFts({ documents }: Cranfield, titleWeight = 1): (question: string) => string[] {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE fts USING fts5(id UNINDEXED, title, text, tokenize='porter unicode61')");
  const insert = db.prepare("INSERT INTO fts VALUES (?, ?, ?)");
  for (const { id, title, text } of documents) insert.run(id, title, text);
  const search = db.prepare(
    `SELECT id FROM fts WHERE fts MATCH ? ORDER BY bm25(fts, 0, ${titleWeight}, 1) LIMIT ${DEPTH}`,
  );
  return (question) => {
    const words = question.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const telling = [...new Set(words.filter((word) => !STOP_WORDS.has(word)))];
    return search.all(telling.map((word) => `"${word}"`).join(" OR ")).map((row) => String(row.id));
  };
}
