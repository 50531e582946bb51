import { isSymbolFont, textInFont } from "#extract/symbol-fonts.ts";
import type { Attributes } from "./walk.ts";

/** The symbol fonts that elements name. Outlook writes arrows and smileys as letters in such fonts. */
export class SymbolFonts {
  private readonly fonts: (string | undefined)[] = [];

  open(attributes: Attributes): void {
    const font = fontOf(attributes);
    // A font of letters ends the effect of the symbol font around it.
    this.fonts.push(font === undefined || font === "" ? this.fonts.at(-1) : isSymbolFont(font) ? font : undefined);
  }

  close(): void {
    this.fonts.pop();
  }

  shown(text: string): string {
    const font = this.fonts.at(-1);
    return font === undefined ? text : textInFont(font, text);
  }
}

/** Returns the first font that an element itself names. */
export function fontOf({ style, face }: Attributes): string | undefined {
  const named = style === undefined ? face : (FAMILY.exec(style)?.[1] ?? face);
  return named?.split(",", 1)[0]?.replaceAll(/["']/gu, "").trim();
}

const FAMILY = /(?:^|;)\s*font-family\s*:\s*([^;]{1,200})/iu;
