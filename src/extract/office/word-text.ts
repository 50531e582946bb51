import { webAddress } from "#extract/link-addresses.ts";
import { append } from "#core/append.ts";
import type { Readings } from "#extract/readings.ts";
import { Alternatives } from "./alternatives.ts";
import { altText, type Block, type BlockWriter } from "./blocks.ts";
import { LinkedText } from "./linked-text.ts";
import { MathMarks } from "./math-marks.ts";
import { FieldStack } from "./word-fields.ts";
import { linkOf, type Relationships } from "./package.ts";
import type { WordNumbering } from "./word-numbering.ts";
import { outlineHeading } from "./outline.ts";
import type { WordStyles } from "./word-styles.ts";
import { WordForm } from "./word-form.ts";
import { LEFT_OUT } from "./word-left-out.ts";
import { WordRows } from "./word-rows.ts";
import { symbolText, WordRun } from "./word-run.ts";
import { isOn, type Attributes, type XmlHandler } from "./xml.ts";

export interface WordContext {
  writer: BlockWriter;
  styles: WordStyles;
  numbering: WordNumbering;
  relationships: Relationships;
  /** Returns content from other files of the package: headers and footers, charts, diagrams, other documents. */
  found(kind: WordReference, id: string): Block[];
}

export type WordReference = "header" | "footer" | "chart" | "diagram" | "footnote" | "endnote" | "altChunk";

/**
 * Reads one story of a Word document (the body, a header, the notes) into a writer: paragraphs with heading and list marks, and tables. Text boxes
 * are written after the paragraph that they are anchored to. Deleted and hidden text is left out, and inserted text is kept. For a field, its result
 * is read.
 */
export class WordText implements XmlHandler {
  private readonly context: WordContext;
  private readonly paragraphs: OpenParagraph[] = [];
  private readonly fields = new FieldStack();
  private readonly alternatives = new Alternatives();
  /** Blocks anchored to the open paragraph, which are written after it. */
  private pending: Block[] = [];
  readonly run = new WordRun();
  readonly rows = new WordRows();
  private readonly form = new WordForm();
  private readonly math = new MathMarks();
  private boxes = 0;

  constructor(context: WordContext) {
    this.context = context;
  }

  isDone(): boolean {
    return this.context.writer.isFull;
  }

  open(name: string, attributes: Attributes): boolean | void {
    if (name === "w:del") this.rows.leaveOut();
    if (LEFT_OUT.has(name) || this.alternatives.open(name)) return true;
    this.math.open(name, attributes, (mark) => this.write(mark));
    this.form.open(name, attributes);
    return OPENERS.get(name)?.(this, attributes, attributes["w:val"]);
  }

  close(name: string): void {
    this.alternatives.close(name);
    this.math.close(name, (mark) => this.write(mark));
    const shown = this.form.close(name);
    if (shown !== undefined && !this.run.isHidden) this.paragraphs.at(-1)?.text.write(shown);
    CLOSERS.get(name)?.(this);
  }

  text(data: string): void {
    if (this.fields.isInInstruction) this.fields.addInstruction(data);
    else if (this.run.isInText) this.write(this.run.shown(data));
  }

  /** Writes to the open paragraph, unless its run is hidden. */
  write(text: string): void {
    const paragraph = this.paragraphs.at(-1);
    const isText = !this.run.isHidden && !this.run.isInParagraphProperties && !this.fields.isInInstruction;
    if (isText) paragraph?.text.write(text);
  }

  beginParagraph(): void {
    this.paragraphs.push({ text: new LinkedText(MAX_PARAGRAPH_LENGTH), styleId: undefined });
    this.run.begin(false);
  }

  paragraphProperty(set: (paragraph: OpenParagraph) => void): void {
    const paragraph = this.paragraphs.at(-1);
    if (paragraph !== undefined) set(paragraph);
  }

  endParagraph(): void {
    const paragraph = this.paragraphs.pop();
    if (paragraph === undefined) return;
    this.fields.endInstructions();
    this.emit(paragraph);
    if (this.paragraphs.length > 0 || this.boxes > 0) return;
    const pending = this.pending;
    this.pending = [];
    this.context.writer.addAll(pending);
  }

  beginRun(): void {
    const styleId = this.paragraphs.at(-1)?.styleId;
    this.run.begin(this.context.styles.find(styleId).isHidden);
  }

  runStyle(id: string | undefined): void {
    if (this.context.styles.find(id).isHidden) this.run.hide(true);
  }

  fieldMark(type: string | undefined): void {
    const text = this.paragraphs.at(-1)?.text;
    const ended = this.fields.mark(type, text?.words.length ?? 0);
    if (ended !== undefined) text?.addLink(ended.address, ended.start);
  }

  instruction(isIn: boolean): void {
    this.fields.takesInstruction(isIn);
  }

  beginLink(id: string | undefined): void {
    this.paragraphs.at(-1)?.text.beginLink(linkOf(this.context.relationships, id));
  }

  /** Begins a link that contains its address. */
  beginLinkTo(address: string | undefined): void {
    this.paragraphs.at(-1)?.text.beginLink(webAddress(address ?? ""));
  }

  endLink(): void {
    this.paragraphs.at(-1)?.text.endLink();
  }

  get readings(): Readings | undefined {
    return this.paragraphs.at(-1)?.text.readings;
  }

  beginBox(): void {
    this.boxes++;
    this.context.writer.beginCapture();
  }

  endBox(): void {
    if (this.boxes === 0) return;
    this.boxes--;
    append(this.pending, this.context.writer.endCapture());
  }

  reference(kind: WordReference, id: string | undefined): void {
    if (id !== undefined) append(this.pending, this.context.found(kind, id));
    if (this.paragraphs.length > 0) return;
    this.context.writer.addAll(this.pending);
    this.pending = [];
  }

  note(kind: "footnote" | "endnote", id: string | undefined): void {
    if (id === undefined || this.run.isHidden) return;
    this.write(`[^${kind === "endnote" ? "e" : ""}${id}]`);
    this.context.found(kind, id);
  }

  /** Writes the author's description of a picture. */
  picture(words: string | undefined): void {
    const text = altText(words);
    if (text !== undefined) this.write(` ${text} `);
  }

  get writer(): BlockWriter {
    return this.context.writer;
  }

  private emit(paragraph: OpenParagraph): void {
    const { styles, numbering, writer } = this.context;
    const style = styles.find(paragraph.styleId);
    const heading = paragraph.outlineLevel === undefined ? style.heading : outlineHeading(paragraph.outlineLevel);
    const listId = paragraph.listId ?? style.numbering?.id;
    const depth = paragraph.listDepth ?? style.numbering?.depth ?? 0;
    // List number 0 removes a paragraph from the list of its style.
    const marker = listId === undefined || listId === "0" ? undefined : numbering.next(listId, depth);
    const text = paragraph.text.toString();
    // The first column of a form often contains only numbers.
    if (marker !== undefined && marker !== "-" && writer.isInCell && !paragraph.text.hasWords)
      return writer.paragraph(marker);
    if (heading !== undefined) {
      const number = marker === undefined || marker === "-" ? "" : `${marker} `;
      writer.paragraph(number + text, { heading });
    } else if (marker !== undefined && marker !== "") {
      writer.paragraph(text, { list: { depth, marker } });
    } else {
      writer.paragraph(text);
    }
  }
}

interface OpenParagraph {
  text: LinkedText;
  styleId: string | undefined;
  outlineLevel?: number;
  listId?: string;
  listDepth?: number;
}

const MAX_PARAGRAPH_LENGTH = 5_000_000;

type Opener = (text: WordText, attributes: Attributes, value: string | undefined) => boolean | void;

const OPENERS = new Map<string, Opener>([
  ["w:p", (text) => text.beginParagraph()],
  ["w:pPr", (text) => void (text.run.isInParagraphProperties = true)],
  ["w:pStyle", (text, _, value) => text.paragraphProperty((paragraph) => (paragraph.styleId = value))],
  ["w:outlineLvl", (text, _, value) => text.paragraphProperty((paragraph) => (paragraph.outlineLevel = Number(value)))],
  ["w:numId", (text, _, value) => text.paragraphProperty((paragraph) => (paragraph.listId = value ?? "0"))],
  ["w:ilvl", (text, _, value) => text.paragraphProperty((paragraph) => (paragraph.listDepth = Number(value) || 0))],
  ["w:r", (text) => text.beginRun()],
  ["w:rStyle", (text, _, value) => text.runStyle(value)],
  ["w:vanish", (text, _, value) => text.run.hide(isOn(value))],
  ["w:rFonts", (text, attributes) => text.run.setFont(attributes)],
  ["w:sym", (text, attributes) => text.write(symbolText(attributes))],
  ["w:t", (text) => void (text.run.isInText = true)],
  ["m:t", (text) => void (text.run.isInText = true)],
  ["w:tab", (text) => text.write("\t")],
  ["w:ptab", (text) => text.write("\t")],
  ["w:br", (text) => text.write("\n")],
  ["w:cr", (text) => text.write("\n")],
  ["w:noBreakHyphen", (text) => text.write("-")],
  ["w:instrText", (text) => text.instruction(true)],
  ["w:fldChar", (text, attributes) => text.fieldMark(attributes["w:fldCharType"])],
  ["w:hyperlink", (text, attributes) => text.beginLink(attributes["r:id"])],
  ["w:footnoteReference", (text, attributes) => text.note("footnote", attributes["w:id"])],
  ["w:endnoteReference", (text, attributes) => text.note("endnote", attributes["w:id"])],
  ["w:headerReference", (text, attributes) => text.reference("header", attributes["r:id"])],
  ["w:footerReference", (text, attributes) => text.reference("footer", attributes["r:id"])],
  ["w:altChunk", (text, attributes) => text.reference("altChunk", attributes["r:id"])],
  ["c:chart", (text, attributes) => text.reference("chart", attributes["r:id"])],
  ["dgm:relIds", (text, attributes) => text.reference("diagram", attributes["r:dm"])],
  ["wp:docPr", (text, attributes) => text.picture(attributes["descr"])],
  ["v:imagedata", (text, attributes) => text.picture(attributes["o:title"])],
  ["v:textpath", (text, attributes) => text.write(` ${attributes["string"] ?? ""} `)],
  ["w:ruby", (text) => text.readings?.beginWords()],
  ["w:rt", (text) => text.readings?.beginReading()],
  ["w:txbxContent", (text) => text.beginBox()],
  ["w:tbl", (text) => text.writer.beginTable()],
  ["w:tr", (text) => text.rows.begin(text.writer)],
  ["w:trPr", (text) => text.rows.properties(true)],
  ["w:hidden", (text, _, value) => void (isOn(value) && text.rows.leaveOut())],
  ["w:tc", (text) => text.writer.beginCell()],
  ["w:gridSpan", (text, _, value) => text.writer.cellSpan(Number(value) || 1)],
]);

const CLOSERS = new Map<string, (text: WordText) => void>([
  ["w:p", (text) => text.endParagraph()],
  ["w:pPr", (text) => void (text.run.isInParagraphProperties = false)],
  ["w:r", (text) => text.run.end()],
  ["w:t", (text) => void (text.run.isInText = false)],
  ["m:t", (text) => void (text.run.isInText = false)],
  ["w:instrText", (text) => text.instruction(false)],
  ["w:hyperlink", (text) => text.endLink()],
  ["w:ruby", (text) => text.readings?.endWords()],
  ["w:rt", (text) => text.readings?.endReading()],
  ["w:txbxContent", (text) => text.endBox()],
  ["w:tbl", (text) => text.writer.endTable()],
  ["w:tr", (text) => text.rows.end(text.writer)],
  ["w:trPr", (text) => text.rows.properties(false)],
  ["w:tc", (text) => text.writer.endCell()],
]);
