import iconv from "iconv-lite";
import { textInFont } from "#extract/symbol-fonts.ts";

/** Returns the encoding of a code page by its number; undefined for unsupported ones. */
export function encodingOfCodePage(page: number): string | undefined {
  const name = page === 10_000 ? "macintosh" : page === 65_001 ? "utf8" : `cp${page}`;
  return iconv.encodingExists(name) ? name : undefined;
}

/** Returns the code page of a font's character set; undefined for the document's own code page. Source: RTF 1.9.1, `\fcharset`. */
export function codePageOfCharset(charset: number): number | undefined {
  return CODE_PAGES.get(charset);
}

/** Bytes that wait to be decoded, because a character may be split over several tokens. */
export class RtfBytes {
  private pieces: Uint8Array[] = [];
  private page = 1_252;

  /** Whether bytes in this code page can't be decoded together with the waiting ones. */
  isApartFrom(page: number): boolean {
    return page !== this.page || this.pieces.length >= MAX_PIECES;
  }

  add(piece: Uint8Array, page: number): void {
    this.page = page;
    this.pieces.push(piece);
  }

  /** Returns the text of the waiting bytes, mapped if the font is a symbol font; undefined when there are none. */
  take(symbolFont: string | undefined): string | undefined {
    const { pieces } = this;
    if (pieces.length === 0) return undefined;
    this.pieces = [];
    const bytes = Buffer.concat(pieces);
    if (symbolFont !== undefined) return textInFont(symbolFont, bytes.toString("latin1"));
    return iconv.decode(bytes, encodingOfCodePage(this.page) ?? "cp1252");
  }
}

const MAX_PIECES = 10_000;

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
