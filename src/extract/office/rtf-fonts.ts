import iconv from "iconv-lite";
import { textInFont } from "#extract/symbol-fonts.ts";

/** The encoding of a code page by its number; undefined for those that nobody decodes. */
export function encodingOfCodePage(page: number): string | undefined {
  const name = page === 10_000 ? "macintosh" : page === 65_001 ? "utf8" : `cp${page}`;
  return iconv.encodingExists(name) ? name : undefined;
}

/** The code page of a font's character set; undefined for the document's own. Source: RTF 1.9.1, `\fcharset`. */
export function codePageOfCharset(charset: number): number | undefined {
  return CODE_PAGES.get(charset);
}

/** Bytes as text in an encoding. */
export function decodeRtfBytes(pieces: readonly Uint8Array[], encoding: string): string {
  return iconv.decode(Buffer.concat(pieces), encoding);
}

/** Bytes in a font of symbols as what they show. */
export function symbolBytes(font: string, pieces: readonly Uint8Array[]): string {
  return textInFont(font, Buffer.concat(pieces).toString("latin1"));
}

const CODE_PAGES = new Map([
  [77, 10_000],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1_253],
  [162, 1_254],
  [163, 1_258],
  [177, 1_255],
  [178, 1_256],
  [186, 1_257],
  [204, 1_251],
  [222, 874],
  [238, 1_250],
  [254, 437],
]);
