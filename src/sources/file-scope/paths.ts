import { isUtf8 } from "node:buffer";

/**
 * Ids of files whose systems name them by bytes. An id is the path below the root, `/` between segments, each segment as
 * its name is. A name that is no UTF-8 has no such text: its segment is `./` and the name with each byte that is in no
 * valid sequence as `%E4`, `%` itself as `%25`. No file is called `.`, so no other name has the same id, and each id
 * names one file. Functions that take an id take a path with plain names alone, too.
 */

const BYTES = "./";

/** The segment of a name. */
export function segmentOf(name: Uint8Array): string {
  const bytes = Buffer.from(name.buffer, name.byteOffset, name.byteLength);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = BYTES;
  for (const { valid, bytes: piece } of piecesOf(bytes)) text += valid ? piece.replaceAll("%", "%25") : inHex(piece);
  return text;
}

/** The id of a path of bytes. */
export function pathOf(path: Uint8Array): string {
  const bytes = Buffer.from(path.buffer, path.byteOffset, path.byteLength);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const names = bytes.toString("latin1").split("/");
  return names.map((name) => (isAscii(name) ? name : segmentOf(Buffer.from(name, "latin1")))).join("/");
}

/** The segments of an id. What is no segment as `segmentOf` makes it is not put together: a `.` among them is no name. */
export function segmentsOf(id: string): string[] {
  const parts = id.split("/");
  if (!mayHoldBytes(id)) return parts;
  const segments: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const [part = "", next] = [parts[i], parts[i + 1]];
    const together = part === "." && next !== undefined ? `${BYTES}${next}` : undefined;
    const isOne = together !== undefined && decode(together) !== undefined;
    segments.push(isOne ? together : part);
    if (isOne) i += 1;
  }
  return segments;
}

/** True for the segment of a name that is no UTF-8. */
export function isByteSegment(segment: string): boolean {
  return segment.startsWith(BYTES) && decode(segment) !== undefined;
}

/** True when a name on the way is no UTF-8. */
export function hasByteSegment(id: string): boolean {
  return mayHoldBytes(id) && segmentsOf(id).some(isEscaped);
}

/** The bytes of a segment's name, or of a whole path. */
export function bytesOf(id: string): Buffer {
  if (!mayHoldBytes(id)) return Buffer.from(id);
  const inLatin1 = (segment: string) => {
    if (isEscaped(segment)) return unescaped(segment).toString("latin1");
    return isAscii(segment) ? segment : Buffer.from(segment).toString("latin1");
  };
  return Buffer.from(segmentsOf(id).map(inLatin1).join("/"), "latin1");
}

/** The path that patterns and rules of names are asked about: what is no UTF-8 is U+FFFD, as in a list that holds the same bytes. */
export function plainPath(id: string): string {
  if (!mayHoldBytes(id)) return id;
  const plain = (segment: string) => (isEscaped(segment) ? unescaped(segment).toString("utf8") : segment);
  return segmentsOf(id).map(plain).join("/");
}

/** The name that people read: single bytes as in Windows-1252, which most such names are in. */
export function readableSegment(segment: string): string {
  const name = segment.startsWith(BYTES) ? decode(segment) : undefined;
  if (name === undefined) return segment;
  let text = "";
  for (const { valid, bytes } of piecesOf(name))
    text += valid ? bytes : bytes.replace(/[\x80-\x9f]/g, (byte) => WESTERN[byte.charCodeAt(0) - 0x80] ?? byte);
  return text;
}

/** The last segment of an id. */
export function lastSegmentOf(id: string): string {
  const name = id.slice(id.lastIndexOf("/") + 1);
  return mayHoldBytes(id) ? (segmentsOf(id).at(-1) ?? name) : name;
}

/** The id of what stands in a folder; `""` is the root. */
export function idIn(folder: string, segment: string): string {
  return folder === "" ? segment : `${folder}/${segment}`;
}

/** The folders that a path lies in, the outermost first: `a`, `a/b` of `a/b/c`. */
export function* foldersAbove(id: string): Generator<string, void> {
  for (let end = id.indexOf("/"); end !== -1; end = id.indexOf("/", end + 1)) {
    const isMark = id[end - 1] === "." && (end === 1 || id[end - 2] === "/");
    if (!isMark) yield id.slice(0, end);
  }
}

/** The path in a URL: every byte beyond the plain ones escaped; a lone surrogate has no bytes and is U+FFFD. */
export function inUrl(id: string): string {
  const escaped = (segment: string) => {
    if (PLAIN.test(segment)) return segment;
    if (!isEscaped(segment)) return encodeURIComponent(segment.replace(/\p{Surrogate}/gu, "\ufffd"));
    const pieces = [...piecesOf(unescaped(segment))];
    return pieces.map(({ valid, bytes }) => (valid ? encodeURIComponent(bytes) : inHex(bytes))).join("");
  };
  return segmentsOf(id).map(escaped).join("/");
}

/** Nothing to escape. */
const PLAIN = /^[A-Za-z0-9._~-]*$/;

/** Bytes from 0x80 to 0x9f in Windows-1252; beyond them it is Latin-1. Node's own decoder reads them as control characters. */
const WESTERN = "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ";

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- every byte of ASCII
  return /^[\0-\x7f]*$/.test(text);
}

function mayHoldBytes(id: string): boolean {
  return id.startsWith(BYTES) || id.includes("/./");
}

/** Of a segment that `segmentsOf` gave. */
function isEscaped(segment: string): boolean {
  return segment.startsWith(BYTES);
}

/** The name of an escaped segment; undefined when `segmentOf` makes no such segment. */
function decode(segment: string): Buffer | undefined {
  if (!/^\.\/[^/]*%[0-9A-F]{2}/.test(segment)) return undefined;
  const name = unescaped(segment);
  return !isUtf8(name) && segmentOf(name) === segment ? name : undefined;
}

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

/** The byte that two capital hexadecimal digits stand for; -1 when they aren't there. */
function hexAt(bytes: Buffer, at: number): number {
  const [high, low] = [digitOf(bytes[at]), digitOf(bytes[at + 1])];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x41 && byte <= 0x46 ? byte - 0x37 : -1;
}

/** The name in order: pieces of text, and of bytes that are in no character, as Latin-1. */
function* piecesOf(name: Buffer): Generator<{ valid: boolean; bytes: string }, void> {
  for (let from = 0; from < name.length;) {
    const valid = sequenceAt(name, from) > 0;
    let to = from;
    for (let length = sequenceAt(name, to); to < name.length && length > 0 === valid; length = sequenceAt(name, to))
      to += valid ? length : 1;
    yield { valid, bytes: name.toString(valid ? "utf8" : "latin1", from, to) };
    from = to;
  }
}

/** The bytes of the character that begins here; 0 when none does. Source: RFC 3629, section 4. */
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

function inHex(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("hex").toUpperCase().replace(/../g, "%$&");
}
