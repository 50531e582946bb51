import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { BlockWriter } from "#extract/office/blocks.ts";
import { withZipReasons } from "#extract/office/failures.ts";
import {
  bodyReader,
  makeOdfText,
  odfCommentLines,
  readHeadersAndFooters,
  writeNotes,
} from "#extract/office/odf-document.ts";
import { openOdf, readOdfProperties } from "#extract/office/odf-file.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** OpenDocument text, packed or flat: read like Word documents. */
export const odtFormat: Format = {
  extract: (input) => withZipReasons(() => readDocument(input)),
};

function readDocument({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const file = openOdf(bytes);
  const out = new TextBuilder(maxTextLength);
  const writer = new BlockWriter(out, hasTime);
  const { text, styles } = makeOdfText(file, writer);
  if (!file.walk("content", bodyReader(styles, text))) throw new Error("the document has no text part");
  writeNotes(writer, "Footnotes", text.footnotes);
  writeNotes(writer, "Endnotes", text.endnotes);
  const comments = odfCommentLines(text.comments);
  if (comments.length > 0) writer.paragraph("Comments", { heading: 1 });
  for (const line of comments) writer.paragraph(line, { list: { depth: 0, marker: "-" } });
  const lines = readHeadersAndFooters(file, text);
  if (lines.length > 0) writer.paragraph("Headers and footers", { heading: 1 });
  for (const line of lines) writer.paragraph(line);
  writer.end();
  return {
    state: "ok",
    text: out.toString(),
    sections: out.sections,
    isCut: writer.isFull,
    ...resultProperties(readOdfProperties(file)),
  };
}
