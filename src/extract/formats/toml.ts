import { cleanText, cutText, oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** TOML is kept as unchanged text, including comments. Its tables are sections. A file that isn't valid TOML is read as text. */
export const tomlFormat: Format = {
  extract({ decode, maxTextLength }): FormatText {
    const decoded = decode();
    const clean = cleanText(decoded.text);
    const text = cutText(clean, maxTextLength);
    const out = new TextBuilder(maxTextLength);
    const properties: Record<string, string> = {};
    let title: string | undefined;
    let table = "";
    let quote: string | undefined;
    for (const { 0: line, index } of text.matchAll(/[^\n]+/gu)) {
      const wasQuoted = quote !== undefined;
      quote = openQuote(line, quote);
      if (wasQuoted) continue;
      const header = /^[ \t]*\[{1,2}[ \t]*([^\][\n]{1,200}?)[ \t]*\]{1,2}[ \t]*(?:#.*)?$/u.exec(line)?.[1];
      if (header !== undefined) {
        table = header;
        out.section(header, Math.min(6, header.split(".").length), index);
        continue;
      }
      const [, key, value] = /^[ \t]*(title|name|version|description)[ \t]*=[ \t]*"([^"\n]{1,500})"/u.exec(line) ?? [];
      if (key === undefined || value === undefined || !ABOUT.has(table)) continue;
      if (key === "title") title ??= oneLine(value, 300);
      else properties[key] ??= oneLine(value, 500);
    }
    const isCut = decoded.isCut || text.length < clean.length;
    const result: FormatText = { state: "ok", text, sections: out.sections, properties, isCut };
    return title === undefined ? result : { ...result, title };
  },
};

/** Tables that describe the whole file. */
const ABOUT: ReadonlySet<string> = new Set(["", "package", "project", "tool.poetry"]);

/** Returns the quotes of a multi-line string that is still open at the end of the line, if any. */
function openQuote(line: string, open: string | undefined): string | undefined {
  let quote = open;
  let at = 0;
  for (;;) {
    if (quote !== undefined) {
      const end = line.indexOf(quote, at);
      if (end < 0) return quote;
      at = end + 3;
      quote = undefined;
    } else {
      const mark = /"""|'''/u.exec(line.slice(at));
      if (mark === null) return undefined;
      at += mark.index + 3;
      quote = mark[0];
    }
  }
}
