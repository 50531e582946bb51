import type { FormatInput, FormatResult } from "#extract/format.ts";
import { BlockWriter } from "#extract/office/blocks.ts";
import { zipFormat } from "#extract/office/failures.ts";
import { hiddenProperties } from "#extract/office/hidden-cells.ts";
import { bodyReader, makeOdfText, readOdfObject } from "#extract/office/odf-document.ts";
import { openOdf, readOdfProperties } from "#extract/office/odf-file.ts";
import { OdfSheets } from "#extract/office/odf-sheet.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { SheetWriter } from "#extract/office/sheet-writer.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** OpenDocument spreadsheets; read like Excel workbooks. */
export const odsFormat = zipFormat(readSpreadsheet);

function readSpreadsheet({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const file = openOdf(bytes);
  const out = new TextBuilder(maxTextLength);
  const writer = new SheetWriter(out, hasTime);
  const collector = new BlockWriter(new TextBuilder(maxTextLength), hasTime);
  const { styles } = makeOdfText(file, collector);
  const sheets = new OdfSheets(writer, styles, (href) => readOdfObject(file, href, collector));
  if (!file.walk("content", bodyReader(styles, sheets))) throw new Error("the spreadsheet has no content");
  const { properties, ...rest } = resultProperties(readOdfProperties(file));
  Object.assign(properties, { sheets: String(sheets.count) }, hiddenProperties(sheets.left));
  return out.result({ isCut: writer.isFull, properties, ...rest });
}
