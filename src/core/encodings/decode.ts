import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { guessEncoding } from "./guess.ts";
import { decodeStateful, findStateful } from "./stateful.ts";
import { guessUtf16 } from "./utf16.ts";
import { isUtf8Name, readableName } from "./names.ts";

export interface DecodedText {
  text: string;
  /** The name in lower case, such as `utf-8` or `shift_jis`. */
  encoding: string;
  /** True when only the beginning of the bytes was decoded. */
  isCut: boolean;
}

/**
 * Decodes bytes as text. Tries, in this order: the byte order mark, valid UTF-8, UTF-16 and UTF-32 by their patterns,
 * mostly valid UTF-8, the document's declaration, and the letters that the bytes would be (Latin-x, Shift_JIS, GB18030,
 * KOI8-R, DOS …).
 *
 * @param maxLength the number of UTF-16 code units that the caller needs; bytes far beyond that aren't decoded
 * @returns undefined when the bytes aren't text in any encoding
 */
export function decodeText(bytes: Uint8Array, maxLength: number, declared?: string): DecodedText | undefined {
  // No encoding needs more than four bytes for a code unit.
  const maxBytes = maxLength * 4;
  const isCut = bytes.length > maxBytes;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxBytes));
  const encoding = findEncoding(buffer, isCut, declared);
  if (encoding === undefined) return undefined;
  // In most encodings most bytes are one code unit each. If the first bytes already yield enough code units, the rest
  // need not be decoded.
  const head =
    encoding === "utf-8" && buffer.length > maxLength ? withoutZeros(buffer.toString("utf8", 0, maxLength)) : "";
  if (head.length >= maxLength && maxLength > 0) return { text: head, encoding, isCut: true };
  const text = withoutZeros(decodeAs(buffer, encoding));
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, encoding, isCut };
}

/** Replaces zeros, which separate words as spaces do. The number of lines stays the same. */
function withoutZeros(text: string): string {
  return text.includes("\0") ? text.replaceAll(/\0+/gu, " ") : text;
}

/**
 * True when the first bytes are plain text in ASCII or valid UTF-8, without control characters that don't occur in
 * text.
 */
export function looksLikeUtf8Text(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, 4_096);
  for (const byte of sample) if (byte < 0x20 && !TEXT_CONTROLS.has(byte)) return false;
  return isUtf8(bytes.length > sample.length ? withoutCutLetter(sample) : sample);
}

/**
 * True when the first 32 kB are text: at most one control character that doesn't occur in text, and at most 1 in 200.
 * Adjacent zeros are counted as one, because a power cut leaves a block of zeros in a log. Programs and databases have
 * many short runs of zeros, and other control characters.
 */
export function hasOnlyTextControls(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let strange = 0;
  let last = 1;
  for (const byte of sample) {
    if (byte < 0x20 && !TEXT_CONTROLS.has(byte) && (byte !== 0 || last !== 0)) strange++;
    last = byte;
  }
  return strange <= 1 + sample.length / 200;
}

/** Bell, backspace, tab, line feed, vertical tab, form feed, carriage return, escape (terminal logs). */
const TEXT_CONTROLS = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);
/** Number of bytes that is enough to detect whether a file is text. */
const SAMPLE_BYTES = 32_768;

function decodeAs(buffer: Buffer, encoding: string): string {
  if (encoding === "utf-8") return buffer.toString("utf8");
  return decodeStateful(buffer, encoding) ?? iconv.decode(buffer, encoding, { stripBOM: true });
}

function findEncoding(buffer: Buffer, isCut: boolean, declared: string | undefined): string | undefined {
  const marked = fromByteOrderMark(buffer);
  if (marked !== undefined) return marked;
  const sample = withoutFirstZeros(buffer).subarray(0, SAMPLE_BYTES);
  // These encodings are seven-bit, so the bytes are also valid UTF-8; they are recognized by their escape sequences.
  const stateful = findStateful(sample);
  if (stateful !== undefined) return stateful;
  const isValid = isUtf8(isCut ? withoutCutLetter(buffer) : buffer);
  if (sample.includes(0) || !isValid) {
    const wide = guessUtf16(buffer.subarray(0, SAMPLE_BYTES));
    if (wide !== undefined) return wide;
  }
  if (!hasOnlyTextControls(sample)) return undefined;
  if (isValid) return "utf-8";
  if (isMostlyUtf8(buffer, isUtf8Name(declared) ? 1 : UTF8_OF_OTHERS)) return "utf-8";
  return readableName(declared) ?? guessEncoding(buffer);
}

/**
 * With this many valid characters for each broken place, the text is UTF-8 in spite of the broken places. In 200 texts
 * of other encodings, at most two in five of the places beyond ASCII could be UTF-8 (in Thai, where three letters often
 * look like one character).
 */
const UTF8_OF_OTHERS = 3;

function fromByteOrderMark(buffer: Buffer): string | undefined {
  const [a, b, c, d] = buffer;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "utf-32le" : "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? "utf-32be" : undefined;
}

/** Removes zeros at the beginning: a log may begin with a block that was reserved and never written. */
function withoutFirstZeros(buffer: Buffer): Buffer {
  if (buffer[0] !== 0) return buffer;
  return buffer.subarray(
    Math.max(
      0,
      buffer.findIndex((byte) => byte !== 0),
    ),
  );
}

/** True for UTF-8 with a few broken places: for each of them, more than `ratio` characters beyond ASCII are valid. */
function isMostlyUtf8(buffer: Buffer, ratio: number): boolean {
  const first = buffer.findIndex((byte) => byte > 0x7f);
  const text = buffer.toString("utf8", first, first + SAMPLE_BYTES);
  let broken = 0;
  let valid = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0xfffd) broken++;
    else if (unit > 0x7f) valid++;
  }
  return valid > 0 && (ratio === 1 ? broken < valid : broken * ratio <= valid);
}

/** Returns the bytes without a truncated character at their end. */
export function withoutCutLetter(bytes: Uint8Array): Uint8Array {
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
