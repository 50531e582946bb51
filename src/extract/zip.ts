import { Inflate } from "fflate";
import { type DirectoryRecord, placeEntries, readDirectory } from "./zip-directory.ts";
import { ZipError } from "./zip-error.ts";

export interface ZipCaps {
  /** Maximum number of entries in the directory. */
  maxEntries: number;
  /** Maximum number of bytes that all reads together may decompress. */
  maxUnpackedBytes: number;
  /** Maximum number of decompressed bytes per compressed byte, applied to entries of more than 10 MiB. Deflate itself can't exceed 1,032. */
  maxRatio: number;
}

/** The caps for documents: sheets of 200 MB exist, at ratios up to 150. */
export const DOCUMENT_ZIP_CAPS: ZipCaps = { maxEntries: 20_000, maxUnpackedBytes: 512 * 1_048_576, maxRatio: 300 };

export interface ZipEntry {
  /** The name with `/` between folders, otherwise unchanged. It may contain `..` and need not be a path at all. */
  name: string;
  /** Number of decompressed bytes, as the directory claims. */
  size: number;
  /** Number of bytes in the archive. */
  packedSize: number;
  isEncrypted: boolean;
  isFolder: boolean;
  /** Local time in the form `2024-01-31T12:00:00`; absent when the archive has no plausible time. */
  modified?: string;
}

export type Zip = ReturnType<typeof openZip>;

/**
 * Reads the directory of a ZIP archive; nothing is decompressed yet. It is protected against ZIP bombs: the number of entries, the actual
 * decompressed size (never only the claimed size) and the ratio are limited, and no two entries may share bytes ("a better zip bomb").
 *
 * @throws ZipError `failed` when there is no valid directory, `too_large` when it has too many entries
 */
export function openZip(bytes: Uint8Array, caps: ZipCaps) {
  const records = readDirectory(bytes, caps.maxEntries);
  const starts = placeEntries(bytes, records);
  const entries = records.map(toEntry);
  const places = new Map(entries.map((entry, index) => [entry, { ...at(records, index), dataStart: starts[index] }]));
  const byName = new Map<string, ZipEntry>();
  const byFoldedName = new Map<string, ZipEntry>();
  for (const entry of entries) {
    if (!byName.has(entry.name)) byName.set(entry.name, entry);
    const folded = entry.name.toLowerCase();
    if (!byFoldedName.has(folded)) byFoldedName.set(folded, entry);
  }
  let unpackedBytes = 0;

  const find = (name: string) => byName.get(name) ?? byFoldedName.get(name.toLowerCase());
  const stream = (wanted: ZipEntry | string, onPiece: (piece: Uint8Array) => boolean | void) => {
    const entry = typeof wanted === "string" ? find(wanted) : wanted;
    const place = entry === undefined ? undefined : places.get(entry);
    if (entry === undefined || place === undefined)
      throw new ZipError("failed", `the archive has no ${String(wanted)}`);
    if (entry.isEncrypted) throw new ZipError("encrypted", `${shown(entry.name)} is encrypted`);
    if (place.dataStart === undefined)
      throw new ZipError("failed", `${shown(entry.name)} is not where the directory says`);
    const packed = bytes.subarray(place.dataStart, place.dataStart + entry.packedSize);
    let size = 0;
    unpack(packed, place.method, entry.name, (piece) => {
      size += piece.length;
      unpackedBytes += piece.length;
      if (unpackedBytes > caps.maxUnpackedBytes)
        throw new ZipError("too_large", `the archive unpacks to more than ${caps.maxUnpackedBytes} bytes`);
      if (size > RATIO_FREE_BYTES && size > packed.length * caps.maxRatio)
        throw new ZipError("too_large", `${shown(entry.name)} unpacks to more than ${caps.maxRatio} times its size`);
      return onPiece(piece);
    });
  };
  const read = (entry: ZipEntry | string, maxBytes: number) => {
    const pieces: Uint8Array[] = [];
    let size = 0;
    stream(entry, (piece) => {
      size += piece.length;
      if (size > maxBytes) throw new ZipError("too_large", `${shown(entry)} unpacks to more than ${maxBytes} bytes`);
      pieces.push(new Uint8Array(piece));
    });
    return Buffer.concat(pieces, size);
  };
  return {
    /** The entries in the directory's order. Names may occur twice. */
    entries /** Returns the first entry of that name; otherwise the first whose name is equal when case is ignored. */,
    find /**
     * Returns a copy of the entry's bytes.
     *
     * @throws ZipError `too_large` above `maxBytes` or the archive's caps, `encrypted`, `failed` for broken data
     */,
    read /**
     * Passes on the entry's bytes in chunks of at most 16 MiB (usually 150 kB), for entries that should never be completely in memory. `onPiece` returns
     * false to stop. A chunk may be a view that is valid only until the next chunk.
     *
     * @throws ZipError as `read`, and errors of `onPiece`
     */,
    stream,
  };
}

/** Whether the bytes begin like a ZIP archive, which may be empty. */
export function looksLikeZip(bytes: Uint8Array): boolean {
  const [p, k, third, fourth] = bytes;
  return p === 0x50 && k === 0x4b && ((third === 3 && fourth === 4) || (third === 5 && fourth === 6));
}

const RATIO_FREE_BYTES = 10 * 1_048_576;
/** Number of compressed bytes per step; deflate expands them to at most 16 MiB. With half of it, decompression would take a third longer. */
const STEP_BYTES = 16_384;
const STORED = 0;
const DEFLATED = 8;

function unpack(
  packed: Uint8Array,
  method: number,
  name: string,
  onPiece: (piece: Uint8Array) => boolean | void,
): void {
  if (method !== STORED && method !== DEFLATED)
    throw new ZipError("failed", `${shown(name)} is packed by method ${method}, which can't be read`);
  if (method === STORED) {
    for (let from = 0; from < packed.length; from += STORED_STEP_BYTES)
      if (onPiece(packed.subarray(from, from + STORED_STEP_BYTES)) === false) return;
    return;
  }
  const state = { isDone: false };
  const inflate = new Inflate((piece) => {
    if (!state.isDone && piece.length > 0 && onPiece(piece) === false) state.isDone = true;
  });
  for (let from = 0; from < packed.length && !state.isDone; from += STEP_BYTES) {
    const end = from + STEP_BYTES;
    push(inflate, packed.subarray(from, end), end >= packed.length, name);
  }
}

const STORED_STEP_BYTES = 1_048_576;

function push(inflate: Inflate, piece: Uint8Array, isLast: boolean, name: string): void {
  try {
    inflate.push(piece, isLast);
  } catch (error) {
    // fflate marks its own errors with a number; errors of the receiver are rethrown unchanged.
    const isOwn = error instanceof Error && "code" in error && typeof error.code === "number";
    if (!isOwn) throw error;
    throw new ZipError("failed", `${shown(name)} is broken (${error.message})`);
  }
}

function toEntry(record: DirectoryRecord): ZipEntry {
  const { name, size, packedSize, isEncrypted, modified } = record;
  const entry: ZipEntry = { name, size, packedSize, isEncrypted, isFolder: name.endsWith("/") };
  if (modified !== undefined) entry.modified = modified;
  return entry;
}

function at(records: readonly DirectoryRecord[], index: number): DirectoryRecord {
  const record = records[index];
  if (record === undefined) throw new RangeError("an entry without its record");
  return record;
}

/** Returns a name for a message. It is the archive's own text, so it is truncated. */
function shown(entry: ZipEntry | string): string {
  const name = typeof entry === "string" ? entry : entry.name;
  return `"${name.slice(0, 100)}"`;
}
