/** Decodes mail headers with words in other encodings, for the mailbox and for mail files. Source: RFC 2047. */
import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { ISO_2022_JP, isUtf8Name, lowerName, readableName } from "./encodings/names.ts";
import { asBuffer } from "./as-buffer.ts";

/**
 * Returns the text with its encoded words decoded. Adjacent words are joined first, because a character may be split
 * between them. Spaces within an encoded word are against the rules, but common.
 *
 * @param decode  returns undefined for an unknown encoding; words in that encoding stay unchanged
 */
export function decodeWords(text: string, decode: (bytes: Buffer, charset: string) => string | undefined): string {
  if (!text.includes("=?")) return text;
  const joined = text.replace(/(=\?[^?\s]{1,60}\?[bBqQ]\?[^?\s]{0,10000}\?=)\s+(?==\?[^?\s]{1,60}\?[bBqQ]\?)/gu, "$1");
  let result = "";
  let open: { charset: string; bytes: Buffer[]; start: number } | undefined;
  let at = 0;
  const close = () => {
    if (open !== undefined) result += decode(Buffer.concat(open.bytes), open.charset) ?? joined.slice(open.start, at);
    open = undefined;
  };
  for (const word of joined.matchAll(/=\?([^?\s*]{1,60})(?:\*[^?\s]{0,40})?\?([bBqQ])\?([^?]{0,10000})\?=/gu)) {
    const [whole, charset = "", kind = "", encoded = ""] = word;
    if (word.index > at || open?.charset !== charset.toLowerCase() || isStateful(open.charset)) close();
    result += joined.slice(at, word.index);
    open ??= { charset: charset.toLowerCase(), bytes: [], start: word.index };
    open.bytes.push(kind.toLowerCase() === "b" ? Buffer.from(encoded, "base64") : fromQ(encoded));
    at = word.index + whole.length;
  }
  close();
  return result + joined.slice(at);
}

/**
 * Decodes bytes of a mail in the encoding that the mail names. Wrong names are common: UTF-8 that is labelled as
 * Latin-1 is read as UTF-8.
 *
 * @returns undefined if the name is missing, unknown, or wrong for these bytes
 */
export function decodeNamed(bytes: Uint8Array, declared: string | undefined): string | undefined {
  const charset = lowerName(declared).trim();
  const buffer = asBuffer(bytes);
  if (isStateful(charset)) return new TextDecoder(charset).decode(buffer);
  const isUnicode = charset === "" || isUtf8Name(charset);
  // UTF-16 text longer than a letter or two is valid UTF-8 only if it contains zeros, and text has no zeros.
  const mayBeUtf8 = isUnicode || SINGLE_BYTE.test(charset) || (WIDE.test(charset) && !buffer.includes(0));
  if (mayBeUtf8 && isUtf8(buffer)) return withoutMark(buffer.toString("utf8"));
  const read = UNICODE_OF_MAIL.test(charset) ? charset : readableName(charset);
  return read === undefined ? undefined : iconv.decode(buffer, read, { stripBOM: true });
}

/**
 * True for an encoding that switches tables by escape sequences. Each encoded word is complete in itself. iconv-lite
 * doesn't support these encodings; the platform supports this one.
 */
function isStateful(charset: string): boolean {
  return charset === ISO_2022_JP;
}

/**
 * Names of Unicode encodings that a mail may declare. A mail declares the encoding of its bytes, so these names may be
 * correct.
 */
const UNICODE_OF_MAIL = /^utf-?(?:7|(?:16|32)(?:le|be)?)$/u;
const WIDE = /^utf-?(?:16|32)/u;
const SINGLE_BYTE = /^(?:iso-?8859-\d+|windows-125\d|cp125\d|latin-?\d)$/u;

function fromQ(encoded: string): Buffer {
  const text = encoded
    .replaceAll("_", " ")
    .replace(/=([0-9A-Fa-f]{2})/gu, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, "latin1");
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
