import { cleanText, cutText } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";

/** Plain text and code: the text as it is, line by line. */
export const plainFormat: Format = {
  extract({ decode, maxTextLength }): FormatText {
    const decoded = decode();
    const text = cleanText(decoded.text);
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
