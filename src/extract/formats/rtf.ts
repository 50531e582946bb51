import type { Format, FormatResult } from "#extract/format.ts";
import { BlockWriter, ITEM } from "#extract/office/blocks.ts";
import { commentLine } from "#extract/office/comment-line.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { RtfReader } from "#extract/office/rtf-reader.ts";
import { readRtfTokens } from "#extract/office/rtf-tokens.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Rich Text Format; read like Word documents. */
export const rtfFormat: Format = {
  extract({ bytes, maxTextLength, hasTime }): FormatResult {
    const out = new TextBuilder(maxTextLength);
    const writer = new BlockWriter(out, hasTime);
    const reader = new RtfReader(writer);
    readRtfTokens(bytes, reader);
    reader.end();
    const { notes, comments } = reader.aside;
    const linesOf = (isEndnote: boolean) =>
      notes.filter(({ id }) => id.startsWith("e") === isEndnote).map(({ id, text }) => `[^${id}]: ${text}`);
    writer.appendix("Footnotes", linesOf(false));
    writer.appendix("Endnotes", linesOf(true));
    const commentLines = comments.map(({ author, text }) => commentLine(author, undefined, text));
    writer.appendix("Comments", commentLines, ITEM);
    reader.furniture.delete("");
    writer.appendix("Headers and footers", [...reader.furniture]);
    writer.end();
    return out.result({ isCut: writer.isFull, ...resultProperties(reader.properties) });
  },
};
