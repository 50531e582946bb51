import { singleSpaced } from "#extract/clean.ts";
import { formatCellNumber, numberKindOf, type NumberKind } from "./number-format.ts";
import { columnOf, type SheetCell, type SheetRow } from "./sheet-writer.ts";
import type { HiddenCells } from "./hidden-cells.ts";
import { isOn, type Attributes, type XmlHandler } from "./xml.ts";
import { xstring } from "./xstring.ts";

export interface Workbook {
  strings: readonly string[];
  /** The kinds of numbers, indexed by the number of a cell's style. */
  kinds: readonly NumberKind[];
  startsIn1904: boolean;
}

/** Makes a reader for the strings of a workbook, which cells reference by number. Strings beyond the caps are empty. */
export function makeSharedStrings(hasTime: () => boolean): {
  handler: XmlHandler;
  strings: string[];
  isCut(): boolean;
} {
  const strings: string[] = [];
  let text = "";
  let run: string | undefined;
  let length = 0;
  const isCut = () => length > MAX_STRINGS_LENGTH || strings.length >= MAX_STRINGS;
  return {
    strings,
    isCut,
    handler: {
      open(name) {
        if (name === "si") text = "";
        else if (name === "t") run = "";
        // `rPh` is a phonetic reading.
        return name === "rPh";
      },
      text: (data) => void (run !== undefined && (run += data)),
      close(name) {
        if (name === "t") {
          text += xstring(run ?? "");
          run = undefined;
        }
        if (name !== "si") return;
        strings.push(text);
        length += text.length + STRING_COST;
      },
      isDone: () => isCut() || !hasTime(),
    },
  };
}

/** Makes a reader for the kinds of numbers by style. */
export function makeStyles(): { handler: XmlHandler; kinds: NumberKind[] } {
  const kinds: NumberKind[] = [];
  const codes = new Map<number, string>();
  let isInCellStyles = false;
  return {
    kinds,
    handler: {
      open(name, { numFmtId, formatCode }) {
        const id = Number(numFmtId);
        if (name === "numFmt" && formatCode !== undefined && codes.size < MAX_STYLES) codes.set(id, formatCode);
        else if (name === "cellXfs") isInCellStyles = true;
        else if (name === "xf" && isInCellStyles && kinds.length < MAX_STYLES)
          kinds.push(numberKindOf(id, codes.get(id)));
        return name === "dxfs";
      },
      close: (name) => void (name === "cellXfs" && (isInCellStyles = false)),
    },
  };
}

/** Reads the rows of a sheet one after the other. For a formula, it reads the stored result. */
export class SheetRows implements XmlHandler {
  /** The cells of a sheet that have links, with the relationship of each link. */
  readonly links: { cell: string; id: string }[] = [];
  /** The headers and footers of the printed pages, each once; at most six. */
  readonly headersAndFooters: string[] = [];
  private readonly workbook: Workbook;
  private readonly onRow: (row: SheetRow) => void;
  private readonly isFull: () => boolean;
  private rowNumber = 0;
  private column = -1;
  private cells: SheetCell[] = [];
  private type = "n";
  private style = 0;
  private value = "";
  private isValue = false;
  private readonly hidden: HiddenCells;

  constructor(workbook: Workbook, hidden: HiddenCells, onRow: (row: SheetRow) => void, isFull: () => boolean) {
    this.workbook = workbook;
    this.hidden = hidden;
    this.onRow = onRow;
    this.isFull = isFull;
  }

  isDone(): boolean {
    return this.isFull();
  }

  open(name: string, attributes: Attributes): boolean | void {
    switch (name) {
      case "row":
        this.rowNumber = toIndex(attributes["r"], MAX_ROWS) ?? this.rowNumber + 1;
        this.column = -1;
        this.cells = [];
        this.hidden.addRow(this.rowNumber, attributes);
        return;
      case "col":
        this.hidden.addColumns(attributes);
        return;
      case "sheetPr":
        this.hidden.isFiltered = isOn(attributes["filterMode"] ?? "0");
        return;
      case "c":
        this.column = columnOf(attributes["r"] ?? "") ?? this.column + 1;
        this.type = attributes["t"] ?? "n";
        this.style = Number(attributes["s"] ?? "0");
        this.value = "";
        return;
      case "v":
      case "t":
        this.isValue = true;
        return;
      case "hyperlink": {
        const { ref, "r:id": id } = attributes;
        if (ref !== undefined && id !== undefined && this.links.length < MAX_LINKS) this.links.push({ cell: ref, id });
        return;
      }
      case "oddHeader":
      case "oddFooter":
      case "evenHeader":
      case "evenFooter":
      case "firstHeader":
      case "firstFooter":
        this.value = "";
        this.isValue = true;
        return;
      // Formulas, phonetic readings and conditions are left out.
      case "f":
      case "rPh":
      case "conditionalFormatting":
      case "dataValidations":
      case "extLst":
        return true;
    }
  }

  text(data: string): void {
    if (this.isValue && this.value.length < MAX_CELL_LENGTH) this.value += data;
  }

  close(name: string): void {
    if (name === "v" || name === "t") this.isValue = false;
    else if (name === "c") this.addCell();
    else if (name === "row") this.onRow({ number: this.rowNumber, cells: this.cells });
    else if (PAGE_PARTS.test(name)) this.addHeaderOrFooter();
  }

  private addHeaderOrFooter(): void {
    this.isValue = false;
    const words = headerText(xstring(this.value));
    if (words !== "" && !this.headersAndFooters.includes(words)) this.headersAndFooters.push(words);
  }

  private addCell(): void {
    const text = this.cellText();
    if (!/\S/u.test(text) || this.hidden.leavesOut(this.rowNumber, this.column)) return;
    if (this.cells.length < MAX_COLUMNS) this.cells.push({ column: this.column, text });
  }

  private cellText(): string {
    const { strings, kinds, startsIn1904 } = this.workbook;
    switch (this.type) {
      case "s":
        return strings[Number(this.value)] ?? "";
      case "b":
        return this.value.trim() === "1" ? "TRUE" : this.value.trim() === "0" ? "FALSE" : this.value;
      case "n":
        return formatCellNumber(this.value, kinds[this.style] ?? { type: "number" }, startsIn1904);
      default:
        return xstring(this.value);
    }
  }
}

/** Returns the words of `&L…&C…&R…`, without codes for fonts, colours, and values that are known only when printing. Source: ECMA-376, 18.3.1.39. */
function headerText(coded: string): string {
  return singleSpaced(
    coded.replaceAll(/&(?:&|"[^"]{0,200}"|K(?:[\dA-F]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Z])/giu, (code) =>
      code === "&&" ? "&" : " ",
    ),
  );
}

const PAGE_PARTS = /^(?:odd|even|first)(?:Header|Footer)$/u;

function toIndex(value: string | undefined, max: number): number | undefined {
  const number = Number(value);
  return Number.isInteger(number) && number >= 1 && number <= max ? number : undefined;
}

const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
/** Maximum length of a cell; Excel's limit is 32,767. */
const MAX_CELL_LENGTH = 100_000;
const MAX_LINKS = 2_000;
const MAX_STYLES = 100_000;
const MAX_STRINGS = 3_000_000;
const MAX_STRINGS_LENGTH = 100_000_000;
/** Memory in bytes that a short string uses in addition to its text. */
const STRING_COST = 30;
