import { isUtf8 } from "node:buffer";
import { asBuffer } from "#core/as-buffer.ts";

/**
 * Ids of files on systems whose file names are bytes. An id is the path below the root, with `/` between segments, and
 * each segment is the unchanged name. A name that isn't valid UTF-8 can't be a text: its segment is `./` followed by
 * the name, with each byte outside a valid sequence as `%E4`, and `%` itself as `%25`. No file is called `.`, so no
 * other name has the same id, and each id names one file. Functions that accept an id also accept a path of plain
 * names.
 */

const BYTES = "./";

/** Returns the id segment of a name. */
export function segmentOf(name: Uint8Array): string {
  const bytes = asBuffer(name);
  return isUtf8(bytes) ? bytes.toString("utf8") : BYTES + written(bytes, IN_SEGMENT).toString("utf8");
}

/** Returns the id of a path of bytes. */
export function pathOf(path: Uint8Array): string {
  const bytes = asBuffer(path);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let id = "";
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceAt(bytes, at);
    at += length;
    if (length > 0) continue;
    const start = bytes.lastIndexOf(SLASH, at) + 1;
    at = endOf(bytes.indexOf(SLASH, at), bytes);
    id += bytes.toString("utf8", from, start) + segmentOf(bytes.subarray(start, at));
    from = at;
  }
  return id + bytes.toString("utf8", from);
}

/**
 * Returns the segments of an id. A segment that `segmentOf` can't produce isn't joined: a `.` in such a segment isn't a
 * name.
 */
export function segmentsOf(id: string): string[] {
  if (!mayHoldBytes(id)) return id.split("/");
  const segments: string[] = [];
  for (const { text, name } of stretchesOf(id)) {
    let from = 0;
    if (name === undefined) {
      for (let slash = text.indexOf("/"); slash !== -1; slash = text.indexOf("/", from)) {
        segments.push(text.slice(from, slash));
        from = slash + 1;
      }
    }
    segments.push(text.slice(from));
  }
  return segments;
}

/** Returns true for the segment of a name that isn't valid UTF-8. */
export function isByteSegment(segment: string): boolean {
  return segment.startsWith(BYTES) && decode(segment) !== undefined;
}

/** Returns true if a name in the path isn't valid UTF-8. */
export function hasByteSegment(id: string): boolean {
  return mayHoldBytes(id) && stretchesOf(id).some(({ name }) => name !== undefined);
}

/** Returns the bytes of a segment's name, or of a whole path. */
export function bytesOf(id: string): Buffer {
  if (!mayHoldBytes(id)) return Buffer.from(id);
  const bytes = stretchesOf(id).flatMap(({ text, name }) => [BETWEEN, name ?? Buffer.from(text)]);
  return Buffer.concat(bytes.slice(1));
}

/**
 * Returns the path that patterns and name rules are matched against. Bytes that aren't valid UTF-8 are U+FFFD, as in a
 * list that contains the same bytes.
 */
export function plainPath(id: string): string {
  if (!mayHoldBytes(id)) return id;
  return stretchesOf(id)
    .map(({ text, name }) => name?.toString("utf8") ?? text)
    .join("/");
}

/** Returns the displayed name. Single bytes are decoded as Windows-1252, the encoding of most such names. */
export function readableSegment(segment: string): string {
  const name = segment.startsWith(BYTES) ? decode(segment) : undefined;
  return name === undefined ? segment : written(name, FOR_PEOPLE).toString("utf8");
}

/** Returns the last segment of an id. */
export function lastSegmentOf(id: string): string {
  const slash = id.lastIndexOf("/");
  const mark = slash - 1;
  const isByteName = isMark(id, mark) && isByteSegment(id.slice(mark));
  return id.slice(isByteName ? mark : slash + 1);
}

/** Returns the id of a name in a folder; `""` is the root. */
export function idIn(folder: string, segment: string): string {
  return folder === "" ? segment : `${folder}/${segment}`;
}

/** Yields the folders that contain a path, the outermost first: `a`, `a/b` for `a/b/c`. */
export function* foldersAbove(id: string): Generator<string, void> {
  for (let end = id.indexOf("/"); end !== -1; end = id.indexOf("/", end + 1)) {
    const last = id.charCodeAt(end - 1);
    // No folder has an empty name.
    if (last !== SLASH && (last !== DOT || !isMark(id, end - 1))) yield id.slice(0, end);
  }
}

/**
 * Returns the path for a URL: every byte that isn't a plain character is escaped. A lone surrogate has no bytes and
 * becomes U+FFFD.
 */
export function inUrl(id: string): string {
  if (PLAIN.test(id)) return id;
  return stretchesOf(id)
    .map(({ text, name }) =>
      written(name ?? Buffer.from(text), name === undefined ? PATH_IN_URL : IN_URL).toString("latin1"),
    )
    .join("/");
}

/** Characters that need no escape. */
const PLAIN = /^[A-Za-z0-9._~/-]*$/;

function mayHoldBytes(id: string): boolean {
  return id.startsWith(BYTES) || id.includes("/./");
}

/** Whether a `.` segment begins at this position. It may belong to the name after it. */
function isMark(id: string, at: number): boolean {
  return id[at] === "." && id[at + 1] === "/" && (at === 0 || id[at - 1] === "/");
}

/**
 * A unit of an id: either plain names with the slashes between them, or a name that isn't valid UTF-8, with its bytes.
 */
interface Stretch {
  text: string;
  name?: Buffer;
}

/** Splits an id into its units, in order. Joined with `/` they are the id. */
function stretchesOf(id: string): Stretch[] {
  const stretches: Stretch[] = [];
  let from = 0;
  for (let mark = id.indexOf(BYTES); mark !== -1; mark = id.indexOf(BYTES, mark + 1)) {
    if (!isMark(id, mark)) continue;
    const end = endOf(id.indexOf("/", mark + BYTES.length), id);
    const text = id.slice(mark, end);
    const name = decode(text);
    if (name === undefined) continue;
    if (mark > from) stretches.push({ text: id.slice(from, mark - 1) });
    stretches.push({ text, name });
    from = end + 1;
  }
  if (from <= id.length) stretches.push({ text: id.slice(from) });
  return stretches;
}

/** Returns the position where something was found, or the end. */
function endOf(found: number, { length }: { length: number }): number {
  return found === -1 ? length : found;
}

/** Returns the name of an escaped segment; undefined if `segmentOf` can't produce this segment. */
function decode(segment: string): Buffer | undefined {
  if (!/^\.\/[^/]*%[0-9A-F]{2}/.test(segment)) return undefined;
  const name = unescaped(segment);
  return !isUtf8(name) && segmentOf(name) === segment ? name : undefined;
}

/** Returns the bytes that an escaped segment represents. */
function unescaped(segment: string): Buffer {
  const name = Buffer.from(segment.slice(BYTES.length));
  let length = 0;
  for (let at = 0; at < name.length; at++) {
    const byte = name[at] ?? 0;
    const escaped = byte === PERCENT ? hexAt(name, at + 1) : -1;
    name[length++] = escaped < 0 ? byte : escaped;
    if (escaped >= 0) at += 2;
  }
  return name.subarray(0, length);
}

const PERCENT = 0x25;
const SLASH = 0x2f;
const DOT = 0x2e;
const BETWEEN = Buffer.from("/");

/** Returns the byte that two uppercase hexadecimal digits represent; -1 if there are no such digits. */
function hexAt(bytes: Buffer, at: number): number {
  const [high, low] = [digitOf(bytes[at]), digitOf(bytes[at + 1])];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x41 && byte <= 0x46 ? byte - 0x37 : -1;
}

/**
 * The escapes for a byte within a character, and for a byte outside any character, each of at most three bytes.
 * Undefined = the byte itself.
 */
interface Writing {
  valid: readonly (Uint8Array | undefined)[];
  other: readonly (Uint8Array | undefined)[];
}

/** Escapes a name byte by byte, in one pass. */
function written(name: Buffer, { valid, other }: Writing): Buffer {
  const out = Buffer.allocUnsafe(name.length * 3);
  let length = 0;
  for (let at = 0; at < name.length;) {
    const characterBytes = sequenceAt(name, at);
    const table = characterBytes > 0 ? valid : other;
    for (const end = at + Math.max(1, characterBytes); at < end; at++) {
      const byte = name[at] ?? 0;
      const bytes = table[byte];
      if (bytes === undefined) out[length++] = byte;
      else for (let i = 0; i < bytes.length; i++) out[length++] = bytes[i] ?? 0;
    }
  }
  return out.subarray(0, length);
}

const BYTE_VALUES = Array.from({ length: 256 }, (_, byte) => byte);
const HEX = BYTE_VALUES.map((byte) => Buffer.from(`%${byte.toString(16).toUpperCase().padStart(2, "0")}`));
const hexUnless = (isPlain: RegExp) =>
  HEX.map((hex, byte) => (isPlain.test(String.fromCharCode(byte)) ? undefined : hex));

/**
 * The characters for bytes from 0x80 to 0x9f in Windows-1252. Above 0x9f, Windows-1252 equals Latin-1. Node's own
 * decoder reads these bytes as control characters.
 */
const WESTERN = "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ";

const IN_SEGMENT: Writing = { valid: hexUnless(/[^%]/), other: HEX };
const IN_URL: Writing = { valid: hexUnless(/[\w.!~*'()-]/), other: HEX };
const PATH_IN_URL: Writing = { valid: hexUnless(/[\w.!~*'()/-]/), other: HEX };
const FOR_PEOPLE: Writing = {
  valid: [],
  other: BYTE_VALUES.map((byte) => Buffer.from(WESTERN[byte - 0x80] ?? String.fromCharCode(byte))),
};

/**
 * Returns the number of bytes of the character that begins at this position; 0 if no character begins there. Source:
 * RFC 3629, section 4.
 */
function sequenceAt(name: Buffer, at: number): number {
  const first = name[at] ?? 0xff;
  if (first < 0x80) return 1;
  const second = name[at + 1] ?? 0;
  if (first < 0xc2 || first > 0xf4 || !isNext(second)) return 0;
  if (first < 0xe0) return 2;
  const isTooShort = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90);
  const isNone = (first === 0xed && second > 0x9f) || (first === 0xf4 && second > 0x8f);
  if (isTooShort || isNone || !isNext(name[at + 2] ?? 0)) return 0;
  if (first < 0xf0) return 3;
  return isNext(name[at + 3] ?? 0) ? 4 : 0;
}

function isNext(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
