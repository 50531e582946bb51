import type { FormatInput, FormatResult } from "#extract/format.ts";
import { zipFormat } from "#extract/office/failures.ts";
import { filteredRows, HiddenCells, hiddenProperties, type RowRange } from "#extract/office/hidden-cells.ts";
import {
  findType,
  linkOf,
  listType,
  openPackage,
  type OfficePackage,
  type Relationships,
} from "#extract/office/package.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { readDrawings, readPersons, readSheetComments, readTables } from "#extract/office/sheet-extras.ts";
import { makeSharedStrings, makeStyles, SheetRows, type Workbook } from "#extract/office/sheet-rows.ts";
import { SheetWriter } from "#extract/office/sheet-writer.ts";
import { isOn } from "#extract/office/xml.ts";
import { xstring } from "#extract/office/xstring.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * Spreadsheets. Each visible sheet is a section with the range of its cells: a Markdown table, followed by comments, links, tables and the text of
 * its drawings. A sheet is read as a stream and is never completely in memory.
 */
export const xlsxFormat = zipFormat(readWorkbook);

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
  const hidden = { sheets: 0, rows: 0, columns: 0 };
  for (const { id, name, isHidden, filter } of found.sheets) {
    const part = relationships.get(id)?.target;
    if (isHidden) hidden.sheets++;
    if (part === undefined || isHidden || writer.isFull) continue;
    readSheet({ file, part, name, filter, writer, workbook, persons }).addTo(hidden);
  }
  const { properties, ...rest } = resultProperties(file.properties());
  Object.assign(properties, { sheets: String(found.sheets.length) }, hiddenProperties(hidden));
  return out.result({ isCut: writer.isFull || strings.isCut(), properties, ...rest });
}

const MAX_SHEETS = 5_000;

interface FoundSheets {
  /** `filter`: the range of a filter that has no arrows. */
  sheets: { name: string; id: string; isHidden: boolean; filter?: string }[];
  startsIn1904: boolean;
}

/** Returns the sheets in order; undefined when the workbook has no main part. */
function listSheets(file: OfficePackage, main: string): FoundSheets | undefined {
  const found: FoundSheets = { sheets: [], startsIn1904: false };
  let filterOf: FoundSheets["sheets"][number] | undefined;
  const hasMain = file.walk(main, {
    open(name, attributes) {
      if (name === "workbookPr" && attributes["date1904"] !== undefined)
        found.startsIn1904 = isOn(attributes["date1904"]);
      const isFilter = name === "definedName" && attributes["name"] === "_xlnm._FilterDatabase";
      filterOf = isFilter ? found.sheets[Number(attributes["localSheetId"])] : undefined;
      if (name !== "sheet" || found.sheets.length >= MAX_SHEETS) return;
      const { name: title = "", state = "visible", "r:id": id } = attributes;
      if (id !== undefined) found.sheets.push({ name: xstring(title), id, isHidden: state !== "visible" });
    },
    text: (data) => void (filterOf !== undefined && (filterOf.filter = (filterOf.filter ?? "") + data.slice(0, 200))),
    close: () => void (filterOf = undefined),
  });
  return hasMain ? found : undefined;
}

interface SheetInput {
  file: OfficePackage;
  part: string;
  name: string;
  filter: string | undefined;
  writer: SheetWriter;
  workbook: Workbook;
  persons: ReadonlyMap<string, string>;
}

/**
 * Reads a sheet. @returns the hidden rows and columns
 * @returns the hidden rows and columns
 */
function readSheet(sheet: SheetInput): HiddenCells {
  const { file, part, name, filter, writer, workbook, persons } = sheet;
  const relationships: Relationships = file.relationshipsOf(part);
  const hidden = new HiddenCells((isFiltered) => [
    ...readFilters(file, part, isFiltered ? filter : undefined),
    ...listType(relationships, "table").flatMap((table) => readFilters(file, table.target, undefined)),
  ]);
  const rows = new SheetRows(
    workbook,
    hidden,
    (row) => writer.row(row),
    () => writer.isFull,
  );
  writer.beginSheet(name);
  file.walk(part, rows);
  writer.endSheet();
  writer.lines(readTables(file, relationships));
  const isShown = (address: string) => !hidden.leavesOutAddress(address);
  writer.lines(readSheetComments(file, relationships, persons, isShown));
  writer.lines(
    rows.links.flatMap(({ cell, id }) => {
      const address = isShown(cell) ? linkOf(relationships, id) : undefined;
      return address === undefined ? [] : [`Link on ${cell}: ${address}`];
    }),
  );
  writer.lines(readDrawings(file, relationships));
  writer.lines(rows.headersAndFooters);
  return hidden;
}

/** Returns the rows of a sheet's or table's filters that have conditions; if there is no filter, those of `otherwise`. */
function readFilters(file: OfficePackage, part: string, otherwise: string | undefined): RowRange[] {
  let address = "";
  let isInColumn = false;
  let found: RowRange[] | undefined;
  file.walk(part, {
    open(name, { ref }) {
      if (name === "sheetData") return true;
      if (name === "autoFilter") address = ref ?? "";
      else if (isInColumn) found = filteredRows(address);
      isInColumn = name === "filterColumn" || (isInColumn && name !== "autoFilter");
    },
    close: (name) => void (name === "filterColumn" && (isInColumn = false)),
  });
  return found ?? filteredRows(otherwise ?? "");
}
