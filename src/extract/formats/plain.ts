import { cleanText, cutText } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";

/** Plain text and code: the text as it is, line by line. */
export const plainFormat: Format = {
  extract({ decode, fileName, maxTextLength }): FormatText {
    const decoded = decode();
    const text = cleanText(ESCAPED.test(fileName) ? withLetters(decoded.text) : decoded.text);
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

/** Java's property files are ASCII with letters by number. Source: https://docs.oracle.com/javase/8/docs/api/java/util/Properties.html */
const ESCAPED = /\.properties$/iu;

/** Letters for their numbers; controls and line breaks stay as they are written. */
function withLetters(text: string): string {
  return text.replaceAll(/(?<!\\)((?:\\\\){0,20})\\u([\dA-Fa-f]{4})/gu, (all, before: string, code: string) => {
    const letter = String.fromCharCode(Number.parseInt(code, 16));
    return letter < "\u00a0" ? all : before + letter;
  });
}
