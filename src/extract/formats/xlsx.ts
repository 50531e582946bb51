import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { withZipReasons } from "#extract/office/failures.ts";
import { findType, linkOf, openPackage, type OfficePackage, type Relationships } from "#extract/office/package.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { readDrawings, readPersons, readSheetComments, readTables } from "#extract/office/sheet-extras.ts";
import { makeSharedStrings, makeStyles, SheetRows, type Workbook } from "#extract/office/sheet-rows.ts";
import { SheetWriter } from "#extract/office/sheet-writer.ts";
import { isOn } from "#extract/office/xml.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * Spreadsheets: each visible sheet is a section with the range of its cells, a table in Markdown; then comments, links,
 * tables and what its drawings say. Read as a stream: a sheet is never in memory as a whole.
 */
export const xlsxFormat: Format = {
  extract: (input) => withZipReasons(() => readWorkbook(input)),
};

function readWorkbook(input: FormatInput): FormatResult {
  const file = openPackage(input.bytes);
  const main = file.mainPart ?? "xl/workbook.xml";
  const relationships = file.relationshipsOf(main);
  const found = listSheets(file, main);
  if (found === undefined) throw new Error("the workbook has no main part");
  const strings = makeSharedStrings(input.hasTime);
  const styles = makeStyles();
  const stringsPart = findType(relationships, "sharedStrings");
  if (stringsPart !== undefined) file.walk(stringsPart.target, strings.handler);
  const stylesPart = findType(relationships, "styles");
  if (stylesPart !== undefined) file.walk(stylesPart.target, styles.handler);
  const workbook: Workbook = { strings: strings.strings, kinds: styles.kinds, startsIn1904: found.startsIn1904 };
  const out = new TextBuilder(input.maxTextLength);
  const writer = new SheetWriter(out, input.hasTime);
  const persons = readPersons(file, relationships);
  for (const sheet of found.sheets) {
    const part = relationships.get(sheet.id)?.target;
    if (part !== undefined && !sheet.isHidden && !writer.isFull)
      readSheet({ file, part, name: sheet.name, writer, workbook, persons });
  }
  const { properties, ...rest } = resultProperties(file.properties());
  properties["sheets"] = String(found.sheets.length);
  const isCut = writer.isFull || strings.isCut();
  return { state: "ok", text: out.toString(), sections: out.sections, isCut, properties, ...rest };
}

const MAX_SHEETS = 5_000;

interface FoundSheets {
  sheets: { name: string; id: string; isHidden: boolean }[];
  startsIn1904: boolean;
}

/** The sheets in their order; undefined when the workbook has no main part. */
function listSheets(file: OfficePackage, main: string): FoundSheets | undefined {
  const found: FoundSheets = { sheets: [], startsIn1904: false };
  const hasMain = file.walk(main, {
    open(name, attributes) {
      if (name === "workbookPr" && attributes["date1904"] !== undefined)
        found.startsIn1904 = isOn(attributes["date1904"]);
      if (name !== "sheet" || found.sheets.length >= MAX_SHEETS) return;
      const { name: title = "", state = "visible", "r:id": id } = attributes;
      if (id !== undefined) found.sheets.push({ name: title, id, isHidden: state !== "visible" });
    },
  });
  return hasMain ? found : undefined;
}

interface SheetInput {
  file: OfficePackage;
  part: string;
  name: string;
  writer: SheetWriter;
  workbook: Workbook;
  persons: ReadonlyMap<string, string>;
}

function readSheet({ file, part, name, writer, workbook, persons }: SheetInput): void {
  const relationships: Relationships = file.relationshipsOf(part);
  const rows = new SheetRows(
    workbook,
    (row) => writer.row(row),
    () => writer.isFull,
  );
  writer.beginSheet(name);
  file.walk(part, rows);
  writer.endSheet();
  writer.lines(readTables(file, relationships));
  writer.lines(readSheetComments(file, relationships, persons));
  writer.lines(
    rows.links.flatMap(({ cell, id }) => {
      const address = linkOf(relationships, id);
      return address === undefined ? [] : [`Link on ${cell}: ${address}`];
    }),
  );
  writer.lines(readDrawings(file, relationships));
}
