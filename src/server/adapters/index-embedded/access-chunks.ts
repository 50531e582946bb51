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
    sql("INSERT INTO index_acl_chunks (id, data) VALUES (?, ?)").run(packKey(no, first), encodeAccesses(text ?? ""));
    yield;
  }
}

/** `aclId:listId,listId;…` as little-endian numbers of 32 bits: aclId, count, lists; and so on. */
function encodeAccesses(text: string): Uint8Array {
  const numbers: number[] = [];
  let countAt = 0;
  eachNumber(text, (number, terminator) => {
    if (terminator === ":") {
      numbers.push(number);
      countAt = numbers.push(0) - 1;
    } else {
      numbers.push(number);
      numbers[countAt] = (numbers[countAt] ?? 0) + 1;
    }
  });
  return new Uint8Array(Uint32Array.from(numbers).buffer);
}

/** Calls `visit` with each access of a chunk; the list is only good for that moment. */
export function decodeAccesses(blob: Uint8Array, visit: (aclId: number, lists: readonly number[]) => void): void {
  const bytes = blob.byteOffset % 4 === 0 ? blob : blob.slice();
  const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const lists: number[] = [];
  for (let at = 0; at < numbers.length;) {
    const aclId = numbers[at] ?? 0;
    const end = at + 2 + (numbers[at + 1] ?? 0);
    lists.length = 0;
    for (let i = at + 2; i < end; i++) lists.push(numbers[i] ?? 0);
    visit(aclId, lists);
    at = end;
  }
}
