import { oneLine, singleSpaced } from "#extract/clean.ts";
import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { commentLine } from "#extract/office/comment-line.ts";
import { HiddenCells, hiddenProperties } from "#extract/office/hidden-cells.ts";
import { columnLetters, type SheetCell, SheetWriter } from "#extract/office/sheet-writer.ts";
import { isOn, walkXml, xmlFromBytes, type Attributes, type XmlHandler } from "#extract/office/xml.ts";
import { localName } from "#extract/local-name.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * Workbooks in one XML file, as written by Excel 2003 and many programs that export tables. Sheets are read as in any workbook. Source:
 * https://learn.microsoft.com/en-us/previous-versions/office/developer/office-xp/aa140066(v=office.10)
 */
export const excel2003Format: Format = {
  extract({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
    const out = new TextBuilder(maxTextLength);
    const writer = new SheetWriter(out, hasTime);
    const reader = new WorkbookReader(writer, hiddenSheets(bytes));
    walkXml(xmlFromBytes(bytes), reader);
    const { sheets, hidden, title } = reader;
    const properties = { sheets: String(sheets), ...hiddenProperties(hidden) };
    return out.result({ isCut: writer.isFull, properties, title: oneLine(title, 300) });
  },
};

/** Finds the numbers of the hidden sheets in advance, because a sheet is marked as hidden only after its rows. */
function hiddenSheets(bytes: Uint8Array): ReadonlySet<number> {
  const hidden = new Set<number>();
  let sheet = -1;
  let isVisibility = false;
  walkXml(xmlFromBytes(bytes), {
    open(name) {
      const local = localName(name);
      if (local === "Worksheet") sheet++;
      isVisibility = local === "Visible";
      return local === "Table";
    },
    text: (data) => void (isVisibility && /Hidden/u.test(data) && hidden.add(sheet)),
    close: () => void (isVisibility = false),
  });
  return hidden;
}

class WorkbookReader implements XmlHandler {
  sheets = 0;
  title = "";
  readonly hidden = { sheets: 0, rows: 0, columns: 0 };
  private readonly writer: SheetWriter;
  private readonly hiddenSheets: ReadonlySet<number>;
  private cells = new HiddenCells();
  private rowNumber = 0;
  private column = -1;
  private nextColumn = 0;
  private row: SheetCell[] = [];
  private lines: string[] = [];
  private type = "String";
  private author: string | undefined;
  private gathered = "";
  private reading: "data" | "comment" | "title" | undefined;

  constructor(writer: SheetWriter, hidden: ReadonlySet<number>) {
    this.writer = writer;
    this.hiddenSheets = hidden;
  }

  isDone(): boolean {
    return this.writer.isFull;
  }

  open(name: string, attributes: Attributes): boolean | void {
    const local = localName(name);
    const value = (key: string) => attributes[`ss:${key}`] ?? attributes[key];
    if (local === "Worksheet") return this.beginSheet(value("Name") ?? "");
    if (local === "Title" && this.sheets === 0) this.reading = "title";
    else if (local === "Column") this.beginColumn(value);
    else if (local === "Row") this.beginRow(value);
    else if (local === "Cell") this.column = indexOf(value("Index")) ?? this.column + 1;
    else if (local === "Comment") {
      this.author = value("Author");
      this.begin("comment");
    } else if (local === "Data" && this.reading !== "comment") {
      this.type = value("Type") ?? "String";
      this.begin("data");
    }
  }

  text(data: string): void {
    if (this.reading === "title") this.title += data.slice(0, 300);
    else if (this.reading !== undefined && this.gathered.length < MAX_CELL_LENGTH) this.gathered += data;
  }

  close(name: string): void {
    const local = localName(name);
    if (local === "Title") this.reading = undefined;
    else if (local === "Data" && this.reading === "data") this.endData();
    else if (local === "Comment") this.endComment();
    else if (local === "Row") this.writer.row({ number: this.rowNumber, cells: this.row });
    else if (local === "Worksheet") this.endSheet();
  }

  private beginSheet(name: string): boolean {
    const isHidden = this.hiddenSheets.has(this.sheets++);
    if (isHidden) this.hidden.sheets++;
    this.cells = new HiddenCells();
    this.rowNumber = 0;
    this.nextColumn = 0;
    this.lines = [];
    if (!isHidden) this.writer.beginSheet(name);
    return isHidden;
  }

  private beginColumn(value: (key: string) => string | undefined): void {
    const first = indexOf(value("Index")) ?? this.nextColumn;
    const last = first + Math.min(MAX_COLUMNS, Number(value("Span") ?? 0) || 0);
    this.nextColumn = last + 1;
    if (isOn(value("Hidden") ?? "0")) this.cells.hideColumns(first, last);
  }

  private beginRow(value: (key: string) => string | undefined): void {
    this.rowNumber = (indexOf(value("Index")) ?? this.rowNumber) + 1;
    this.column = -1;
    this.row = [];
    if (isOn(value("Hidden") ?? "0")) this.cells.hideRow(this.rowNumber);
  }

  private begin(what: "data" | "comment"): void {
    this.reading = what;
    this.gathered = "";
  }

  private endData(): void {
    this.reading = undefined;
    const text = cellText(this.gathered, this.type);
    if (!/\S/u.test(text) || this.cells.leavesOut(this.rowNumber, this.column)) return;
    if (this.row.length < MAX_COLUMNS) this.row.push({ column: this.column, text });
  }

  private endComment(): void {
    this.reading = undefined;
    const words = singleSpaced(this.gathered);
    if (words === "" || this.lines.length >= MAX_LINES || this.cells.leavesOut(this.rowNumber, this.column)) return;
    const address = `${columnLetters(Math.max(0, this.column))}${this.rowNumber}`;
    this.lines.push(`Comment on ${address}, ${commentLine(this.author, undefined, words)}`);
  }

  private endSheet(): void {
    this.writer.endSheet();
    this.writer.lines(this.lines);
    this.cells.addTo(this.hidden);
  }
}

const MAX_CELL_LENGTH = 100_000;
const MAX_COLUMNS = 16_384;
const MAX_LINES = 5_000;

function cellText(text: string, type: string): string {
  if (type === "Boolean") return text.trim() === "1" ? "TRUE" : "FALSE";
  if (type !== "DateTime") return text;
  return text
    .trim()
    .replace(/(?:T00:00:00)?(?:\.0+)?$/u, "")
    .replace("T", " ");
}

/** Converts a one-based index to a zero-based one. */
function indexOf(value: string | undefined): number | undefined {
  const number = Number(value);
  return Number.isInteger(number) && number >= 1 && number <= 1_048_576 ? number - 1 : undefined;
}
