import { isSymbolFont } from "#extract/symbol-fonts.ts";
import { outlineHeading } from "./outline.ts";
import { codePageOfCharset, encodingOfCodePage } from "./rtf-fonts.ts";

/** The tables of an RTF document: its fonts with their encodings, and the styles that are headings. */
export class RtfTables {
  defaultFont: number | undefined;
  private readonly fonts = new Map<number, number>();
  private readonly symbolFonts = new Map<number, string>();
  private readonly headings = new Map<number, number>();
  private documentPage = 1_252;
  /** The entry of each table that is being read. */
  private font = 0;
  private styleNumber = 0;

  /** Sets the encoding of the document. @returns false if the control word isn't about the encoding */
  setEncoding(word: string, value: number | undefined): boolean {
    switch (word) {
      case "ansi":
        return true;
      case "mac":
        this.documentPage = 10_000;
        return true;
      case "pc":
        this.documentPage = 437;
        return true;
      case "pca":
        this.documentPage = 850;
        return true;
      case "ansicpg":
        if (value !== undefined && encodingOfCodePage(value) !== undefined) this.documentPage = value;
        return true;
    }
    return false;
  }

  codePage(font: number | undefined): number {
    return font === undefined ? this.documentPage : (this.fonts.get(font) ?? this.documentPage);
  }

  symbolFont(font: number | undefined): string | undefined {
    return font === undefined ? undefined : this.symbolFonts.get(font);
  }

  beginFont(number: number): void {
    this.font = number;
  }

  setCharset(charset: number): void {
    this.setFontPage(codePageOfCharset(charset));
  }

  setFontPage(page: number | undefined): void {
    if (page === undefined || this.fonts.size > MAX_FONTS) return;
    if (encodingOfCodePage(page) !== undefined) this.fonts.set(this.font, page);
  }

  addFontName(text: string): void {
    const name = text.split(";", 1)[0]?.trim() ?? "";
    if (isSymbolFont(name) && this.symbolFonts.size < MAX_FONTS) this.symbolFonts.set(this.font, name);
  }

  setStyle(word: string, value: number | undefined): void {
    if (word === "s") this.styleNumber = value ?? 0;
    else if (word === "outlinelevel") this.addHeading(outlineHeading(value));
  }

  /** Heading styles have this name in every language of Word. */
  addStyleName(text: string): void {
    const level = /^\s*heading ([1-9]);?/iu.exec(text)?.[1];
    if (level !== undefined) this.addHeading(Math.min(6, Number(level)));
  }

  headingOf(style: number): number | undefined {
    return this.headings.get(style);
  }

  private addHeading(level: number | undefined): void {
    if (level !== undefined && this.headings.size < MAX_STYLES) this.headings.set(this.styleNumber, level);
  }
}

const MAX_FONTS = 20_000;
const MAX_STYLES = 20_000;
