import { symbolOf, textInFont } from "#extract/symbol-fonts.ts";
import type { Attributes } from "./xml.ts";

/** The open run of a paragraph: whether its text is shown, and in which font. */
export class WordRun {
  isHidden = false;
  isInText = false;
  /** Whether the properties of a paragraph are being read, where the same elements describe the paragraph mark. */
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

  /** Returns the text with the characters that the run's font displays, since a symbol font displays symbols instead of letters. */
  shown(text: string): string {
    return textInFont(this.font, text);
  }
}

/** Returns the character of `w:sym`; "" if its font is unknown, or one of pictures. Source: ECMA-376, 17.3.3.30. */
export function symbolText(attributes: Attributes): string {
  const code = Number.parseInt(attributes["w:char"] ?? "", 16);
  const symbol = symbolOf(attributes["w:font"], code);
  if (symbol !== undefined) return symbol;
  return code >= 0x20 && code <= 0xffff && !PRIVATE.test(String.fromCharCode(code)) ? String.fromCharCode(code) : "";
}

const PRIVATE = /[\p{Co}\p{Cs}]/u;
