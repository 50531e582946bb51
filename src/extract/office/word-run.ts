import { symbolOf, textInFont } from "#extract/symbol-fonts.ts";
import type { Attributes } from "./xml.ts";

/** The open run of a paragraph: whether its text is shown, and in which font. */
export class WordRun {
  isHidden = false;
  isInText = false;
  /** In the properties of the paragraph, which use the same elements for its end. */
  isInParagraphProperties = false;
  private font: string | undefined;

  begin(isHidden: boolean): void {
    this.isHidden = isHidden;
    this.font = undefined;
  }

  end(): void {
    this.begin(false);
  }

  hide(isHidden: boolean): void {
    if (!this.isInParagraphProperties) this.isHidden = isHidden;
  }

  setFont(attributes: Attributes): void {
    if (!this.isInParagraphProperties) this.font = attributes["w:ascii"] ?? attributes["w:hAnsi"];
  }

  /** The characters that its letters show: a symbol font has others. */
  shown(text: string): string {
    return textInFont(this.font, text);
  }
}

/** The character of `w:sym`; "" if its font is one of pictures, or unknown. Source: ECMA-376, 17.3.3.30. */
export function symbolText(attributes: Attributes): string {
  const code = Number.parseInt(attributes["w:char"] ?? "", 16);
  const symbol = symbolOf(attributes["w:font"], code);
  if (symbol !== undefined) return symbol;
  return code >= 0x20 && code <= 0xffff && !PRIVATE.test(String.fromCharCode(code)) ? String.fromCharCode(code) : "";
}

const PRIVATE = /[\p{Co}\p{Cs}]/u;
