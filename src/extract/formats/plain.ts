import { cleanText, cutText } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { texLetters } from "#extract/tex-letters.ts";
import { lettersByNumber } from "#extract/letters-by-number.ts";

/** Plain text and code. The text is kept unchanged, line by line. */
export const plainFormat: Format = {
  extract({ decode, fileName, mimeType, maxTextLength }): FormatText {
    const decoded = decode();
    const text = cleanText(withLetters(decoded.text, fileName, mimeType));
    return {
      state: "ok",
      text: cutText(text, maxTextLength),
      sections: [],
      firstLine: 1,
      properties: decoded.encoding === "utf-8" ? {} : { encoding: decoded.encoding },
      isCut: decoded.isCut || text.length > maxTextLength,
    };
  },
};

/** Decodes letters that are escaped in the language of a file. */
function withLetters(text: string, fileName: string, mimeType: string): string {
  if (mimeType === "text/x-tex") return texLetters(text);
  return hasNumbers(fileName, mimeType) ? lettersByNumber(text) : text;
}

/**
 * Whether letters may be written as numbers: in Java's property files, and in JSON, which is read here when it is invalid, for example because of
 * comments.
 */
function hasNumbers(fileName: string, mimeType: string): boolean {
  return mimeType === "application/json" || /\.properties$/iu.test(fileName);
}
