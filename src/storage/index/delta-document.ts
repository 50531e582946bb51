import type { AnalyzedText } from "#text/analyzer.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { type ColumnValues, KIND_CODES, NO_STATUS, type Origin, STATUS_CODES } from "./columns.ts";
import { growing, push } from "./growing.ts";
import type { KbIdList } from "./kb-ids.ts";
import { eachHash } from "./term-hash.ts";

/** Values of a changed item that are stored by name. They are parsed when one of them is first read. */
export type DeltaNames = Origin & Pick<IndexedDocument, "people" | "assignees" | "containers" | "fields">;

/** Column values of a changed item, without the values that are stored by name. */
export interface DeltaValues extends ColumnValues {
  aclId: number;
}

/**
 * A row with its columns. Earlier versions wrote the document without hashes; before that, as JSON with values and
 * names in one object.
 */
export interface DeltaColumns {
  document: Uint8Array | string | null;
  terms: string | null;
  weights: Uint8Array | null;
}

/**
 * Encodes a document without its words, little-endian: three dates as doubles (NaN = unknown), seven 32-bit numbers
 * (seq, access, length, bytes of terms, terms, bytes of names, bytes of kbId), kind and status; then a 16-bit hash for
 * each term, the kbId and, as JSON, the names. The documents of many rows are read as one value, one after the other.
 * Source: docs/decisions/0042, docs/decisions/0044.
 */
export function encodeDeltaDocument(seq: number, document: IndexedDocument): Uint8Array {
  const { text, providerId, source, connectorId, people, assignees, containers, fields } = document;
  const kbId = Buffer.from(document.kbId);
  const names = Buffer.from(JSON.stringify([providerId, source, connectorId, people, assignees, containers, fields]));
  const hashBytes = text.weights.length * HASH_BYTES;
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + hashBytes + kbId.length + names.length);
  let at = 0;
  for (const date of [document.updatedAt, document.createdAt, document.dueAt]) {
    at = bytes.writeDoubleLE(date ?? Number.NaN, at);
  }
  const termBytes = Buffer.byteLength(text.terms);
  const numbers = [seq, document.aclId, text.length, termBytes, text.weights.length, names.length, kbId.length];
  for (const number of numbers) at = bytes.writeUInt32LE(number, at);
  at = bytes.writeUInt8(KIND_CODES.indexOf(document.kind) | HAS_HASHES, at);
  at = bytes.writeUInt8(document.status === null ? NO_STATUS : STATUS_CODES.indexOf(document.status), at);
  eachHash(text.terms, text.weights.length, (hash) => (at = bytes.writeUInt16LE(hash, at)));
  kbId.copy(bytes, at);
  names.copy(bytes, at + kbId.length);
  return bytes;
}

/**
 * Documents that are stored one after the other in a byte array, by position. They are read in place, because garbage
 * collection would have to copy an object for each one.
 */
export class DeltaDocuments {
  /** The documents' sequence numbers in the delta. */
  readonly seqs: Uint32Array;
  readonly kbIds: KbIdList;
  /**
   * The hashes of the terms of document `k` are `hashes[hashStarts[k]]` up to `hashes[hashStarts[k + 1]]`, exclusive.
   */
  readonly hashes: Uint16Array;
  readonly hashStarts: Uint32Array;
  /** Documents that an earlier version wrote without hashes. */
  readonly unhashed: readonly number[];
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #starts: Uint32Array;

  constructor(encoded: Uint8Array) {
    this.#bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    this.#view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    this.#starts = this.#findStarts();
    const count = this.#starts.length;
    this.seqs = new Uint32Array(count);
    this.kbIds = { bytes: encoded, starts: new Uint32Array(count), ends: new Uint32Array(count) };
    this.hashStarts = new Uint32Array(count + 1);
    const hashes = new Uint8Array(encoded.length);
    const unhashed: number[] = [];
    for (const [k, at] of this.#starts.entries()) {
      const kbIdAt = at + HEAD_BYTES + hashBytesAt(this.#view, at);
      this.seqs[k] = numberAt(this.#view, at, 0);
      this.kbIds.starts[k] = kbIdAt;
      this.kbIds.ends[k] = kbIdAt + numberAt(this.#view, at, 6);
      if (!hasHashes(this.#view, at)) unhashed.push(k);
      const hashesAt = this.hashStarts[k] ?? 0;
      this.#bytes.copy(hashes, hashesAt * HASH_BYTES, at + HEAD_BYTES, kbIdAt);
      this.hashStarts[k + 1] = hashesAt + (kbIdAt - at - HEAD_BYTES) / HASH_BYTES;
    }
    this.hashes = new Uint16Array(hashes.buffer, 0, this.hashStarts[count]);
    this.unhashed = unhashed;
  }

  get count(): number {
    return this.#starts.length;
  }

  valuesAt(k: number): DeltaValues {
    const at = this.#starts[k] ?? 0;
    const view = this.#view;
    return {
      kbId: this.#bytes.toString("utf8", this.kbIds.starts[k], this.kbIds.ends[k]),
      kind: KIND_CODES[view.getUint8(at + KIND_AT) & ~HAS_HASHES] ?? "file",
      status: STATUS_CODES[view.getUint8(at + KIND_AT + 1)] ?? null,
      aclId: numberAt(view, at, 1),
      length: numberAt(view, at, 2),
      updatedAt: known(view.getFloat64(at, true)),
      createdAt: known(view.getFloat64(at + 8, true)),
      dueAt: known(view.getFloat64(at + 16, true)),
    };
  }

  namesAt(k: number): DeltaNames {
    const start = this.kbIds.ends[k] ?? 0;
    const json = this.#bytes.toString("utf8", start, start + numberAt(this.#view, this.#starts[k] ?? 0, 5));
    // Only `encodeDeltaDocument` writes these names.
    const [providerId, source, connectorId, people, assignees, containers, fields] = JSON.parse(json) as NameList;
    return { providerId, source, connectorId, people, assignees, containers, fields };
  }

  #findStarts(): Uint32Array {
    const starts = growing(new Uint32Array(64));
    for (let at = 0; at < this.#bytes.length;) {
      push(starts, at);
      at += HEAD_BYTES + hashBytesAt(this.#view, at) + numberAt(this.#view, at, 5) + numberAt(this.#view, at, 6);
    }
    return starts.array.slice(0, starts.length);
  }
}

/** Returns the whole document of a row; undefined = the item was removed. */
export function documentOf({ document, terms, weights }: DeltaColumns): IndexedDocument | undefined {
  if (document === null) return undefined;
  const { length, ...rest } = typeof document === "string" ? parseJson(document) : decodeOne(document);
  const text: AnalyzedText = { terms: terms ?? "", weights: weights ?? new Uint8Array(0), length };
  return { ...rest, text };
}

const DATES_BYTES = 3 * 8;
/** Offset of the kind. One bit of that byte means that hashes follow; earlier versions wrote no hashes. */
const KIND_AT = DATES_BYTES + 7 * 4;
const HAS_HASHES = 0x80;
const HEAD_BYTES = KIND_AT + 2;
const HASH_BYTES = 2;

/** Values and names together, as an earlier version wrote them. */
type JsonDocument = DeltaValues & DeltaNames;

function parseJson(document: string): JsonDocument {
  // Only an earlier version of this module wrote this text.
  return JSON.parse(document) as JsonDocument;
}

function decodeOne(encoded: Uint8Array): JsonDocument {
  const documents = new DeltaDocuments(encoded);
  return { ...documents.valuesAt(0), ...documents.namesAt(0) };
}

function hashBytesAt(view: DataView, at: number): number {
  return hasHashes(view, at) ? numberAt(view, at, 4) * HASH_BYTES : 0;
}

function hasHashes(view: DataView, at: number): boolean {
  return (view.getUint8(at + KIND_AT) & HAS_HASHES) !== 0;
}

type NameList = [string, string, string, string[], string[], string[], string[]];

function numberAt(view: DataView, at: number, place: number): number {
  return view.getUint32(at + DATES_BYTES + place * 4, true);
}

function known(date: number): number | null {
  return Number.isNaN(date) ? null : date;
}
