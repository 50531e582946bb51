import { isOpen, meets } from "#storage/access/decision.ts";
import { excerptOf } from "#text/excerpt.ts";
import { countLineFeeds, urlOfPlace, placeAt } from "#text/sections.ts";
import { makeMarkFinder } from "#text/mark-finder.ts";
import { makeMarks, marksOf } from "#text/marks.ts";
import type { ParsedQuery } from "#text/query.ts";
import { findPassages, type FoundPassages, type Passage, type SnippetOptions, type TextChunk } from "#text/snippet.ts";
import type { Excerpt, FindRequest, SearchRequest } from "#storage/search-index.ts";
import { type Database, inReadTransaction, makeStatements, type Statements } from "#storage/index/sqlite.ts";
import type { ItemRecord } from "#storage/item-record.ts";

const ITEM = `SELECT aclId, textHash FROM items WHERE workspaceId = ? AND kbId = ? AND removedAt IS NULL`;

const CHUNKS = `
  SELECT start, text, line FROM item_texts WHERE workspaceId = ?1 AND kbId = ?2 AND start < ?4
  AND chunk >= (SELECT max(chunk) FROM item_texts WHERE workspaceId = ?1 AND kbId = ?2 AND start <= ?3)
  ORDER BY chunk`;

const LISTS = `
  SELECT lists.principals AS principals
  FROM accesses JOIN json_each('[' || accesses.listIds || ']') AS ids
  LEFT JOIN access_lists AS lists ON lists.workspaceId = accesses.workspaceId AND lists.listId = ids.value
  WHERE accesses.workspaceId = ? AND accesses.aclId = ?`;

/** The fields that are needed to locate passages in an item. */
export type Placed = Pick<ItemRecord, "kbId" | "textChars" | "sections" | "url" | "lineAnchor">;

/**
 * Selects the passages of an item's stored text that answer a query best, each with its section. Runs in the caller's
 * open read transaction, for an item whose access was checked in it.
 */
export function makeExcerpts(sql: Statements, workspaceId: string, query: ParsedQuery, options: SnippetOptions) {
  const marks = marksOf(query);
  const find = makeMarkFinder(marks);
  return (item: Placed, isLate: () => boolean): Excerpt[] => {
    const searched: StoredChunk[] = [];
    const read = (start: number, end: number) => {
      // The columns of the store's table `item_texts`.
      const chunks = sql(CHUNKS).all(workspaceId, item.kbId, start, end) as unknown as StoredChunk[];
      searched.push(...chunks);
      return chunks;
    };
    const passages = excerptOf({ chars: item.textChars, read }, marks, options, isLate, find);
    return passages.map((passage) => withPlace(item, passage, searched));
  };
}

/**
 * A chunk of text. When the lines of the text are those of the file, includes the file's line in which the chunk
 * begins.
 */
interface StoredChunk extends TextChunk {
  line: number | null;
}

/**
 * Adds to a passage where it is in the item.
 *
 * @param chunks the chunks that were searched, in order
 */
function withPlace(item: Placed, passage: Passage, chunks: readonly StoredChunk[]): Excerpt {
  // The position of the match, which may be in a later section than the beginning of the passage.
  const at = passage.at + (passage.highlights[0]?.start ?? 0);
  const line = lineAt(chunks, at);
  const place = placeAt(item.sections, at);
  const section = place?.path ?? (line === undefined ? undefined : `line ${line}`);
  const url = urlOfPlace(item, { section: place?.section, line });
  return { ...passage, ...(section !== undefined && { section }), ...(url !== undefined && { url }) };
}

/** Returns the file's line that holds a position, if the lines of the text are those of the file. */
function lineAt(chunks: readonly StoredChunk[], at: number): number | undefined {
  const chunk = chunks.findLast(({ start }) => start <= at);
  if (chunk === undefined || chunk.line === null) return undefined;
  return chunk.line + countLineFeeds(chunk.text.slice(0, at - chunk.start));
}

/**
 * Milliseconds after which the search of a text stops. For 20 MB, a word takes some 50 on a free core and a phrase of
 * common words 150; the rest is for a machine without a free core.
 */
const FIND_MS = 1_500;

/** Stored chunks in memory at a time: 256 thousand code units. */
const CHUNKS_AT_ONCE = 16;

const NEXT_CHUNKS = `
  SELECT chunk, start, text FROM item_texts WHERE workspaceId = ? AND kbId = ? AND chunk > ?
  ORDER BY chunk LIMIT ${CHUNKS_AT_ONCE}`;

/**
 * Finds the passages of one item's text that hold the words, from the store's tables, in one read transaction. Only a
 * few chunks of the text are in memory at a time. See `SearchIndex.find`.
 */
export function makeFinder(db: Database, now: () => number = () => performance.now()) {
  const sql = makeStatements(db);
  return (request: FindRequest): FoundPassages | undefined => {
    const latest = now() + FIND_MS;
    const { workspaceId, item, query } = request;
    return inReadTransaction(db, () => {
      const row: unknown = sql(ITEM).get(workspaceId, item.kbId);
      if (row === undefined) return undefined;
      // The columns of the store's table `items`.
      const { aclId, textHash } = row as { aclId: number; textHash: string | null };
      if (textHash !== item.textHash || !makeAccessCheck(sql, request)(aclId)) return undefined;
      return findPassages(chunksOf(sql, workspaceId, item.kbId), makeMarks(query), () => now() > latest);
    });
  };
}

function* chunksOf(sql: Statements, workspaceId: string, kbId: string): Generator<TextChunk> {
  for (let last = -1; ;) {
    // The columns of the store's table `item_texts`.
    const chunks = sql(NEXT_CHUNKS).all(workspaceId, kbId, last) as unknown as (TextChunk & { chunk: number })[];
    yield* chunks;
    last = chunks.at(-1)?.chunk ?? last;
    if (chunks.length < CHUNKS_AT_ONCE) return;
  }
}

/** Makes a function that checks accesses by the store's own lists, each access only once. */
export function makeAccessCheck(
  sql: Statements,
  { workspaceId, viewer }: Pick<SearchRequest, "workspaceId" | "viewer">,
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

/** Returns the principals of a list. A missing list, which shouldn't occur, is open to no one. */
function principalsOf(row: unknown): string[] {
  // The column of the store's table `access_lists`, a JSON array of texts; NULL from the outer join.
  const { principals } = row as { principals: string | null };
  return principals === null ? [] : (JSON.parse(principals) as string[]);
}
