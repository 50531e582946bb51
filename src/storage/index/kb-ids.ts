/** The data needed to find a document by its kbId: the kbIds as bytes, each padded with zeros to `stride`. */
export interface KbIdColumn {
  docs: number;
  kbIds: Uint8Array;
  stride: number;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** Buffer for encoded kbIds. Most kbIds are far shorter; a longer one gets its own array. */
const scratch = new Uint8Array(64);

/**
 * Returns a kbId as UTF-8, valid until the next call. Almost all kbIds are ASCII, for which TextEncoder takes ten times
 * as long as this loop.
 */
export function encodeKbId(kbId: string): Uint8Array {
  if (kbId.length > scratch.length) return encoder.encode(kbId);
  for (let at = 0; at < kbId.length; at++) {
    const unit = kbId.charCodeAt(at);
    if (unit >= 0x80) return encoder.encode(kbId);
    scratch[at] = unit;
  }
  return scratch.subarray(0, kbId.length);
}

/** Returns the kbId of a local id. */
export function kbIdAt(columns: KbIdColumn, id: number): string {
  const start = id * columns.stride;
  let end = start + columns.stride;
  while (end > start && columns.kbIds[end - 1] === 0) end--;
  return decoder.decode(columns.kbIds.subarray(start, end));
}

/**
 * For every kbId, the five characters after the common prefix of all of them. Most steps of a search read nothing else.
 */
export interface KbIdHeads {
  /** The length of the common prefix. */
  skip: number;
  heads: Uint32Array;
}

/** Makes the heads of columns whose kbIds ascend. */
export function makeKbIdHeads({ docs, kbIds, stride }: KbIdColumn): KbIdHeads {
  const last = Math.max(0, docs - 1) * stride;
  let skip = 0;
  while (skip < stride && kbIds[skip] === kbIds[last + skip]) skip++;
  const heads = new Uint32Array(docs);
  for (let id = 0; id < docs; id++) heads[id] = headAt(kbIds, id * stride + skip, (id + 1) * stride);
  return { skip, heads };
}

/**
 * Returns the local id of a kbId in ascending columns (segments on disk), or -1. `key` is the kbId as UTF-8; `heads`
 * speed up repeated look-ups.
 */
export function findKbId(columns: KbIdColumn, key: Uint8Array, heads?: KbIdHeads): number {
  if (key.length > columns.stride) return -1;
  let low = 0;
  let high = columns.docs - 1;
  if (heads !== undefined) {
    // The common prefix is compared in full below, for the candidates that remain after the heads were compared.
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

/** kbIds as UTF-8, at any offsets in a byte array. */
export interface KbIdList {
  bytes: Uint8Array;
  starts: Uint32Array;
  ends: Uint32Array;
}

export function listKbIds(keys: readonly Uint8Array[]): KbIdList {
  let end = 0;
  const ends = Uint32Array.from(keys, (key) => (end += key.length));
  return { bytes: Buffer.concat(keys), starts: ends.map((at, i) => at - (keys[i]?.length ?? 0)), ends };
}

/**
 * kbIds to look up, sorted by the five characters after `skip` bytes. `places` holds each one's position in the input.
 */
export interface SortedKbIds {
  skip: number;
  kbIds: KbIdList;
  heads: Uint32Array;
  places: Uint32Array;
}

/** Sorts kbIds, at most two million. */
export function sortKbIds(kbIds: KbIdList, skip: number): SortedKbIds {
  const { bytes, starts, ends } = kbIds;
  const packed = new Float64Array(starts.length);
  for (let i = 0; i < starts.length; i++) {
    packed[i] = headAt(bytes, (starts[i] ?? 0) + skip, ends[i] ?? 0) * PLACES + i;
  }
  packed.sort();
  const heads = new Uint32Array(packed.length);
  const places = new Uint32Array(packed.length);
  for (const [k, entry] of packed.entries()) {
    heads[k] = Math.floor(entry / PLACES);
    places[k] = entry % PLACES;
  }
  return { skip, kbIds, heads, places };
}

/**
 * Calls `visit` with the input position of each of these kbIds that exists in ascending columns. `sorted` must have the
 * same `skip` as the heads. Each look-up starts where the last one ended, so it takes 30 ns; a single look-up takes
 * 300.
 */
export function findKbIds(
  columns: KbIdColumn,
  { heads }: KbIdHeads,
  sorted: SortedKbIds,
  visit: (place: number, id: number) => void,
): void {
  const { kbIds, places } = sorted;
  for (let k = 0, at = 0; k < places.length; k++) {
    const head = sorted.heads[k] ?? 0;
    at = nextHead(heads, head, at);
    for (let id = at; id < heads.length && heads[id] === head; id++) {
      const place = places[k] ?? 0;
      const order = compareKbIdTo(columns, id, kbIds.bytes, kbIds.starts[place], kbIds.ends[place]);
      if (order === 0) visit(place, id);
    }
  }
}

/** Factor that packs a head and a position into one number: a head has 30 bits, and a number 53. */
const PLACES = 2 ** 21;

/** Compares the kbIds of two documents, which may be in different segments. */
export function compareKbIds(a: KbIdColumn, idA: number, b: KbIdColumn, idB: number): number {
  const startB = idB * b.stride;
  return compareKbIdTo(a, idA, b.kbIds.subarray(startB, startB + b.stride));
}

/**
 * Encodes five characters as one number that sorts in the same order. Both searches rely on that order. A character
 * that ids don't use ranks as the next lower one, and the characters after it rank as if they were the last (or the
 * first, if it is below all characters of ids).
 */
function headAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + HEAD_CHARACTERS <= end) {
    const [a, b, c] = [RANKS[bytes[at] ?? 0] ?? 0, RANKS[bytes[at + 1] ?? 0] ?? 0, RANKS[bytes[at + 2] ?? 0] ?? 0];
    const [d, e] = [RANKS[bytes[at + 3] ?? 0] ?? 0, RANKS[bytes[at + 4] ?? 0] ?? 0];
    // The usual case: all five are characters that ids use.
    if ((a | b | c | d | e) <= LAST_RANK) return (a << 24) | (b << 18) | (c << 12) | (d << 6) | e;
  }
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

/**
 * Returns for each byte its rank among the 64 characters that ids use. Another byte has the rank of the next lower one,
 * plus 64.
 */
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

/** Returns the first position whose head is at least this value. */
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

/** Like `firstHead`, for the case that all heads before `from` are smaller: the result is probably close to `from`. */
function nextHead(heads: Uint32Array, head: number, from: number): number {
  const near = Math.min(heads.length, from + NEAR);
  let at = from;
  while (at < near && (heads[at] ?? 0) < head) at++;
  return at === near ? firstHead(heads, head, at) : at;
}

/** This many steps in a row take less time than a binary search. */
const NEAR = 128;

/** Compares a document's kbId with the bytes of `key` from `from` up to `to`. */
function compareKbIdTo(columns: KbIdColumn, id: number, key: Uint8Array, from = 0, to = key.length): number {
  const start = id * columns.stride;
  const width = Math.max(columns.stride, to - from);
  for (let i = 0; i < width; i++) {
    const mine = i < columns.stride ? (columns.kbIds[start + i] ?? 0) : 0;
    const order = mine - (from + i < to ? (key[from + i] ?? 0) : 0);
    if (order !== 0) return order;
  }
  return 0;
}
