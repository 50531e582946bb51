import { eachNumber } from "./numbers.ts";
import { lowOf, packKey } from "./schema.ts";
import { numberOf, type Statements } from "./sqlite.ts";

/**
 * Accesses in blobs of some thousand, so that a reader opens a million of them in some milliseconds instead of half a
 * second. A chunk is written once all its numbers are given and is never changed: numbers are never given twice.
 */

/** The first number that no chunk of the workspace holds yet. */
export function firstUnchunked(sql: Statements, no: number, perChunk: number): number {
  const last = numberOf(
    sql("SELECT max(id) FROM index_acl_chunks WHERE id > ? AND id < ?"),
    packKey(no, 0),
    packKey(no + 1, 0),
  );
  return last === 0 ? 1 : lowOf(last) + perChunk;
}

/** Is there a whole chunk to write? */
export function hasChunkToWrite(sql: Statements, workspaceId: string, no: number, perChunk: number): boolean {
  const last = numberOf(sql("SELECT max(aclId) FROM accesses WHERE workspaceId = ?"), workspaceId);
  return last >= firstUnchunked(sql, no, perChunk) + perChunk - 1;
}

/** Writes all whole chunks that are missing, one a step. */
export function* writeChunks(sql: Statements, workspaceId: string, no: number, perChunk: number): Generator<void> {
  while (hasChunkToWrite(sql, workspaceId, no, perChunk)) {
    const first = firstUnchunked(sql, no, perChunk);
    const row: unknown = sql(
      `SELECT group_concat(access, ';') AS text FROM (
         SELECT aclId || ':' || listIds AS access FROM accesses
         WHERE workspaceId = ? AND aclId >= ? AND aclId < ? ORDER BY aclId)`,
    ).get(workspaceId, first, first + perChunk);
    // One row of an aggregate.
    const { text } = row as { text: string | null };
    sql("INSERT INTO index_acl_chunks (id, data) VALUES (?, ?)").run(
      packKey(no, first),
      encodeAccesses(text ?? "", first, perChunk),
    );
    yield;
  }
}

/**
 * A chunk as little-endian numbers of 32 bits: how many accesses, then a code for each from the first number on, then the
 * lists of those with several. Codes are those of `AccessTable`, with places counted from the start of the lists.
 */
function encodeAccesses(text: string, first: number, perChunk: number): Uint8Array {
  const lists = new Map<number, number[]>();
  let current: number[] = [];
  eachNumber(text, (number, terminator) => {
    if (terminator === ":") lists.set(number, (current = []));
    else current.push(number);
  });
  const codes: number[] = [];
  // Place 0 stays free: its code would be that of "no list".
  const many: number[] = [0];
  for (let aclId = first; aclId < first + perChunk; aclId++) {
    const [only, ...others] = lists.get(aclId) ?? [];
    codes.push(others.length === 0 ? (only ?? 0) : -many.length);
    if (only !== undefined && others.length > 0) many.push(others.length + 1, only, ...others);
  }
  return new Uint8Array(Int32Array.from([codes.length, ...codes, ...many]).buffer);
}

/** The parts of a chunk. */
export function decodeAccesses(blob: Uint8Array): { codes: Int32Array; many: Int32Array } {
  const bytes = blob.byteOffset % 4 === 0 ? blob : blob.slice();
  const numbers = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const end = 1 + (numbers[0] ?? 0);
  return { codes: numbers.subarray(1, end), many: numbers.subarray(end) };
}
