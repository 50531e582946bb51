import { type Block, blocksText } from "./blocks.ts";
import { commentLine } from "./comment-line.ts";
import { HiddenCells } from "./hidden-cells.ts";
import { type OdfCell, odfCellText } from "./odf-cell.ts";
import type { OdfStyles } from "./odf-styles.ts";
import { columnLetters, type SheetCell, type SheetWriter } from "./sheet-writer.ts";
import type { Attributes, XmlHandler } from "./xml.ts";

/** Reads the sheets of an OpenDocument spreadsheet into a writer. Hidden sheets, rows and columns are left out. */
export class OdfSheets implements Required<XmlHandler> {
  count = 0;
  private readonly writer: SheetWriter;
  private readonly styles: OdfStyles;
  private readonly object: (href: string) => Block[];
  private row = 0;
  private rowRepeats = 1;
  private column = 0;
  private cells: SheetCell[] = [];
  private cell: OdfCell | undefined;
  private comment: { author: string; date: string; text: string } | undefined;
  private target: "cell" | "comment" | "author" | "date" | "drawing" | undefined;
  private readonly targets: (OdfSheets["target"] | undefined)[] = [];
  private lines: string[] = [];
  private drawing = "";
  private tables = 0;
  private hidden = new HiddenCells();
  private nextColumn = 0;
  /** Whether each open group of rows or columns is collapsed; that only hides it in a view. */
  private readonly groups: boolean[] = [];
  /** Number of sheets, rows and columns that were left out. */
  readonly left = { sheets: 0, rows: 0, columns: 0 };

  constructor(writer: SheetWriter, styles: OdfStyles, object: (href: string) => Block[]) {
    this.writer = writer;
    this.styles = styles;
    this.object = object;
  }

  isDone(): boolean {
    return this.writer.isFull;
  }

  open(name: string, attributes: Attributes): boolean {
    switch (name) {
      case "table:table":
        return this.beginSheet(attributes);
      case "table:table-row":
        this.rowRepeats = repeats(attributes["table:number-rows-repeated"], MAX_ROWS);
        this.column = 0;
        this.cells = [];
        if (this.isHidden(attributes)) this.hidden.hideRow(this.row + 1);
        return false;
      case "table:table-column":
        return this.addColumns(attributes);
      case "table:table-row-group":
      case "table:table-column-group":
        this.groups.push(attributes["table:display"] === "false");
        return false;
      case "table:table-cell":
      case "table:covered-table-cell":
        this.cell = {
          attributes,
          text: "",
          repeats: repeats(attributes["table:number-columns-repeated"], MAX_COLUMNS),
        };
        return false;
      case "draw:object":
        for (const block of this.object(attributes["xlink:href"] ?? "")) this.addLine(blocksText([block]));
        return false;
      case "text:s":
      case "text:line-break":
      case "text:tab":
        this.text(" ");
        return false;
    }
    if (LEFT_OUT.has(name)) return true;
    this.beginTarget(name);
    return false;
  }

  text(data: string): void {
    const { cell, comment, target } = this;
    if (target === "cell" && cell !== undefined && cell.text.length < MAX_CELL_LENGTH) cell.text += data;
    else if (target === "drawing" && this.drawing.length < MAX_CELL_LENGTH) this.drawing += data;
    else if (target === "author" && comment !== undefined) comment.author += data;
    else if (target === "date" && comment !== undefined) comment.date += data;
    else if (target === "comment" && comment !== undefined && comment.text.length < MAX_CELL_LENGTH)
      comment.text += data;
  }

  close(name: string): void {
    switch (name) {
      case "table:table":
        return this.endSheet();
      case "table:table-row":
        return this.endRow();
      case "table:table-cell":
      case "table:covered-table-cell":
        return this.endCell();
      case "table:table-row-group":
      case "table:table-column-group":
        this.groups.pop();
        return;
      case "office:annotation":
        this.endComment();
    }
    if (TARGETS.has(name)) this.target = this.targets.pop();
    if (name === "text:p" && this.target === "drawing") {
      this.addLine(this.drawing);
      this.drawing = "";
    }
  }

  private beginSheet(attributes: Attributes): boolean {
    this.tables++;
    // A table within a cell isn't a sheet.
    if (this.tables > 1) return false;
    this.count++;
    if (this.styles.isHidden("table", attributes["table:style-name"])) {
      this.tables--;
      this.left.sheets++;
      return true;
    }
    this.hidden = new HiddenCells();
    this.nextColumn = 0;
    this.writer.beginSheet(attributes["table:name"] ?? "");
    this.row = 0;
    this.lines = [];
    return false;
  }

  private endSheet(): void {
    this.tables = Math.max(0, this.tables - 1);
    if (this.tables > 0) return;
    this.writer.endSheet();
    this.writer.lines(this.lines);
    this.lines = [];
    this.hidden.addTo(this.left);
  }

  /** Whether a row is hidden; `filter` marks filtered rows. Source: https://docs.oasis-open.org/office/OpenDocument/v1.3/ */
  private isHidden(attributes: Attributes): boolean {
    return this.tables === 1 && attributes["table:visibility"] === "collapse" && !this.groups.includes(true);
  }

  private addColumns(attributes: Attributes): boolean {
    if (this.tables !== 1) return false;
    const first = this.nextColumn;
    this.nextColumn += repeats(attributes["table:number-columns-repeated"], MAX_COLUMNS);
    if (this.isHidden(attributes)) this.hidden.hideColumns(first, this.nextColumn - 1);
    return false;
  }

  private endRow(): void {
    const { cells, row } = this;
    // An empty row that is repeated to the end of the sheet exists only for its format.
    const times = cells.length === 0 ? 0 : Math.min(this.rowRepeats, MAX_SAME_ROWS);
    for (let index = 0; index < times; index++) this.writer.row({ number: row + index + 1, cells });
    this.row += this.rowRepeats;
  }

  private endCell(): void {
    const { cell } = this;
    if (cell === undefined) return;
    this.cell = undefined;
    const text = odfCellText(cell);
    const times = /\S/u.test(text) ? Math.min(cell.repeats, MAX_SAME_CELLS) : 0;
    for (let column = this.column; column < this.column + times && this.cells.length < MAX_COLUMNS; column++)
      if (!this.hidden.leavesOut(this.row + 1, column)) this.cells.push({ column, text });
    this.column += cell.repeats;
  }

  private endComment(): void {
    const { comment } = this;
    this.comment = undefined;
    if (comment === undefined || comment.text.trim() === "") return;
    if (this.hidden.leavesOut(this.row + 1, this.column)) return;
    const place = `${columnLetters(this.column)}${this.row + 1}`;
    this.addLine(`Comment on ${place}, ${commentLine(comment.author, comment.date, comment.text.trim())}`);
  }

  /** Selects where the text of an element is stored. */
  private beginTarget(name: string): void {
    if (!TARGETS.has(name)) return;
    this.targets.push(this.target);
    if (name === "office:annotation") {
      this.comment = { author: "", date: "", text: "" };
      this.target = "comment";
    } else if (name === "dc:creator") this.target = this.comment === undefined ? undefined : "author";
    else if (name === "dc:date") this.target = this.comment === undefined ? undefined : "date";
    else if (name.startsWith("draw:") || name === "table:shapes") this.target = "drawing";
    else if (name === "text:p") this.beginParagraph();
  }

  private beginParagraph(): void {
    if (this.target === undefined && this.cell !== undefined) this.target = "cell";
    // Paragraphs of a cell or comment are joined with a space.
    this.text(" ");
  }

  private addLine(line: string): void {
    if (this.lines.length < MAX_LINES && line.trim() !== "") this.lines.push(line);
  }
}

const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_CELL_LENGTH = 100_000;
const MAX_LINES = 5_000;
const MAX_SAME_ROWS = 50;
const MAX_SAME_CELLS = 50;

const LEFT_OUT = new Set([
  "table:tracked-changes",
  "table:content-validations",
  "office:forms",
  "office:scripts",
  "office:binary-data",
  "office:event-listeners",
  "svg:title",
  "svg:desc",
  "meta:date-string",
  "meta:creator-initials",
  "table:named-expressions",
  "table:dde-links",
]);
const TARGETS = new Set([
  "office:annotation",
  "dc:creator",
  "dc:date",
  "text:p",
  "table:shapes",
  "draw:frame",
  "draw:custom-shape",
  "draw:rect",
  "draw:g",
]);

function repeats(value: string | undefined, max: number): number {
  return Math.min(max, Math.max(1, Math.floor(Number(value ?? "1")) || 1));
}
