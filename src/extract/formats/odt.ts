import type { FormatInput, FormatResult } from "#extract/format.ts";
import { BlockWriter, ITEM } from "#extract/office/blocks.ts";
import { zipFormat } from "#extract/office/failures.ts";
import {
  bodyReader,
  makeOdfText,
  odfCommentLines,
  readHeadersAndFooters,
  noteLine,
} from "#extract/office/odf-document.ts";
import { openOdf, readOdfProperties } from "#extract/office/odf-file.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** OpenDocument text, as a ZIP archive or flat XML; read like Word documents. */
export const odtFormat = zipFormat(readDocument);

function readDocument({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const file = openOdf(bytes);
  const out = new TextBuilder(maxTextLength);
  const writer = new BlockWriter(out, hasTime);
  const { text, styles } = makeOdfText(file, writer);
  if (!file.walk("content", bodyReader(styles, text))) throw new Error("the document has no text part");
  writer.appendix("Footnotes", text.footnotes.map(noteLine));
  writer.appendix("Endnotes", text.endnotes.map(noteLine));
  writer.appendix("Comments", odfCommentLines(text.comments), ITEM);
  writer.appendix("Headers and footers", readHeadersAndFooters(file, text));
  writer.end();
  return out.result({ isCut: writer.isFull, ...resultProperties(readOdfProperties(file)) });
}
