import { isOpen, meets } from "#storage/access/decision.ts";
import { excerptOf, type StoredText } from "#text/excerpt.ts";
import { countLineFeeds } from "#text/lines.ts";
import { makeMarkFinder } from "#text/mark-finder.ts";
import { makeMarks } from "#text/marks.ts";
import { findPassages, type FoundPassages, type Passage, type TextChunk } from "#text/snippet.ts";
import type { Excerpt, ExcerptRequest, FindRequest } from "#storage/search-index.ts";
import { type Database, makeStatements, type Statements } from "#storage/index/sqlite.ts";

/** Milliseconds after which long texts are not read on for a better passage. Source: S24. */
const ENOUGH_MS = 500;

const ITEM = `SELECT aclId, textHash, textChars FROM items WHERE workspaceId = ? AND kbId = ? AND removedAt IS NULL`;

const CHUNKS = `
  SELECT start, text FROM item_texts WHERE workspaceId = ?1 AND kbId = ?2 AND start < ?4
  AND chunk >= (SELECT max(chunk) FROM item_texts WHERE workspaceId = ?1 AND kbId = ?2 AND start <= ?3)
  ORDER BY chunk`;

const CHUNK_AT = `
  SELECT start, text, line FROM item_texts WHERE workspaceId = ? AND kbId = ? AND start <= ?
  ORDER BY chunk DESC LIMIT 1`;

const LISTS = `
  SELECT lists.principals AS principals
  FROM accesses JOIN json_each('[' || accesses.listIds || ']') AS ids
  LEFT JOIN access_lists AS lists ON lists.workspaceId = accesses.workspaceId AND lists.listId = ids.value
  WHERE accesses.workspaceId = ? AND accesses.aclId = ?`;

/** Makes the passages of items from the store's tables, in one read transaction. See `SearchIndex.excerpts`. */
export function makeExcerpts(db: Database, now: () => number = () => performance.now()) {
  const sql = makeStatements(db);
  return (request: ExcerptRequest): (Excerpt[] | undefined)[] => {
    const latest = now() + ENOUGH_MS;
    const marks = makeMarks(request.query);
    const find = makeMarkFinder(marks);
    const isReadable = makeAccessCheck(sql, request);
    db.exec("BEGIN");
    try {
      return request.items.map(({ kbId, textHash }) => {
        const text = findText(sql, request.workspaceId, kbId, textHash, isReadable);
        if (text === undefined) return undefined;
        const passages = excerptOf(text, marks, request.options, () => now() > latest, find);
        return passages.map((passage) => withLine(sql, request.workspaceId, kbId, passage));
      });
    } finally {
      db.exec("COMMIT");
    }
  };
}

/**
 * Milliseconds after which a text is not looked through further. Of 20 MB a word takes some 50 of a free core and a
 * phrase of common words 150: the rest is for a machine that has no free core.
 */
const FIND_MS = 1_500;

/** Stored chunks in memory at a time: 256 thousand code units. */
const CHUNKS_AT_ONCE = 16;

const NEXT_CHUNKS = `
  SELECT chunk, start, text FROM item_texts WHERE workspaceId = ? AND kbId = ? AND chunk > ?
  ORDER BY chunk LIMIT ${CHUNKS_AT_ONCE}`;

/**
 * Finds the passages of one item's text that hold the words, from the store's tables, in one read transaction; some
 * chunks of the text are in memory at a time. See `SearchIndex.find`.
 */
export function makeFinder(db: Database, now: () => number = () => performance.now()) {
  const sql = makeStatements(db);
  return (request: FindRequest): FoundPassages | undefined => {
    const latest = now() + FIND_MS;
    const { workspaceId, item, query } = request;
    db.exec("BEGIN");
    try {
      const text = findText(sql, workspaceId, item.kbId, item.textHash, makeAccessCheck(sql, request));
      if (text === undefined) return undefined;
      return findPassages(chunksOf(sql, workspaceId, item.kbId), makeMarks(query), () => now() > latest);
    } finally {
      db.exec("COMMIT");
    }
  };
}

function* chunksOf(sql: Statements, workspaceId: string, kbId: string): Generator<TextChunk> {
  for (let last = -1; ;) {
    // Columns of the store's `item_texts`.
    const chunks = sql(NEXT_CHUNKS).all(workspaceId, kbId, last) as unknown as (TextChunk & { chunk: number })[];
    yield* chunks;
    last = chunks.at(-1)?.chunk ?? last;
    if (chunks.length < CHUNKS_AT_ONCE) return;
  }
}

/** The text, when it is the very one that was asked for and the viewer may read the item as it is now. */
function findText(
  sql: Statements,
  workspaceId: string,
  kbId: string,
  textHash: string,
  isReadable: (aclId: number) => boolean,
): StoredText | undefined {
  const row: unknown = sql(ITEM).get(workspaceId, kbId);
  if (row === undefined) return undefined;
  // Columns of the store's `items`.
  const item = row as { aclId: number; textHash: string | null; textChars: number };
  if (item.textHash !== textHash || !isReadable(item.aclId)) return undefined;
  return {
    chars: item.textChars,
    // Columns of the store's `item_texts`.
    read: (start, end) => sql(CHUNKS).all(workspaceId, kbId, start, end) as unknown as TextChunk[],
  };
}

function withLine(sql: Statements, workspaceId: string, kbId: string, passage: Passage): Excerpt {
  const at = passage.at + (passage.highlights[0]?.start ?? 0);
  // Columns of the store's `item_texts`.
  const chunk = sql(CHUNK_AT).get(workspaceId, kbId, at) as (TextChunk & { line: number | null }) | undefined;
  if (chunk === undefined || chunk.line === null) return passage;
  return { ...passage, line: chunk.line + countLineFeeds(chunk.text.slice(0, at - chunk.start)) };
}

/** The decision by the store's own lists, once per access. */
function makeAccessCheck(
  sql: Statements,
  { workspaceId, viewer }: Pick<ExcerptRequest, "workspaceId" | "viewer">,
): (aclId: number) => boolean {
  const held = new Set(viewer.principals);
  const known = new Map<number, boolean>();
  return (aclId) => {
    let open = known.get(aclId);
    if (open === undefined) {
      open = isOpen(sql(LISTS).all(workspaceId, aclId), (list) => meets(principalsOf(list), held));
      known.set(aclId, open);
    }
    return open;
  };
}

/** Of a list that is not there (it can't be) nobody. */
function principalsOf(row: unknown): string[] {
  // The column of the store's `access_lists`, a JSON array of texts; NULL by the outer join.
  const { principals } = row as { principals: string | null };
  return principals === null ? [] : (JSON.parse(principals) as string[]);
}
