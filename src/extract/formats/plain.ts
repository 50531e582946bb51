import { cleanText, cutText } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { lettersByNumber } from "#extract/letters-by-number.ts";

/** Plain text and code: the text as it is, line by line. */
export const plainFormat: Format = {
  extract({ decode, fileName, mimeType, maxTextLength }): FormatText {
    const decoded = decode();
    const text = cleanText(hasNumbers(fileName, mimeType) ? lettersByNumber(decoded.text) : decoded.text);
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

/** Java's property files; JSON comes here when it is no JSON, as with comments. */
function hasNumbers(fileName: string, mimeType: string): boolean {
  return mimeType === "application/json" || /\.properties$/iu.test(fileName);
}
