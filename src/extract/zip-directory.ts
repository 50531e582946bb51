import { crc32 } from "node:zlib";
import { nameDecoder } from "./archive-names.ts";
import { twoDigits } from "./iso-time.ts";
import { ZipError } from "./zip-error.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** An entry's data in the central directory. */
export interface DirectoryRecord {
  name: string;
  size: number;
  packedSize: number;
  method: number;
  isEncrypted: boolean;
  /** Offset of the entry's local header, as stated in the directory. */
  offset: number;
  modified?: string;
}

/**
 * Reads the records of a ZIP archive's central directory, in order. Local headers are used only to find where data begins, because readers that trust
 * different headers would see different archives.
 *
 * @throws ZipError `failed` when the directory is missing or broken, `too_large` when it has more than `maxEntries`
 */
export function readDirectory(bytes: Uint8Array, maxEntries: number): DirectoryRecord[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { start, end, count, shift } = findDirectory(view);
  if (count > maxEntries) throw new ZipError("too_large", `the archive has more than ${maxEntries} entries`);
  const records: RawRecord[] = [];
  let at = start;
  while (at + 46 <= end && view.getUint32(at, true) === RECORD) {
    if (records.length >= maxEntries)
      throw new ZipError("too_large", `the archive has more than ${maxEntries} entries`);
    const nameEnd = at + 46 + view.getUint16(at + 28, true);
    const extraEnd = nameEnd + view.getUint16(at + 30, true);
    if (extraEnd > end) throw new ZipError("failed", "the archive's directory is broken");
    records.push(readRecord(bytes, view, at, { nameEnd, extraEnd, shift }));
    at = extraEnd + view.getUint16(at + 32, true);
  }
  if (records.length < count) throw new ZipError("failed", "the archive's directory is broken");
  return withNames(records);
}

/**
 * Finds where the data of each record begins; undefined for a record without a local header.
 *
 * @throws ZipError `failed` when entries share bytes, or are outside the archive
 */
export function placeEntries(bytes: Uint8Array, records: readonly DirectoryRecord[]): (number | undefined)[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = records.map(({ offset }) => {
    if (offset + 30 > bytes.length || view.getUint32(offset, true) !== LOCAL) return undefined;
    return offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  });
  const stretches = records
    .flatMap(({ offset, packedSize }, index) => {
      const start = starts[index];
      return start === undefined ? [] : [{ from: offset, to: start + packedSize }];
    })
    .sort((a, b) => a.from - b.from);
  let last = 0;
  for (const { from, to } of stretches) {
    if (from < last) throw new ZipError("failed", "entries of the archive share the same bytes, as in a bomb");
    if (to > bytes.length) throw new ZipError("failed", "the archive is cut off");
    last = to;
  }
  return starts;
}

const LOCAL = 0x04034b50;
const RECORD = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const NONE_16 = 0xffff;
const NONE_32 = 0xffffffff;

interface Directory {
  start: number;
  end: number;
  count: number;
  /** The number to add to offsets: the number of bytes that were put before the archive. */
  shift: number;
}

function findDirectory(view: DataView): Directory {
  // The end record is followed by a comment of at most 65,535 bytes.
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 22 - NONE_16); at--) {
    if (view.getUint32(at, true) !== END) continue;
    const found = readEnd(view, at);
    if (found !== undefined) return found;
  }
  throw new ZipError("failed", "the archive has no directory at its end: it is cut off, or isn't a ZIP file");
}

function readEnd(view: DataView, at: number): Directory | undefined {
  let count = view.getUint16(at + 10, true);
  let size = view.getUint32(at + 12, true);
  let offset = view.getUint32(at + 16, true);
  let end = at;
  if (count === NONE_16 || size === NONE_32 || offset === NONE_32) {
    const at64 = findEnd64(view, at);
    if (at64 !== undefined) {
      count = readUint64(view, at64 + 32);
      size = readUint64(view, at64 + 40);
      offset = readUint64(view, at64 + 48);
      end = at64;
    }
  }
  const start = end - size;
  const shift = start - offset;
  // A directory is invalid if it would begin before the archive, or if its offsets point past it.
  if (start < 0 || shift < 0) return undefined;
  if (size > 0 && (size < 46 || view.getUint32(start, true) !== RECORD)) return undefined;
  return { start, end, count, shift };
}

function findEnd64(view: DataView, end: number): number | undefined {
  const locator = end - 20;
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR_64) return undefined;
  const at = readUint64(view, locator + 8);
  return at + 56 <= locator && view.getUint32(at, true) === END_64 ? at : undefined;
}

/** Reads eight bytes as a number. A value larger than any file stays larger than any file. */
function readUint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function readRecord(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  { nameEnd, extraEnd, shift }: { nameEnd: number; extraEnd: number; shift: number },
): RawRecord {
  const flags = view.getUint16(at + 8, true);
  const [size, packedSize, offset] = readSizes(view, at, nameEnd, extraEnd);
  const name = bytes.subarray(at + 46, nameEnd);
  const rawName = asBuffer(name);
  const unicodeName =
    (flags & UTF8_NAME) === 0 ? readUnicodeName(bytes.subarray(nameEnd, extraEnd), rawName) : undefined;
  const record: RawRecord = {
    rawName: unicodeName ?? rawName,
    size,
    packedSize,
    method: view.getUint16(at + 10, true),
    isEncrypted: (flags & ENCRYPTED) !== 0,
    offset: offset + shift,
  };
  const modified = readDosTime(view.getUint16(at + 14, true), view.getUint16(at + 12, true));
  if (modified !== undefined) record.modified = modified;
  return record;
}

const ENCRYPTED = 1;
const UTF8_NAME = 0x800;

/** Reads uncompressed size, compressed size and offset; from the extra field of large archives if the short fields refer to it. */
function readSizes(view: DataView, at: number, extraStart: number, extraEnd: number): [number, number, number] {
  const sizes: [number, number, number] = [
    view.getUint32(at + 24, true),
    view.getUint32(at + 20, true),
    view.getUint32(at + 42, true),
  ];
  if (!sizes.includes(NONE_32)) return sizes;
  for (let field = extraStart; field + 4 <= extraEnd;) {
    const end = field + 4 + view.getUint16(field + 2, true);
    if (view.getUint16(field, true) === 1) {
      let from = field + 4;
      sizes.forEach((value, index) => {
        if (value !== NONE_32 || from + 8 > Math.min(end, extraEnd)) return;
        sizes[index] = readUint64(view, from);
        from += 8;
      });
      return sizes;
    }
    field = end;
  }
  return sizes;
}

/** A record whose name isn't decoded yet. */
interface RawRecord extends Omit<DirectoryRecord, "name"> {
  rawName: Buffer;
}

/** Decodes the names. A backslash separates folders only if it is a character by itself: in Shift_JIS it can be the second byte of a character. */
function withNames(records: readonly RawRecord[]): DirectoryRecord[] {
  const decode = nameDecoder(records.map(({ rawName }) => rawName));
  return records.map(({ rawName, ...rest }) => ({ ...rest, name: decode(rawName).replaceAll("\\", "/") }));
}

/** Returns the name in the Unicode path field if that field belongs to this name. The field is described in section 4.6.9 of PKWARE's APPNOTE.TXT. */
function readUnicodeName(extra: Uint8Array, rawName: Buffer): Buffer | undefined {
  const fields = asBuffer(extra);
  for (let at = 0; at + 4 <= fields.length;) {
    const end = at + 4 + fields.readUInt16LE(at + 2);
    const isOne = fields.readUInt16LE(at) === UNICODE_PATH && end <= fields.length && end >= at + 9;
    if (isOne && fields[at + 4] === 1 && fields.readUInt32LE(at + 5) === crc32(rawName))
      return fields.subarray(at + 9, end);
    at = end;
  }
  return undefined;
}

const UNICODE_PATH = 0x7075;

function readDosTime(date: number, time: number): string | undefined {
  const month = (date >> 5) & 15;
  const day = date & 31;
  if (month < 1 || month > 12 || day < 1) return undefined;
  const clock = [time >> 11, (time >> 5) & 63, (time & 31) * 2];
  return `${1980 + (date >> 9)}-${twoDigits(month)}-${twoDigits(day)}T${clock.map(twoDigits).join(":")}`;
}
