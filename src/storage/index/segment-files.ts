import type { Columns, Origin } from "./columns.ts";
import type { KbIdColumn } from "./kb-ids.ts";
import { blobOf, type Statements } from "./sqlite.ts";

/** Stores the columns of a segment, one blob each. Returns the number of bytes written. */
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

/** Stores a new access column, which is the output of a compaction that changes only accesses. */
export function saveAccessColumn(sql: Statements, segment: number, acl: Uint32Array): void {
  sql("UPDATE index_columns SET data = ? WHERE segment = ? AND name = 'acl'").run(bytesOf(acl), segment);
}

/** Reads the columns of a segment. */
export function loadColumns(sql: Statements, segment: number, docs: number): Columns {
  const columns = openColumns(sql, segment, docs);
  const { kbIds, stride, acl, lengths, updatedAt, createdAt, dueAt, kinds, statuses, origins, people } = columns;
  return { docs, kbIds, stride, acl, lengths, updatedAt, createdAt, dueAt, kinds, statuses, origins, people };
}

/**
 * Opens the columns of a segment. Only those that every search needs are read now. The rest (two thirds of the bytes)
 * are read on first use, in the transaction that is open then; the segment must be live in that transaction.
 */
export function openColumns(sql: Statements, segment: number, docs: number): Columns {
  return new StoredColumns(sql, segment, docs);
}

class StoredColumns implements Columns {
  readonly docs: number;
  readonly kbIds: Uint8Array;
  readonly stride: number;
  readonly acl: Uint32Array;
  readonly lengths: Uint32Array;
  readonly #read: (name: string) => ArrayBuffer;
  #updatedAt: Float64Array | undefined;
  #createdAt: Float64Array | undefined;
  #dueAt: Float64Array | undefined;
  #kinds: Uint8Array | undefined;
  #statuses: Uint8Array | undefined;
  #names: { origins: Origin[]; people: string[] } | undefined;
  #origins: Columns["origins"] | undefined;
  #people: Columns["people"] | undefined;

  constructor(sql: Statements, segment: number, docs: number) {
    this.#read = (name) => readColumn(sql, segment, name);
    this.docs = docs;
    this.kbIds = new Uint8Array(this.#read("kbIds"));
    this.stride = this.kbIds.length / docs;
    this.acl = new Uint32Array(this.#read("acl"));
    this.lengths = new Uint32Array(this.#read("lengths"));
  }

  get updatedAt(): Float64Array {
    return (this.#updatedAt ??= new Float64Array(this.#read("updatedAt")));
  }

  get createdAt(): Float64Array {
    return (this.#createdAt ??= new Float64Array(this.#read("createdAt")));
  }

  get dueAt(): Float64Array {
    return (this.#dueAt ??= new Float64Array(this.#read("dueAt")));
  }

  get kinds(): Uint8Array {
    return (this.#kinds ??= new Uint8Array(this.#read("kinds")));
  }

  get statuses(): Uint8Array {
    return (this.#statuses ??= new Uint8Array(this.#read("statuses")));
  }

  get origins(): Columns["origins"] {
    return (this.#origins ??= {
      codes: new Uint32Array(this.#read("originCodes")),
      values: this.#readNames().origins,
    });
  }

  get people(): Columns["people"] {
    return (this.#people ??= {
      starts: new Uint32Array(this.#read("people")),
      codes: new Uint32Array(this.#read("peopleCodes")),
      values: this.#readNames().people,
    });
  }

  #readNames(): { origins: Origin[]; people: string[] } {
    // Only `saveColumns` writes this text.
    return (this.#names ??= JSON.parse(new TextDecoder().decode(this.#read("names"))) as {
      origins: Origin[];
      people: string[];
    });
  }
}

/**
 * Reads a column into memory that is aligned for every element type and not shared: the driver's own buffer, or a copy.
 */
function readColumn(sql: Statements, segment: number, name: string): ArrayBuffer {
  const blob = blobOf(sql("SELECT data FROM index_columns WHERE segment = ? AND name = ?"), segment, name);
  if (blob === undefined) throw new Error(`Segment ${segment} has no column ${name}`);
  const isOwn = blob.buffer instanceof ArrayBuffer && blob.buffer.byteLength === blob.byteLength;
  return isOwn ? blob.buffer : new Uint8Array(blob).buffer;
}

/** Reads only what is needed to find a document by its kbId. */
export function loadKbIds(sql: Statements, segment: number, docs: number): KbIdColumn {
  const found = blobOf(sql("SELECT data FROM index_columns WHERE segment = ? AND name = 'kbIds'"), segment);
  const kbIds = found ?? new Uint8Array(0);
  return { docs, kbIds, stride: kbIds.length / docs };
}

/** Sets the bit of a document, in an array with one bit per document. */
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
