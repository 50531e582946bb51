import type { AnalyzedText } from "#text/analyzer.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import { type ColumnValues, encodeKbId, KIND_CODES, NO_STATUS, type Origin, STATUS_CODES } from "./columns.ts";

/** What of a changed item stands under names: parsed when somebody asks for one of them. */
export type DeltaNames = Origin & Pick<IndexedDocument, "people" | "assignees" | "containers" | "fields">;

/** Everything about a changed item but its words. */
export interface DeltaDocument extends ColumnValues {
  aclId: number;
  /** As they were read, or bytes that `namesOf` reads. */
  names: DeltaNames | Uint8Array;
}

/** A changed item; `document` undefined = removed. */
export interface DeltaEntry {
  seq: number;
  kbId: string;
  /** The kbId as UTF-8. */
  key: Uint8Array;
  document: DeltaDocument | undefined;
  /** Bytes of its terms in UTF-8, and how many they are. */
  termBytes: number;
  termCount: number;
}

/** A row as its columns hold it. A former version wrote its document as JSON, the values and names of it in one object. */
export interface DeltaColumns {
  document: Uint8Array | string | null;
  terms: string | null;
  weights: Uint8Array | null;
}

/**
 * A document without its words as bytes, little-endian: three dates as doubles (NaN = unknown), seven numbers of 32
 * bits (seq, access, length, bytes of terms, terms, bytes of names, bytes of kbId), kind and status; then the kbId and, as
 * JSON, the names. Documents of many rows are read from one value, one after the other.
 * Source: docs/decisions/0042.
 */
export function encodeDeltaDocument(seq: number, document: IndexedDocument): Uint8Array {
  const { text, providerId, source, connectorId, people, assignees, containers, fields } = document;
  const kbId = Buffer.from(document.kbId);
  const names = Buffer.from(JSON.stringify([providerId, source, connectorId, people, assignees, containers, fields]));
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + kbId.length + names.length);
  let at = 0;
  for (const date of [document.updatedAt, document.createdAt, document.dueAt]) {
    at = bytes.writeDoubleLE(date ?? Number.NaN, at);
  }
  const termBytes = Buffer.byteLength(text.terms);
  const numbers = [seq, document.aclId, text.length, termBytes, text.weights.length, names.length, kbId.length];
  for (const number of numbers) at = bytes.writeUInt32LE(number, at);
  at = bytes.writeUInt8(KIND_CODES.indexOf(document.kind), at);
  at = bytes.writeUInt8(document.status === null ? NO_STATUS : STATUS_CODES.indexOf(document.status), at);
  kbId.copy(bytes, at);
  names.copy(bytes, at + kbId.length);
  return bytes;
}

/** The documents that stand in these bytes, one after the other. */
export function decodeDeltaDocuments(encoded: Uint8Array): DeltaEntry[] {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const entries: DeltaEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const kbIdAt = at + HEAD_BYTES;
    const namesAt = kbIdAt + numberAt(view, at, 6);
    const end = namesAt + numberAt(view, at, 5);
    const kbId = bytes.toString("utf8", kbIdAt, namesAt);
    const document = {
      kbId,
      kind: KIND_CODES[view.getUint8(kbIdAt - 2)] ?? "file",
      status: STATUS_CODES[view.getUint8(kbIdAt - 1)] ?? null,
      aclId: numberAt(view, at, 1),
      length: numberAt(view, at, 2),
      updatedAt: known(view.getFloat64(at, true)),
      createdAt: known(view.getFloat64(at + 8, true)),
      dueAt: known(view.getFloat64(at + 16, true)),
      names: encoded.subarray(namesAt, end),
    };
    entries.push({
      seq: numberAt(view, at, 0),
      kbId,
      key: encoded.subarray(kbIdAt, namesAt),
      document,
      termBytes: numberAt(view, at, 3),
      termCount: numberAt(view, at, 4),
    });
    at = end;
  }
  return entries;
}

/** The names of a document; parsed now if they are bytes. */
export function namesOf({ names }: Pick<DeltaDocument, "names">): DeltaNames {
  if (!(names instanceof Uint8Array)) return names;
  const json = Buffer.from(names.buffer, names.byteOffset, names.byteLength).toString("utf8");
  // Written by `encodeDeltaDocument` and by nothing else.
  const [providerId, source, connectorId, people, assignees, containers, fields] = JSON.parse(json) as NameList;
  return { providerId, source, connectorId, people, assignees, containers, fields };
}

/** The entry of a document that a former version wrote as JSON, or of an item that was removed (null). */
export function makeDeltaEntry(
  seq: number,
  kbId: string,
  row: { document: string | null; termBytes: number | null; termCount: number | null },
): DeltaEntry {
  const entry = {
    seq,
    kbId,
    key: encodeKbId(kbId).slice(),
    termBytes: row.termBytes ?? 0,
    termCount: row.termCount ?? 0,
  };
  if (row.document === null) return { ...entry, document: undefined };
  const document = parseJson(row.document);
  return { ...entry, document: { ...document, names: document } };
}

/** The whole document of a row; undefined = removed. */
export function documentOf({ document, terms, weights }: DeltaColumns): IndexedDocument | undefined {
  if (document === null) return undefined;
  const { length, ...rest } = typeof document === "string" ? parseJson(document) : decodeOne(document);
  const text: AnalyzedText = { terms: terms ?? "", weights: weights ?? new Uint8Array(0), length };
  return { ...rest, text };
}

const DATES_BYTES = 3 * 8;
const HEAD_BYTES = DATES_BYTES + 7 * 4 + 2;

/** Values and names together, as a former version wrote them. */
type JsonDocument = Omit<DeltaDocument, "names"> & DeltaNames;

function parseJson(document: string): JsonDocument {
  // Written by a former version of this module and by nothing else.
  return JSON.parse(document) as JsonDocument;
}

function decodeOne(encoded: Uint8Array): JsonDocument {
  const document = decodeDeltaDocuments(encoded)[0]?.document;
  if (document === undefined) throw new Error("A changed item without a document");
  const { names: _, ...values } = document;
  return { ...values, ...namesOf(document) };
}

type NameList = [string, string, string, string[], string[], string[], string[]];

function numberAt(view: DataView, at: number, place: number): number {
  return view.getUint32(at + DATES_BYTES + place * 4, true);
}

function known(date: number): number | null {
  return Number.isNaN(date) ? null : date;
}
