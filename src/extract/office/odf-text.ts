import { webAddress } from "#extract/link-addresses.ts";
import { append } from "#core/append.ts";
import type { Readings } from "#extract/readings.ts";
import { altText, type Block, type BlockWriter } from "./blocks.ts";
import { LinkedText } from "./linked-text.ts";
import { type ListCounters, OdfLists } from "./odf-lists.ts";
import { isLeftOut } from "./odf-left-out.ts";
import type { OdfStyles } from "./odf-styles.ts";
import { type Attributes, type XmlHandler } from "./xml.ts";

export interface OdfNote {
  id: string;
  blocks: Block[];
}

export interface OdfComment {
  author: string;
  date: string;
  blocks: Block[];
}

export interface OdfContext {
  writer: BlockWriter;
  styles: OdfStyles;
  /** Returns the text of an object inside the document: a chart, a formula. */
  object(href: string): Block[];
}

/**
 * Reads text of an OpenDocument file into a writer: paragraphs, headings, lists and tables. Text boxes are written after the paragraph that they are
 * anchored to. Notes and comments are collected. Deleted and hidden text is left out.
 */
export class OdfText implements XmlHandler {
  readonly footnotes: OdfNote[] = [];
  readonly endnotes: OdfNote[] = [];
  readonly comments: OdfComment[] = [];
  private readonly context: OdfContext;
  private readonly flows: Flow[] = [];
  private readonly counters: ListCounters = new Map();
  private readonly noteClasses: string[] = [];
  private comment: OdfComment | undefined;
  /** Collects text outside paragraphs: the author and date of a comment, the description of a picture. */
  private aside: string | undefined;

  constructor(context: OdfContext) {
    this.context = context;
    this.flows.push(this.newFlow());
  }

  isDone(): boolean {
    return this.context.writer.isFull;
  }

  open(name: string, attributes: Attributes): boolean | void {
    if (isLeftOut(name)) return true;
    return OPENERS.get(name)?.(this, attributes);
  }

  close(name: string): void {
    CLOSERS.get(name)?.(this);
  }

  text(data: string): void {
    if (this.aside !== undefined) this.aside += data.slice(0, 5_000);
    else this.write(data);
  }

  write(text: string): void {
    this.paragraph?.text.write(text);
  }

  /** Begins a paragraph, or a heading of the given level. */
  beginParagraph(attributes: Attributes, heading: number | undefined): void {
    const styleName = attributes["text:style-name"];
    const isHidden = this.context.styles.isHidden("paragraph", styleName);
    const level = heading ?? (this.context.styles.isTitle(styleName) ? 1 : undefined);
    this.flow.paragraphs.push({ text: new LinkedText(MAX_PARAGRAPH_LENGTH), isHidden, heading: level });
  }

  hideParagraph(isHidden: string | undefined): void {
    const { paragraph } = this;
    if (paragraph !== undefined && isHidden === "true") paragraph.isHidden = true;
  }

  endParagraph(): void {
    const { flow } = this;
    const paragraph = flow.paragraphs.pop();
    if (paragraph === undefined) return;
    const block = this.blockOf(paragraph);
    if (flow.paragraphs.length > 0) {
      if (block !== undefined) flow.pending.push(block);
      return;
    }
    if (block !== undefined) this.context.writer.add(block);
    this.context.writer.addAll(flow.pending);
    flow.pending = [];
  }

  isSpanHidden(styleName: string | undefined): boolean {
    return this.context.styles.isHidden("text", styleName);
  }

  beginLink(href: string | undefined): void {
    this.paragraph?.text.beginLink(webAddress(href ?? ""));
  }

  endLink(): void {
    this.paragraph?.text.endLink();
  }

  get lists(): OdfLists {
    return this.flow.lists;
  }

  beginNote(attributes: Attributes): void {
    this.noteClasses.push(attributes["text:note-class"] ?? "footnote");
  }

  beginNoteBody(): void {
    const isEndnote = this.noteClasses.at(-1) === "endnote";
    this.write(isEndnote ? `[^e${this.endnotes.length + 1}]` : `[^${this.footnotes.length + 1}]`);
    this.beginFlow();
  }

  endNoteBody(): void {
    const blocks = this.endFlow();
    const isEndnote = this.noteClasses.pop() === "endnote";
    const notes = isEndnote ? this.endnotes : this.footnotes;
    notes.push({ id: isEndnote ? `e${notes.length + 1}` : String(notes.length + 1), blocks });
  }

  beginComment(): void {
    this.comment = { author: "", date: "", blocks: [] };
    this.beginFlow();
  }

  endComment(): void {
    const blocks = this.endFlow();
    if (this.comment !== undefined) this.comments.push({ ...this.comment, blocks });
    this.comment = undefined;
  }

  beginAside(): void {
    this.aside = "";
  }

  endAside(kind: "author" | "date" | "picture"): void {
    const words = this.aside ?? "";
    this.aside = undefined;
    if (kind !== "picture") {
      if (this.comment !== undefined) this.comment[kind] = words;
      return;
    }
    const text = altText(words);
    if (text === undefined) return;
    if (this.flow.paragraphs.length > 0) this.write(` ${text} `);
    else this.context.writer.paragraph(text);
  }

  addObject(href: string | undefined): void {
    const blocks = href === undefined ? [] : this.context.object(href);
    if (this.flow.paragraphs.length > 0) append(this.flow.pending, blocks);
    else this.context.writer.addAll(blocks);
  }

  get writer(): BlockWriter {
    return this.context.writer;
  }

  private get flow(): Flow {
    const flow = this.flows.at(-1);
    if (flow === undefined) throw new RangeError("text without a flow");
    return flow;
  }

  get readings(): Readings | undefined {
    return this.paragraph?.text.readings;
  }

  private get paragraph(): OpenParagraph | undefined {
    return this.flow.paragraphs.at(-1);
  }

  private beginFlow(): void {
    this.flows.push(this.newFlow());
    this.context.writer.beginCapture();
  }

  private endFlow(): Block[] {
    if (this.flows.length > 1) this.flows.pop();
    return this.context.writer.endCapture();
  }

  private blockOf({ text: words, isHidden, heading }: OpenParagraph): Block | undefined {
    if (isHidden || !words.hasWords) return undefined;
    const text = words.toString();
    if (heading !== undefined) return { kind: "paragraph", text, heading };
    const list = this.lists.takeMarker();
    return list === undefined ? { kind: "paragraph", text } : { kind: "paragraph", text, list };
  }

  private newFlow(): Flow {
    return { paragraphs: [], pending: [], lists: new OdfLists(this.context.styles, this.counters) };
  }
}

/** A sequence of paragraphs: the document's, a note's, a comment's. */
interface Flow {
  paragraphs: OpenParagraph[];
  pending: Block[];
  lists: OdfLists;
}

interface OpenParagraph {
  text: LinkedText;
  isHidden: boolean;
  heading: number | undefined;
}

const MAX_PARAGRAPH_LENGTH = 5_000_000;
const MAX_REPEATED_SPACES = 20;

const OPENERS = new Map<string, (text: OdfText, attributes: Attributes) => boolean | void>([
  ["text:p", (text, attributes) => text.beginParagraph(attributes, undefined)],
  ["text:h", (text, attributes) => text.beginParagraph(attributes, Number(attributes["text:outline-level"]) || 1)],
  ["text:span", (text, attributes) => text.isSpanHidden(attributes["text:style-name"])],
  ["text:section", (_, attributes) => attributes["text:display"] === "none"],
  ["text:hidden-paragraph", (text, attributes) => text.hideParagraph(attributes["text:is-hidden"])],
  ["text:s", (text, { "text:c": count }) => text.write(" ".repeat(Math.min(MAX_REPEATED_SPACES, Number(count) || 1)))],
  ["text:tab", (text) => text.write("\t")],
  ["text:line-break", (text) => text.write("\n")],
  ["text:a", (text, attributes) => text.beginLink(attributes["xlink:href"])],
  ["text:list", (text, attributes) => text.lists.begin(attributes)],
  ["text:list-item", (text) => text.lists.beginItem(true)],
  ["text:list-header", (text) => text.lists.beginItem(false)],
  ["text:ruby", (text) => text.readings?.beginWords()],
  ["text:ruby-text", (text) => text.readings?.beginReading()],
  ["text:note", (text, attributes) => text.beginNote(attributes)],
  ["text:note-body", (text) => text.beginNoteBody()],
  ["office:annotation", (text) => text.beginComment()],
  ["dc:creator", (text) => text.beginAside()],
  ["dc:date", (text) => text.beginAside()],
  ["meta:date-string", () => true],
  ["meta:creator-initials", () => true],
  ["svg:title", (text) => text.beginAside()],
  ["svg:desc", (text) => text.beginAside()],
  ["draw:object", (text, attributes) => text.addObject(attributes["xlink:href"])],
  ["table:table", (text) => text.writer.beginTable()],
  ["table:table-row", (text) => text.writer.beginRow()],
  [
    "table:table-cell",
    (text, attributes) => text.writer.beginCell(Number(attributes["table:number-columns-spanned"]) || 1),
  ],
]);

const CLOSERS = new Map<string, (text: OdfText) => void>([
  ["text:p", (text) => text.endParagraph()],
  ["text:h", (text) => text.endParagraph()],
  ["text:a", (text) => text.endLink()],
  ["text:list", (text) => text.lists.end()],
  ["text:ruby", (text) => text.readings?.endWords()],
  ["text:ruby-text", (text) => text.readings?.endReading()],
  ["text:note-body", (text) => text.endNoteBody()],
  ["office:annotation", (text) => text.endComment()],
  ["dc:creator", (text) => text.endAside("author")],
  ["dc:date", (text) => text.endAside("date")],
  ["svg:title", (text) => text.endAside("picture")],
  ["svg:desc", (text) => text.endAside("picture")],
  ["table:table", (text) => text.writer.endTable()],
  ["table:table-row", (text) => text.writer.endRow()],
  ["table:table-cell", (text) => text.writer.endCell()],
]);
