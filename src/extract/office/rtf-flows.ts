import { withAddresses } from "#extract/link-addresses.ts";
import type { Block, BlockWriter } from "./blocks.ts";
import { isBullet, newFlow, type RtfFlow } from "./rtf-state.ts";
import { outlineHeading } from "./outline.ts";
import type { RtfTables } from "./rtf-tables.ts";

/** The paragraphs and tables of an RTF document, and of its notes, comments and headers. */
export class RtfFlows {
  /** Control words that end a paragraph, a cell or a row. */
  static readonly ENDS = new Set(["par", "sect", "page", "column", "nestcell", "nestrow", "cell", "row"]);
  current: RtfFlow = newFlow();
  private readonly writer: BlockWriter;
  private readonly outer: RtfFlow[] = [];

  constructor(writer: BlockWriter) {
    this.writer = writer;
  }

  write(text: string): void {
    if (this.current.text.length < MAX_PARAGRAPH_LENGTH) this.current.text += text;
  }

  addLink(address: string | undefined, start: number): void {
    if (address !== undefined) this.current.marks.push({ start, end: this.current.text.length, address });
  }

  /** Handles a control word that concerns the open paragraph, or ends it. */
  control(word: string, value: number | undefined, tables: RtfTables): void {
    const { current: flow } = this;
    switch (word) {
      case "par":
      case "sect":
      case "page":
      case "column":
      case "nestcell":
      case "nestrow":
        return this.endParagraph();
      case "cell":
        return this.endCell();
      case "row":
        return this.endRow();
      case "pard":
        Object.assign(flow, { isInTable: false, heading: undefined, depth: 0 });
        return;
      case "intbl":
        flow.isInTable = true;
        return;
      case "s":
        flow.heading = tables.headingOf(value ?? 0);
        return;
      case "outlinelevel":
        flow.heading = outlineHeading(value);
        return;
      case "ilvl":
        flow.depth = value ?? 0;
    }
  }

  /** Begins a separate text within the text: a note, a comment, a header. */
  begin(): void {
    this.outer.push(this.current);
    this.current = newFlow();
    this.writer.beginCapture();
  }

  end(): Block[] {
    this.endParagraph();
    this.endTable();
    this.current = this.outer.pop() ?? newFlow();
    return this.writer.endCapture();
  }

  endParagraph(): void {
    const { current: flow, writer } = this;
    if (flow.isInTable) this.openCell();
    else this.endTable();
    const { heading, marker, depth } = flow;
    const text = withAddresses(flow.text, flow.marks);
    flow.text = "";
    flow.marks = [];
    flow.marker = undefined;
    if (heading !== undefined && !flow.isInTable)
      writer.paragraph(marker === undefined || isBullet(marker) ? text : `${marker} ${text}`, { heading });
    else if (marker !== undefined) writer.paragraph(text, { list: { depth, marker: isBullet(marker) ? "-" : marker } });
    else writer.paragraph(text);
  }

  endCell(): void {
    this.current.isInTable = true;
    this.endParagraph();
    this.writer.endCell();
    this.current.table = "row";
  }

  endRow(): void {
    const { current: flow, writer } = this;
    if (flow.table === "none") return;
    if (flow.table === "cell") this.endCell();
    if (flow.table === "row") writer.endRow();
    flow.table = "table";
  }

  endTable(): void {
    const { current: flow, writer } = this;
    if (flow.table === "none") return;
    if (flow.table === "cell") writer.endCell();
    if (flow.table === "cell" || flow.table === "row") writer.endRow();
    writer.endTable();
    flow.table = "none";
  }

  private openCell(): void {
    const { current: flow, writer } = this;
    if (flow.table === "none") writer.beginTable();
    if (flow.table === "none" || flow.table === "table") writer.beginRow();
    if (flow.table !== "cell") writer.beginCell();
    flow.table = "cell";
  }
}

const MAX_PARAGRAPH_LENGTH = 5_000_000;
