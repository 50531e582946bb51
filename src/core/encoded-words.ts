/** Headers of mails with words in other encodings, for the mailbox and for the file. Source: RFC 2047. */
import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";

/**
 * The text with its encoded words read; those that stand beside each other are one, because a character may be cut in two.
 * Blanks within a word are against the rules, and common.
 *
 * @param decode  gives undefined for an encoding that it doesn't know: its words stay as they are
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
 * Bytes of a mail as text, in the encoding that it names. Wrong names are common: UTF-8 that calls itself Latin-1 is read as
 * UTF-8.
 *
 * @returns undefined where the name says nothing of these bytes: there is none, nobody knows it, or they aren't in it
 */
export function decodeNamed(bytes: Uint8Array, declared: string | undefined): string | undefined {
  const charset = declared?.trim().toLowerCase() ?? "";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isStateful(charset)) return new TextDecoder(charset).decode(buffer);
  const isNothing = charset === "" || charset === "us-ascii" || charset === "ascii";
  const isUnicode = charset === "utf-8" || charset === "utf8";
  if ((isNothing || isUnicode || SINGLE_BYTE.test(charset)) && isUtf8(buffer)) {
    return withoutMark(buffer.toString("utf8"));
  }
  const isKnown = !isNothing && !isUnicode && iconv.encodingExists(charset);
  return isKnown ? iconv.decode(buffer, charset, { stripBOM: true }) : undefined;
}

/** True for an encoding that switches tables by escapes, each of whose pieces is whole: iconv-lite has none, the platform this one. */
function isStateful(charset: string): boolean {
  return charset === "iso-2022-jp";
}

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
