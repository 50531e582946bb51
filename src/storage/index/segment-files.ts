import type { Columns, KbIdColumn, Origin } from "./columns.ts";
import { type Statements } from "./sqlite.ts";
import { packKey } from "./schema.ts";

/** Stores the columns of a segment, one blob each. Gives the bytes written. */
export function saveColumns(sql: Statements, segment: number, columns: Columns): number {
  const { docs } = columns;
  const insert = sql("INSERT OR REPLACE INTO index_columns (segment, name, data) VALUES (?, ?, ?)");
  let bytes = 0;
  const put = (name: string, data: Uint8Array) => {
    insert.run(segment, name, data);
    bytes += data.length;
  };
  const numbers = { ...numericColumns(columns), people: columns.people.starts.subarray(0, docs + 1) };
  put("kbIds", columns.kbIds.subarray(0, docs * columns.stride));
  for (const [name, array] of Object.entries(numbers)) put(name, bytesOf(array));
  const peopleCount = columns.people.starts[docs] ?? 0;
  put("peopleCodes", bytesOf(columns.people.codes.subarray(0, peopleCount)));
  const names = { origins: columns.origins.values, people: columns.people.values };
  put("names", new TextEncoder().encode(JSON.stringify(names)));
  return bytes;
}

/** Stores a new access column: what an access-only compaction writes. */
export function saveAccessColumn(sql: Statements, segment: number, acl: Uint32Array): void {
  sql("UPDATE index_columns SET data = ? WHERE segment = ? AND name = 'acl'").run(bytesOf(acl), segment);
}

/** Reads the columns of a segment. */
export function loadColumns(sql: Statements, segment: number, docs: number): Columns {
  const blobs = new Map<string, Uint8Array>();
  for (const row of sql("SELECT name, data FROM index_columns WHERE segment = ?").iterate(segment)) {
    blobs.set(String(row.name), row.data);
  }
  const bytes = (name: string): ArrayBuffer => {
    const blob = blobs.get(name);
    if (blob === undefined) throw new Error(`Segment ${segment} has no column ${name}`);
    // Aligned for every element type and owned by nobody else: as the driver gives it, or a copy.
    const isOwn = blob.buffer instanceof ArrayBuffer && blob.buffer.byteLength === blob.byteLength;
    return isOwn ? blob.buffer : new Uint8Array(blob).buffer;
  };
  // Written by `saveColumns` and by nothing else.
  const names = JSON.parse(new TextDecoder().decode(bytes("names"))) as {
    origins: Origin[];
    people: string[];
  };
  const kbIds = new Uint8Array(bytes("kbIds"));
  return {
    docs,
    kbIds,
    stride: kbIds.length / docs,
    acl: new Uint32Array(bytes("acl")),
    lengths: new Uint32Array(bytes("lengths")),
    updatedAt: new Float64Array(bytes("updatedAt")),
    createdAt: new Float64Array(bytes("createdAt")),
    dueAt: new Float64Array(bytes("dueAt")),
    kinds: new Uint8Array(bytes("kinds")),
    statuses: new Uint8Array(bytes("statuses")),
    origins: { codes: new Uint32Array(bytes("originCodes")), values: names.origins },
    people: {
      starts: new Uint32Array(bytes("people")),
      codes: new Uint32Array(bytes("peopleCodes")),
      values: names.people,
    },
  };
}

/** Reads only what finds a document by its kbId. */
export function loadKbIds(sql: Statements, segment: number, docs: number): KbIdColumn {
  const row: unknown = sql("SELECT data FROM index_columns WHERE segment = ? AND name = 'kbIds'").get(segment);
  // The column's declared type.
  const kbIds = (row as { data: Uint8Array } | undefined)?.data ?? new Uint8Array(0);
  return { docs, kbIds, stride: kbIds.length / docs };
}

/** First and last possible posting key of a segment. */
export function postingRange(segment: number): [number, number] {
  return [packKey(segment, 0), packKey(segment + 1, 0) - 1];
}

/** One bit per document. */
export function setBit(bits: Uint8Array, id: number): void {
  bits[id >>> 3] = (bits[id >>> 3] ?? 0) | (1 << (id & 7));
}

export function hasBit(bits: Uint8Array, id: number): boolean {
  return ((bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0;
}

function numericColumns(columns: Columns) {
  const { docs } = columns;
  return {
    acl: columns.acl.subarray(0, docs),
    lengths: columns.lengths.subarray(0, docs),
    updatedAt: columns.updatedAt.subarray(0, docs),
    createdAt: columns.createdAt.subarray(0, docs),
    dueAt: columns.dueAt.subarray(0, docs),
    kinds: columns.kinds.subarray(0, docs),
    statuses: columns.statuses.subarray(0, docs),
    originCodes: columns.origins.codes.subarray(0, docs),
  };
}

function bytesOf(array: Uint8Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
