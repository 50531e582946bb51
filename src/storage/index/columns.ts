import type { ItemKind, TaskStatus } from "#api/common.ts";
import { ITEM_KINDS, TASK_STATUSES } from "#api/item-kinds.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { grown } from "./growing.ts";
import { encodeKbId } from "./kb-ids.ts";

/** The source of an item, stored once per segment. */
export interface Origin {
  source: string;
  providerId: string;
  connectorId: string;
}

/** All data about the documents of a segment except postings, by local id. */
export interface Columns {
  docs: number;
  /** kbIds as bytes, each padded with zeros to `stride`. They ascend in segments on disk. */
  kbIds: Uint8Array;
  stride: number;
  acl: Uint32Array;
  lengths: Uint32Array;
  /** Epoch milliseconds; NaN = unknown. */
  updatedAt: Float64Array;
  createdAt: Float64Array;
  dueAt: Float64Array;
  /** Index into `KIND_CODES`. */
  kinds: Uint8Array;
  /** Index into `STATUS_CODES`; 255 = none. */
  statuses: Uint8Array;
  origins: { codes: Uint32Array; values: Origin[] };
  /** The people of document `d` are `codes[starts[d]]` up to `codes[starts[d + 1]]`, exclusive. */
  people: { starts: Uint32Array; codes: Uint32Array; values: string[] };
}

/** Column values of a document, without its access and the values that are stored by name. */
export type ColumnValues = Pick<IndexedDocument, "kbId" | "kind" | "status" | "updatedAt" | "createdAt" | "dueAt"> & {
  length: number;
};

/** Values of a document that are stored by name, so that equal names share a code. */
export type ColumnNames = Origin & Pick<IndexedDocument, "people">;

export const KIND_CODES: readonly ItemKind[] = ITEM_KINDS;
export const STATUS_CODES: readonly TaskStatus[] = TASK_STATUSES;
export const NO_STATUS = 255;

export type DateColumn = "updatedAt" | "createdAt" | "dueAt";

/** Collects columns document by document. */
export class ColumnsBuilder {
  readonly #columns: Columns;
  readonly #origins = new Map<string, number>();
  readonly #people = new Map<string, number>();

  constructor(capacity: number) {
    this.#columns = emptyColumns(capacity);
  }

  /** The columns collected so far. The arrays may be longer than `docs`. */
  get columns(): Columns {
    return this.#columns;
  }

  /** Appends a document and returns its local id. `aclId` may be newer than the document's own access. */
  add(document: ColumnValues & ColumnNames, aclId: number): number {
    const key = encodeKbId(document.kbId);
    const id = this.addValues({ ...document, aclId }, key, 0, key.length);
    this.addNames(id, document);
    return id;
  }

  /**
   * Like `add`, without the names: call `addNames` afterwards, in the order of the ids. `bytes` holds the kbId as
   * UTF-8.
   */
  addValues(document: ColumnValues & { aclId: number }, bytes: Uint8Array, start: number, end: number): number {
    const columns = this.#columns;
    const id = columns.docs++;
    if (id >= columns.acl.length) growColumns(columns, id + 1);
    this.#setKbId(id, bytes, start, end);
    columns.acl[id] = document.aclId;
    columns.lengths[id] = document.length;
    columns.updatedAt[id] = document.updatedAt ?? Number.NaN;
    columns.createdAt[id] = document.createdAt ?? Number.NaN;
    columns.dueAt[id] = document.dueAt ?? Number.NaN;
    columns.kinds[id] = KIND_CODES.indexOf(document.kind);
    columns.statuses[id] = document.status === null ? NO_STATUS : STATUS_CODES.indexOf(document.status);
    return id;
  }

  addNames(id: number, names: ColumnNames): void {
    this.#columns.origins.codes[id] = this.#originCode(names);
    this.#addPeople(id, names.people);
  }

  #setKbId(id: number, bytes: Uint8Array, start: number, end: number): void {
    const columns = this.#columns;
    if (end - start > columns.stride) widenKbIds(columns, end - start);
    columns.kbIds = grown(columns.kbIds, (id + 1) * columns.stride);
    const { kbIds } = columns;
    for (let from = start, to = id * columns.stride; from < end; from++, to++) kbIds[to] = bytes[from] ?? 0;
  }

  #originCode({ source, providerId, connectorId }: Origin): number {
    const key = `${source}\n${providerId}\n${connectorId}`;
    let code = this.#origins.get(key);
    if (code === undefined) {
      code = this.#columns.origins.values.push({ source, providerId, connectorId }) - 1;
      this.#origins.set(key, code);
    }
    return code;
  }

  #addPeople(id: number, people: readonly string[]): void {
    const target = this.#columns.people;
    let at = target.starts[id] ?? 0;
    for (const person of new Set(people)) {
      let code = this.#people.get(person);
      if (code === undefined) this.#people.set(person, (code = target.values.push(person) - 1));
      target.codes = grown(target.codes, at + 1);
      target.codes[at++] = code;
    }
    target.starts[id + 1] = at;
  }
}

export function emptyColumns(capacity: number): Columns {
  return {
    docs: 0,
    kbIds: new Uint8Array(0),
    stride: 1,
    acl: new Uint32Array(capacity),
    lengths: new Uint32Array(capacity),
    updatedAt: new Float64Array(capacity),
    createdAt: new Float64Array(capacity),
    dueAt: new Float64Array(capacity),
    kinds: new Uint8Array(capacity),
    statuses: new Uint8Array(capacity),
    origins: { codes: new Uint32Array(capacity), values: [] },
    people: { starts: new Uint32Array(capacity + 1), codes: new Uint32Array(0), values: [] },
  };
}

function growColumns(columns: Columns, capacity: number): void {
  for (const name of ["acl", "lengths"] as const) columns[name] = grown(columns[name], capacity);
  for (const name of ["updatedAt", "createdAt", "dueAt"] as const) columns[name] = grown(columns[name], capacity);
  for (const name of ["kinds", "statuses"] as const) columns[name] = grown(columns[name], capacity);
  columns.origins.codes = grown(columns.origins.codes, capacity);
  columns.people.starts = grown(columns.people.starts, columns.acl.length + 1);
}

function widenKbIds(columns: Columns, stride: number): void {
  const before = columns.docs - 1;
  const wider = new Uint8Array(Math.max(before + 1, 16) * stride);
  for (let id = 0; id < before; id++) {
    wider.set(columns.kbIds.subarray(id * columns.stride, (id + 1) * columns.stride), id * stride);
  }
  columns.kbIds = wider;
  columns.stride = stride;
}
