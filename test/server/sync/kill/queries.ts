import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import type { SearchHit, SearchIndex, SearchRequest, SearchResponse } from "#storage/search-index.ts";
import { WORKSPACE } from "../harness.ts";

/** A question to two databases that should answer alike. */
export interface Question {
  form: "word" | "two words" | "phrase" | "prefix" | "recency";
  query: string;
}

/** What a database says to a question, in words that do not depend on the kbIds it drew. */
export interface Answer extends Pick<SearchResponse, "total" | "totalAll" | "isTotalExact" | "match"> {
  hits: { externalId: string; group: number; value: number }[];
  /** No hit follows the last one. */
  isWhole: boolean;
}

/** Hits that are read of one answer, over as many pages as it takes. */
const MAX_HITS = 1_000;
const PAGE = 200;
const MAX_PHRASE_ITEMS = 20;
/** Sums of the same numbers in another order differ by less. */
const SAME = 1e-9;

/**
 * Draws questions from the texts that the database holds: a quarter each single words and pairs from one text, a fifth
 * phrases, three twentieths each prefixes and words by recency. The same seed and texts give the same questions.
 */
export async function drawQuestions(file: string, count: number, random: () => number): Promise<Question[]> {
  const reader = openReader(file);
  try {
    const ids = rowsOf(reader.db, "SELECT kbId AS id FROM items WHERE textHash IS NOT NULL ORDER BY externalId");
    const text = reader.db.prepare(
      "SELECT text AS id FROM item_texts WHERE workspaceId = ? AND kbId = ? ORDER BY chunk LIMIT 1",
    );
    const found = new Map<string, Question>();
    for (let tries = 0; found.size < count; tries++) {
      if (tries > count * 100) throw new Error(`The texts give only ${found.size} questions.`);
      const row: unknown = text.get(WORKSPACE, pick(ids, random) ?? "");
      const question = row === undefined ? undefined : draw(found.size / count, readId(row), random);
      if (question && (await isAffordable(reader, question))) found.set(`${question.form} ${question.query}`, question);
    }
    return [...found.values()];
  } finally {
    await reader.close();
  }
}

/** What the database answers, by somebody who may read everything in it. */
export async function answersOf(file: string, questions: readonly Question[]): Promise<Answer[]> {
  const reader = openReader(file);
  try {
    const external = reader.db.prepare("SELECT externalId AS id FROM items WHERE workspaceId = ? AND kbId = ?");
    const nameOf = (kbId: string) => readId(external.get(WORKSPACE, kbId));
    const answers: Answer[] = [];
    for (const question of questions) answers.push(await ask(reader, question, nameOf));
    return answers;
  } finally {
    await reader.close();
  }
}

/**
 * The first thing that differs, in words; undefined when the answers are the same: totals, and ids in the same order with
 * scores within 1e-9. Hits of one value stand in the order of their kbIds, which each database draws for itself, so they are
 * compared as a set; of the set that is cut off after 1,000 hits only the values are.
 */
export function firstDifference(wanted: readonly Answer[], got: readonly Answer[]): string | undefined {
  if (wanted.length !== got.length) return `${got.length} answers instead of ${wanted.length}`;
  for (const [at, want] of wanted.entries()) {
    const difference = differenceOf(want, got[at]);
    if (difference !== undefined) return `question ${at + 1}: ${difference}`;
  }
  return undefined;
}

function differenceOf(want: Answer, got: Answer | undefined): string | undefined {
  if (got === undefined) return "no answer";
  for (const key of ["total", "totalAll", "isTotalExact", "match", "isWhole"] as const) {
    if (want[key] !== got[key]) return `${key} is ${got[key]} instead of ${want[key]}`;
  }
  if (want.hits.length !== got.hits.length) return `${got.hits.length} hits instead of ${want.hits.length}`;
  for (let start = 0, end = 0; start < want.hits.length; start = end) {
    end = endOfTie(want.hits, start);
    for (let at = start; at < end; at++) {
      const [a, b] = [want.hits[at], got.hits[at]];
      if (a?.group !== b?.group || !isSame(a?.value ?? NaN, b?.value ?? NaN)) {
        return `hit ${at + 1} is worth ${b?.value} instead of ${a?.value}`;
      }
    }
    if (end === want.hits.length && !want.isWhole) break;
    const names = (answer: Answer) => namesOf(answer.hits.slice(start, end));
    if (names(want) !== names(got)) return `hits ${start + 1} to ${end} are ${names(got)} instead of ${names(want)}`;
  }
  return undefined;
}

function endOfTie(hits: Answer["hits"], start: number): number {
  let end = start + 1;
  for (; end < hits.length; end++) {
    const [a, b] = [hits[end - 1], hits[end]];
    if (a?.group !== b?.group || !isSame(a?.value ?? NaN, b?.value ?? NaN)) break;
  }
  return end;
}

function isSame(a: number, b: number): boolean {
  return a === b || Math.abs(a - b) <= SAME;
}

function namesOf(hits: Answer["hits"]): string {
  return hits
    .map(({ externalId }) => externalId)
    .toSorted()
    .join(", ");
}

interface Reader {
  db: DatabaseSyncInstance;
  index: SearchIndex;
  /** Every one there is. */
  principals: string[];
  close(): Promise<void>;
}

function openReader(file: string): Reader {
  const db = new DatabaseSync(file, { readOnly: true });
  const index = makeSearchPool({ file, size: 0 });
  return {
    db,
    index,
    principals: rowsOf(db, "SELECT DISTINCT principal AS id FROM access_principals ORDER BY principal"),
    async close() {
      await index.close();
      db.close();
    },
  };
}

/** Phrases are looked for in the stored text of every item that has their words: those with few such items will do. */
async function isAffordable({ index, principals }: Reader, { form, query }: Question): Promise<boolean> {
  if (form !== "phrase") return true;
  const request = toRequest(principals, { form: "word", query: query.replace(/[^\p{L}\p{N}]+/gu, " ").trim() });
  return (await index.search({ ...request, limit: 1 })).totalAll <= MAX_PHRASE_ITEMS;
}

function toRequest(principals: readonly string[], { form, query }: Question): SearchRequest {
  return {
    workspaceId: WORKSPACE,
    viewer: { principals, epoch: 0 },
    query,
    filters: {},
    order: form === "recency" ? "recency" : "relevance",
    limit: PAGE,
    // Never reached: a slow machine is no difference.
    deadlineMs: 600_000,
  };
}

async function ask(
  { index, principals }: Reader,
  question: Question,
  nameOf: (kbId: string) => string,
): Promise<Answer> {
  const { query } = question;
  const request = toRequest(principals, question);
  const first = await index.search(request);
  const hits: SearchHit[] = [...first.hits];
  let page = first;
  while (page.hasMore && hits.length < MAX_HITS) {
    const last = hits.at(-1);
    if (last === undefined) throw new Error(`"${query}" has more, but no hit.`);
    page = await index.search({ ...request, after: { position: last.position, match: first.match } });
    hits.push(...page.hits);
  }
  const { total, totalAll, isTotalExact, match } = first;
  const toHit = ({ kbId, position }: SearchHit) => ({
    externalId: nameOf(kbId),
    group: position.group,
    value: position.value,
  });
  return { total, totalAll, isTotalExact, match, hits: hits.map(toHit), isWhole: !page.hasMore };
}

function draw(share: number, text: string, random: () => number): Question | undefined {
  const words = [...text.matchAll(/\p{L}[\p{L}\p{N}]{2,19}/gu)];
  const at = Math.floor(random() * words.length);
  const [word = "", other = ""] = [words[at]?.[0], pick(words, random)?.[0]];
  if (word === "" || other === "") return undefined;
  if (share < 0.25) return { form: "word", query: word };
  if (share < 0.5) return { form: "two words", query: `${word} ${other}` };
  if (share < 0.7) {
    const next = words[at + 1 + Math.floor(random() * 2)];
    const from = words[at]?.index ?? 0;
    const phrase = next === undefined ? "" : text.slice(from, next.index + next[0].length);
    return /^[^"\n]{1,60}$/.test(phrase) ? { form: "phrase", query: `"${phrase}"` } : undefined;
  }
  if (share < 0.85) return { form: "prefix", query: `${word.slice(0, 3 + Math.floor(random() * 3))}*` };
  return { form: "recency", query: word };
}

function pick<T>(values: readonly T[], random: () => number): T | undefined {
  return values[Math.floor(random() * values.length)];
}

function rowsOf(db: DatabaseSyncInstance, sql: string): string[] {
  return db.prepare(sql).all().map(readId);
}

/** The column `id` of a row. */
function readId(row: unknown): string {
  // The queries of this file name their one column `id`, which is text.
  return (row as { id: string }).id;
}
