import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { decodeText } from "#extract/decode.ts";

/**
 * Bytes of a mail as text, in the encoding that it names. Wrong names are common: UTF-8 that calls itself Latin-1 is
 * read as UTF-8, and what has no name, or one that nobody knows, is guessed. Never throws.
 */
export function decodeCharset(bytes: Uint8Array, declared: string | undefined): string {
  const charset = declared?.trim().toLowerCase() ?? "";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (SEVEN_BIT.has(charset)) return new TextDecoder(charset).decode(buffer);
  const isGuess = charset === "" || charset === "us-ascii" || charset === "ascii" || SINGLE_BYTE.test(charset);
  if ((charset === "utf-8" || isGuess) && isUtf8(buffer)) return withoutMark(buffer.toString("utf8"));
  if (charset !== "" && charset !== "us-ascii" && charset !== "ascii" && charset !== "utf-8") {
    if (iconv.encodingExists(charset)) return iconv.decode(buffer, charset, { stripBOM: true });
  }
  return decodeText(buffer, Math.max(1, buffer.length))?.text ?? buffer.toString("latin1");
}

/** True for an encoding that switches tables by escapes: each of its pieces is whole. */
export function isStateful(charset: string): boolean {
  return SEVEN_BIT.has(charset);
}

/** Encodings that switch tables by escapes: iconv-lite has none of them, the platform has these. */
const SEVEN_BIT = new Set(["iso-2022-jp"]);
const SINGLE_BYTE = /^(?:iso-?8859-\d+|windows-125\d|cp125\d|latin-?\d)$/u;

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
