import { eachNumber } from "#storage/index/numbers.ts";
import { keysOf, lowOf, packKey } from "#storage/index/schema.ts";
import { numberOf, type Statements, textOf } from "#storage/index/sqlite.ts";

/**
 * Accesses in blobs of some thousand, so that a reader opens a million of them in some milliseconds instead of half a
 * second. A chunk is written once all its numbers are assigned. Numbers are never reused, so a chunk never gains
 * accesses; it can only lose some.
 */

/** Returns the first number that isn't in a chunk of the workspace yet. */
export function firstUnchunked(sql: Statements, no: number, perChunk: number): number {
  const last = numberOf(sql("SELECT max(id) FROM index_acl_chunks WHERE id > ? AND id <= ?"), ...keysOf(no));
  return last === 0 ? 1 : lowOf(last) + perChunk;
}

/** Whether there are enough accesses for a whole chunk. */
export function hasChunkToWrite(sql: Statements, workspaceId: string, no: number, perChunk: number): boolean {
  const last = numberOf(sql("SELECT max(aclId) FROM accesses WHERE workspaceId = ?"), workspaceId);
  return last >= firstUnchunked(sql, no, perChunk) + perChunk - 1;
}

/** Writes all missing whole chunks, one per step. */
export function* writeChunks(sql: Statements, workspaceId: string, no: number, perChunk: number): Generator<void> {
  while (hasChunkToWrite(sql, workspaceId, no, perChunk)) {
    const first = firstUnchunked(sql, no, perChunk);
    sql("INSERT INTO index_acl_chunks (id, data) VALUES (?, ?)").run(
      packKey(no, first),
      encodeAccesses(readAccesses(sql, workspaceId, first, perChunk), first, perChunk),
    );
    yield;
  }
}

/**
 * Rewrites the chunks that hold deleted accesses; checks one chunk per step. Deletes empty chunks but the last one,
 * which records how far chunks were written. A reader may keep a chunk that it has read, because deleted accesses are
 * never looked up.
 */
export function* rewriteChunks(sql: Statements, workspaceId: string, no: number): Generator<void> {
  const range = "FROM index_acl_chunks WHERE id > ? AND id <= ?";
  const [first, end] = keysOf(no);
  const last = numberOf(sql(`SELECT max(id) ${range}`), first, end);
  for (let at = first; at < last;) {
    const row = sql(`SELECT id, data ${range} ORDER BY id LIMIT 1`).get(at, end);
    if (row === undefined) return;
    at = Number(row.id);
    const firstAcl = lowOf(row.id);
    const { codes } = decodeAccesses(row.data);
    const text = readAccesses(sql, workspaceId, firstAcl, codes.length);
    const held = codes.reduce((count, code) => count + (code === 0 ? 0 : 1), 0);
    const living = text === "" ? 0 : text.split(";").length;
    if (living === 0 && at < last) sql("DELETE FROM index_acl_chunks WHERE id = ?").run(at);
    else if (living < held) {
      sql("UPDATE index_acl_chunks SET data = ? WHERE id = ?").run(encodeAccesses(text, firstAcl, codes.length), at);
    }
    yield;
  }
}

/** Reads accesses, from a number on, as `number:list,list;…`. */
function readAccesses(sql: Statements, workspaceId: string, first: number, count: number): string {
  const reading = sql(
    `SELECT group_concat(access, ';') AS text FROM (
       SELECT aclId || ':' || listIds AS access FROM accesses
       WHERE workspaceId = ? AND aclId >= ? AND aclId < ? ORDER BY aclId)`,
  );
  return textOf(reading, workspaceId, first, first + count) ?? "";
}

/**
 * Encodes a chunk as little-endian 32-bit numbers: the count of accesses, then a code for each access from the first
 * number on, then the lists of accesses with several lists. Codes are those of `AccessTable`, with positions relative
 * to the start of the lists.
 */
function encodeAccesses(text: string, first: number, perChunk: number): Uint8Array {
  const lists = new Map<number, number[]>();
  let current: number[] = [];
  eachNumber(text, (number, terminator) => {
    if (terminator === ":") lists.set(number, (current = []));
    else current.push(number);
  });
  const codes: number[] = [];
  // Position 0 stays unused: its code would be the one for "no list".
  const many: number[] = [0];
  for (let aclId = first; aclId < first + perChunk; aclId++) {
    const [only, ...others] = lists.get(aclId) ?? [];
    codes.push(others.length === 0 ? (only ?? 0) : -many.length);
    if (only !== undefined && others.length > 0) many.push(others.length + 1, only, ...others);
  }
  return new Uint8Array(Int32Array.from([codes.length, ...codes, ...many]).buffer);
}

/** Decodes the columns of a chunk. */
export function decodeAccesses(blob: Uint8Array): { codes: Int32Array; many: Int32Array } {
  const bytes = blob.byteOffset % 4 === 0 ? blob : blob.slice();
  const numbers = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const end = 1 + (numbers[0] ?? 0);
  return { codes: numbers.subarray(1, end), many: numbers.subarray(end) };
}
