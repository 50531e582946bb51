import type { Format, FormatResult } from "#extract/format.ts";
import { BlockWriter } from "#extract/office/blocks.ts";
import { commentLine } from "#extract/office/comment-line.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { RtfReader } from "#extract/office/rtf-reader.ts";
import { readRtfTokens } from "#extract/office/rtf-tokens.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Rich Text Format: read like Word documents. */
export const rtfFormat: Format = {
  extract({ bytes, maxTextLength, hasTime }): FormatResult {
    const out = new TextBuilder(maxTextLength);
    const writer = new BlockWriter(out, hasTime);
    const reader = new RtfReader(writer);
    readRtfTokens(bytes, reader);
    reader.end();
    writeNotes(
      writer,
      "Footnotes",
      reader.aside.notes.filter(({ id }) => !id.startsWith("e")),
    );
    writeNotes(
      writer,
      "Endnotes",
      reader.aside.notes.filter(({ id }) => id.startsWith("e")),
    );
    if (reader.aside.comments.length > 0) writer.paragraph("Comments", { heading: 1 });
    for (const { author, text } of reader.aside.comments)
      writer.paragraph(commentLine(author, undefined, text), { list: { depth: 0, marker: "-" } });
    reader.furniture.delete("");
    if (reader.furniture.size > 0) writer.paragraph("Headers and footers", { heading: 1 });
    for (const line of reader.furniture) writer.paragraph(line);
    writer.end();
    return {
      state: "ok",
      text: out.toString(),
      sections: out.sections,
      isCut: writer.isFull,
      ...resultProperties(reader.properties),
    };
  },
};

function writeNotes(writer: BlockWriter, title: string, notes: readonly { id: string; text: string }[]): void {
  if (notes.length === 0) return;
  writer.paragraph(title, { heading: 1 });
  for (const { id, text } of notes) writer.paragraph(`[^${id}]: ${text}`);
}
