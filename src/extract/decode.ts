import { isUtf8 } from "node:buffer";
import chardet from "chardet";
import iconv from "iconv-lite";
import type { DecodedText } from "./format.ts";

/** Statistics of an encoding settle long before this many bytes; chardet takes 3 ms for them. */
const SAMPLE_BYTES = 32_768;

/**
 * Bytes as text: byte order mark, then valid UTF-8, then the zero-byte patterns of UTF-16 and UTF-32, then what the
 * document declares, then mostly-valid UTF-8, then statistics (Latin-x, Shift_JIS, GB18030, KOI8-R …).
 *
 * @param maxLength text is wanted up to this many UTF-16 code units; bytes far beyond are not decoded
 * @returns undefined when the bytes are no text in any encoding
 */
export function decodeText(bytes: Uint8Array, maxLength: number, declared?: string): DecodedText | undefined {
  // No encoding takes more than four bytes for a code unit.
  const maxBytes = maxLength * 4;
  const isCut = bytes.length > maxBytes;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxBytes));
  const encoding = findEncoding(buffer, isCut, declared);
  if (encoding === undefined) return undefined;
  // Most bytes are one code unit each: where the first are as many as are taken, the others need not be decoded.
  const head = encoding === "utf-8" && buffer.length > maxLength ? buffer.toString("utf8", 0, maxLength) : "";
  if (head.length >= maxLength && maxLength > 0) return { text: head, encoding, isCut: true };
  const text = decodeAs(buffer, encoding);
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, encoding, isCut };
}

/** True when the first bytes are plain text in ASCII or valid UTF-8: no control characters that text does not have. */
export function looksLikeUtf8Text(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, 4_096);
  for (const byte of sample) if (byte < 0x20 && !TEXT_CONTROLS.has(byte)) return false;
  return isUtf8(bytes.length > sample.length ? trimTail(sample) : sample);
}

/** Tab, line feed, vertical tab, form feed, carriage return, escape (terminal logs). */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

function decodeAs(buffer: Buffer, encoding: string): string {
  if (encoding === "utf-8") return buffer.toString("utf8");
  // iconv-lite has no stateful encodings; the platform's decoder has this one.
  if (encoding === ISO_2022_JP) return new TextDecoder(ISO_2022_JP).decode(buffer);
  return iconv.decode(buffer, encoding, { stripBOM: true });
}

const ISO_2022_JP = "iso-2022-jp";

function findEncoding(buffer: Buffer, isCut: boolean, declared: string | undefined): string | undefined {
  const marked = fromByteOrderMark(buffer);
  if (marked !== undefined) return marked;
  const sample = buffer.subarray(0, SAMPLE_BYTES);
  if (sample.includes(0)) return fromZeroPattern(sample);
  // ISO-2022-JP is seven-bit, so valid UTF-8, and shows itself by its escape sequences.
  if (sample.includes("\x1b$B") || sample.includes("\x1b$@")) return ISO_2022_JP;
  if (isUtf8(isCut ? trimTail(buffer) : buffer)) return hasOnlyTextControls(sample) ? "utf-8" : undefined;
  if (!hasOnlyTextControls(sample)) return undefined;
  if (declared !== undefined && iconv.encodingExists(declared)) return declared.toLowerCase();
  return isMostlyUtf8(buffer) ? "utf-8" : fromStatistics(buffer);
}

function fromByteOrderMark(buffer: Buffer): string | undefined {
  const [a, b, c, d] = buffer;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? "utf-32be" : undefined;
}

/**
 * Text of mostly Latin letters in UTF-16 has zeros at every second byte and nowhere else; in UTF-32 three of four.
 * Without a mark nothing else tells (CJK in UTF-16 without a mark is not recognised).
 */
function fromZeroPattern(sample: Buffer): string | undefined {
  if (sample.length < 4) return undefined;
  const zeros = [0, 0, 0, 0];
  const quads = Math.floor(sample.length / 4);
  for (let i = 0; i < quads * 4; i++) if (sample[i] === 0) zeros[i & 3] = (zeros[i & 3] ?? 0) + 1;
  const [a, b, c, d] = zeros.map((count) => count / quads);
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  if (b > 0.95 && c > 0.95 && d > 0.95 && a < 0.05) return "utf-32le";
  if (a > 0.95 && b > 0.95 && c > 0.95 && d < 0.05) return "utf-32be";
  const guess = b + d > 1 && a + c < 0.1 ? "utf-16le" : a + c > 1 && b + d < 0.1 ? "utf-16be" : undefined;
  // A table of small numbers has the same zeros; its other bytes are not letters.
  return guess !== undefined && hasOnlyTextControls(Buffer.from(iconv.decode(sample, guess))) ? guess : undefined;
}

/** At most one, and 1 in 200, control characters that text does not have. */
function hasOnlyTextControls(sample: Buffer): boolean {
  let strange = 0;
  for (const byte of sample) if (byte < 0x20 && !TEXT_CONTROLS.has(byte)) strange++;
  return strange <= 1 + sample.length / 200;
}

/** UTF-8 with a few broken places: nineteen of twenty non-ASCII characters are valid. */
function isMostlyUtf8(buffer: Buffer): boolean {
  const text = sampleAroundNonAscii(buffer).toString("utf8");
  let broken = 0;
  let valid = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0xfffd) broken++;
    else if (unit > 0x7f) valid++;
  }
  return valid > 0 && broken * 20 <= valid;
}

function fromStatistics(buffer: Buffer): string | undefined {
  const sample = sampleAroundNonAscii(buffer);
  for (const { name, confidence } of chardet.analyse(sample)) {
    if (name === "UTF-8" || confidence < 10 || !iconv.encodingExists(name)) continue;
    return name.toLowerCase();
  }
  // A short or odd text: Windows-1252 has a letter for almost every byte, and its ASCII part is right in any case.
  return "windows-1252";
}

/** A sample that starts shortly before the first non-ASCII byte: a licence header in English tells nothing. */
function sampleAroundNonAscii(buffer: Buffer): Buffer {
  const first = buffer.findIndex((byte) => byte > 0x7f);
  const start = Math.max(0, first - 256);
  return buffer.subarray(start, start + SAMPLE_BYTES);
}

/** Without the last bytes if they are the start of a character that was cut. */
function trimTail(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      end = bytes.length - back;
      break;
    }
  }
  return bytes.subarray(0, end);
}
