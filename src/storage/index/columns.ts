import type { ItemKind, TaskStatus } from "#api/common.ts";
import { ITEM_KINDS, TASK_STATUSES } from "#api/item-kinds.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { grown } from "./growing.ts";

/** Where an item comes from; stored once per segment. */
export interface Origin {
  source: string;
  providerId: string;
  connectorId: string;
}

/** Everything about the documents of a segment that is not a posting, by local id. */
export interface Columns {
  docs: number;
  /** kbIds as bytes, each padded with zeros to `stride`. Ascending in base segments. */
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
  /** People of document `d`: `codes[starts[d]]` up to `starts[d + 1]`. */
  people: { starts: Uint32Array; codes: Uint32Array; values: string[] };
}

/** What the columns of a document hold, apart from its access and what stands under names. */
export type ColumnValues = Pick<IndexedDocument, "kbId" | "kind" | "status" | "updatedAt" | "createdAt" | "dueAt"> & {
  length: number;
};

/** What of a document stands under names. */
export type ColumnNames = Origin & Pick<IndexedDocument, "people">;

/** What is needed to find a document by its kbId. */
export type KbIdColumn = Pick<Columns, "docs" | "kbIds" | "stride">;

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

  /** The columns so far: arrays may be longer than `docs`. */
  get columns(): Columns {
    return this.#columns;
  }

  /** Appends a document; `aclId` may be newer than the document's own. Gives its local id. */
  add(document: ColumnValues & ColumnNames, aclId: number): number {
    const id = this.addValues(document, aclId, encodeKbId(document.kbId));
    this.addNames(id, document);
    return id;
  }

  /** As `add`, without the names: `addNames` follows, in the order of the ids. `key` is the kbId as UTF-8. */
  addValues(document: ColumnValues, aclId: number, key: Uint8Array): number {
    const columns = this.#columns;
    const id = columns.docs++;
    if (id >= columns.acl.length) growColumns(columns, id + 1);
    this.#setKbId(id, key);
    columns.acl[id] = aclId;
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

  #setKbId(id: number, bytes: Uint8Array): void {
    const columns = this.#columns;
    if (bytes.length > columns.stride) widenKbIds(columns, bytes.length);
    columns.kbIds = grown(columns.kbIds, (id + 1) * columns.stride);
    columns.kbIds.set(bytes, id * columns.stride);
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

const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** Most kbIds are far shorter; a longer one has bytes of its own. */
const scratch = new Uint8Array(64);

/** A kbId as UTF-8, until the next call. Almost all are ASCII, and the encoder takes ten times as long for these. */
export function encodeKbId(kbId: string): Uint8Array {
  if (kbId.length > scratch.length) return encoder.encode(kbId);
  for (let at = 0; at < kbId.length; at++) {
    const unit = kbId.charCodeAt(at);
    if (unit >= 0x80) return encoder.encode(kbId);
    scratch[at] = unit;
  }
  return scratch.subarray(0, kbId.length);
}

/** The kbId of a local id. */
export function kbIdAt(columns: KbIdColumn, id: number): string {
  const start = id * columns.stride;
  let end = start + columns.stride;
  while (end > start && columns.kbIds[end - 1] === 0) end--;
  return decoder.decode(columns.kbIds.subarray(start, end));
}

/** Five characters of every kbId, behind what all of them begin with: most of a search in them touches nothing else. */
export interface KbIdHeads {
  /** Length of the common beginning. */
  skip: number;
  heads: Uint32Array;
}

/** Heads of ascending columns. */
export function makeKbIdHeads({ docs, kbIds, stride }: KbIdColumn): KbIdHeads {
  const last = Math.max(0, docs - 1) * stride;
  let skip = 0;
  while (skip < stride && kbIds[skip] === kbIds[last + skip]) skip++;
  const heads = new Uint32Array(docs);
  for (let id = 0; id < docs; id++) heads[id] = headAt(kbIds, id * stride + skip, (id + 1) * stride);
  return { skip, heads };
}

/**
 * The local id of a kbId in ascending columns (base segments), or -1. `key` is the kbId as UTF-8; `heads` make many
 * look-ups fast.
 */
export function findKbId(columns: KbIdColumn, key: Uint8Array, heads?: KbIdHeads): number {
  if (key.length > columns.stride) return -1;
  let low = 0;
  let high = columns.docs - 1;
  if (heads !== undefined) {
    // What all kbIds begin with is compared in full below, on whatever the heads leave over.
    const head = headAt(key, heads.skip, key.length);
    low = firstHead(heads.heads, head);
    high = low - 1;
    while (heads.heads[high + 1] === head) high++;
  }
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const order = compareKbIdTo(columns, middle, key);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Many kbIds to be found, in the order of their heads behind `skip` bytes; `places` says where each was among those given. */
export interface SortedKbIds {
  skip: number;
  keys: readonly Uint8Array[];
  heads: Uint32Array;
  places: Uint32Array;
}

/** Sorts at most two million kbIds (as UTF-8). */
export function sortKbIds(given: readonly Uint8Array[], skip: number): SortedKbIds {
  const packed = Float64Array.from(given, (key, i) => headAt(key, skip, key.length) * PLACES + i).sort();
  const places = Uint32Array.from(packed, (entry) => entry % PLACES);
  const keys = Array.from(places, (place) => given[place] ?? NO_KEY);
  return { skip, keys, heads: Uint32Array.from(packed, (entry) => Math.floor(entry / PLACES)), places };
}

/**
 * Calls `visit` for each of these kbIds that ascending columns have, with its place among those given. `sorted` has the
 * `skip` of the heads. One after the other is some steps from where the last would stand: 30 ns where single ones take 300.
 */
export function findKbIds(
  columns: KbIdColumn,
  { heads }: KbIdHeads,
  sorted: SortedKbIds,
  visit: (place: number, id: number) => void,
): void {
  const { keys, places } = sorted;
  for (let k = 0, at = 0; k < keys.length; k++) {
    const head = sorted.heads[k] ?? 0;
    at = nextHead(heads, head, at);
    for (let id = at; id < heads.length && heads[id] === head; id++) {
      if (compareKbIdTo(columns, id, keys[k] ?? NO_KEY) === 0) visit(places[k] ?? 0, id);
    }
  }
}

/** A head has 30 bits, and a number 53. */
const PLACES = 2 ** 21;

const NO_KEY = new Uint8Array(0);

/** Order of the kbIds of two documents, in the same or in different segments. */
export function compareKbIds(a: KbIdColumn, idA: number, b: KbIdColumn, idB: number): number {
  const startB = idB * b.stride;
  return compareKbIdTo(a, idA, b.kbIds.subarray(startB, startB + b.stride));
}

/**
 * Five characters as one number that has their order, on which both searches rely: a character that ids are not made of
 * has the rank of the next lower one, and what follows it is as if it were the last (or the first, below all of them).
 */
function headAt(bytes: Uint8Array, at: number, end: number): number {
  let head = 0;
  for (let i = at; i < at + HEAD_CHARACTERS; i++) {
    const rank = i < end ? (RANKS[bytes[i] ?? 0] ?? 0) : BELOW_ALL;
    const left = (at + HEAD_CHARACTERS - i) * RANK_BITS;
    if (rank === BELOW_ALL) return head << left;
    head = (head << RANK_BITS) | (rank & LAST_RANK);
    if (rank > LAST_RANK) return ((head + 1) << (left - RANK_BITS)) - 1;
  }
  return head;
}

const HEAD_CHARACTERS = 5;
const RANK_BITS = 6;
const LAST_RANK = 63;
const BELOW_ALL = 255;
const RANKS = makeRanks();

/** By byte: the place among the 64 characters that ids are made of. Others have that of the next lower one, and 64 more. */
function makeRanks(): Uint8Array {
  const characters = [..."-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"].map((c) =>
    c.charCodeAt(0),
  );
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    const below = characters.filter((character) => character <= byte).length - 1;
    if (below < 0) return BELOW_ALL;
    return characters[below] === byte ? below : below + LAST_RANK + 1;
  });
}

/** The first place whose head is at least this. */
function firstHead(heads: Uint32Array, head: number, from = 0): number {
  let low = from;
  let high = heads.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((heads[middle] ?? 0) < head) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** As `firstHead`, where all before `from` are smaller: it is likely near. */
function nextHead(heads: Uint32Array, head: number, from: number): number {
  const near = Math.min(heads.length, from + NEAR);
  let at = from;
  while (at < near && (heads[at] ?? 0) < head) at++;
  return at === near ? firstHead(heads, head, at) : at;
}

/** So many steps in a row cost less than a binary search. */
const NEAR = 128;

function compareKbIdTo(columns: KbIdColumn, id: number, key: Uint8Array): number {
  const start = id * columns.stride;
  const width = Math.max(columns.stride, key.length);
  for (let i = 0; i < width; i++) {
    const mine = i < columns.stride ? (columns.kbIds[start + i] ?? 0) : 0;
    const order = mine - (key[i] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}
