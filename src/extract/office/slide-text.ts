import { type LinkMark, withAddresses } from "#extract/link-addresses.ts";
import { Alternatives } from "./alternatives.ts";
import { MathMarks } from "./math-marks.ts";
import { altText, blocksText, type Block, type BlockWriter } from "./blocks.ts";
import { textInFont } from "#extract/symbol-fonts.ts";
import { linkOf, type Relationships } from "./package.ts";
import { isOn, type Attributes, type XmlHandler } from "./xml.ts";
import { withoutControlEscapes } from "./xstring.ts";

/** A shape of a slide and its text. */
export interface SlideShape {
  /** The type of placeholder: `title`, `body`, `ftr`, `dt`, `sldNum` …; absent for shapes that aren't a placeholder of the layout. */
  place?: string;
  blocks: Block[];
}

export interface SlideContext {
  writer: BlockWriter;
  relationships: Relationships;
  /** Returns a chart or diagram, which is in another file of the package. */
  found(kind: "chart" | "diagram", id: string): Block[];
}

/** Reads a slide, or its notes, into shapes in the order of the document; hidden shapes are left out. */
export class SlideText implements XmlHandler {
  readonly shapes: SlideShape[] = [];
  /** Whether the slide is shown. */
  isShown = true;
  private readonly context: SlideContext;
  private readonly alternatives = new Alternatives();
  private readonly math = new MathMarks();
  private readonly openShapes: OpenShape[] = [];
  private paragraph: OpenParagraph | undefined;
  private isInText = false;

  constructor(context: SlideContext) {
    this.context = context;
  }

  isDone(): boolean {
    return !this.isShown || this.context.writer.isFull || this.shapes.length > MAX_SHAPES;
  }

  open(name: string, attributes: Attributes): boolean | void {
    if (this.alternatives.open(name)) return true;
    this.math.open(name, attributes, (mark) => this.write(mark));
    return OPENERS.get(name)?.(this, attributes);
  }

  close(name: string): void {
    this.alternatives.close(name);
    this.math.close(name, (mark) => this.write(mark));
    CLOSERS.get(name)?.(this);
  }

  text(data: string): void {
    if (this.isInText) this.write(this.paragraph?.run.shown(data) ?? data);
  }

  write(text: string): void {
    const paragraph = this.paragraph;
    if (paragraph === undefined || paragraph.text.length > MAX_PARAGRAPH_LENGTH) return;
    const { marks, runLink: address } = paragraph;
    const start = paragraph.text.length;
    paragraph.text += text;
    if (address !== undefined) marks.push({ start, end: paragraph.text.length, address });
  }

  show(isShown: boolean): void {
    this.isShown = isShown;
  }

  beginShape(): void {
    const isHidden = this.openShapes.at(-1)?.isHidden === true;
    this.openShapes.push({ isHidden, place: undefined });
    this.context.writer.beginCapture();
  }

  /** Reads the properties that every shape has: whether it is hidden, and its author's description. */
  about(attributes: Attributes): void {
    const shape = this.openShapes.at(-1);
    if (shape === undefined) return;
    if (attributes["hidden"] !== undefined && isOn(attributes["hidden"])) shape.isHidden = true;
    const words = altText(attributes["descr"]);
    if (words !== undefined) this.context.writer.paragraph(words);
  }

  place(type: string): void {
    const shape = this.openShapes.at(-1);
    if (shape !== undefined) shape.place = type;
  }

  endShape(): void {
    const shape = this.openShapes.pop();
    if (shape === undefined) return;
    const blocks = this.context.writer.endCapture();
    if (shape.isHidden || blocks.length === 0) return;
    this.shapes.push(shape.place === undefined ? { blocks } : { place: shape.place, blocks });
  }

  beginParagraph(): void {
    this.paragraph = { text: "", marks: [], depth: 0, bullet: undefined, runLink: undefined, run: new SlideRun() };
  }

  paragraphProperties(attributes: Attributes): void {
    if (this.paragraph !== undefined) this.paragraph.depth = Number(attributes["lvl"]) || 0;
  }

  bullet(hasBullet: boolean): void {
    if (this.paragraph !== undefined) this.paragraph.bullet = hasBullet;
  }

  beginRun(): void {
    if (this.paragraph === undefined) return;
    this.paragraph.runLink = undefined;
    this.paragraph.run = new SlideRun();
  }

  font(kind: "letters" | "symbols", name: string | undefined): void {
    if (this.paragraph !== undefined) this.paragraph.run[kind] = name;
  }

  link(id: string | undefined): void {
    if (this.paragraph !== undefined) this.paragraph.runLink = linkOf(this.context.relationships, id);
  }

  inText(isIn: boolean): void {
    this.isInText = isIn;
  }

  endParagraph(): void {
    const paragraph = this.paragraph;
    this.paragraph = undefined;
    if (paragraph === undefined) return;
    const { depth, bullet } = paragraph;
    const text = withoutControlEscapes(withAddresses(paragraph.text, paragraph.marks));
    const isItem = bullet ?? (depth > 0 || this.openShapes.at(-1)?.place === "body");
    this.context.writer.paragraph(text, isItem ? { list: { depth, marker: "-" } } : {});
  }

  reference(kind: "chart" | "diagram", id: string | undefined): void {
    if (id !== undefined) this.context.writer.addAll(this.context.found(kind, id));
  }

  get writer(): BlockWriter {
    return this.context.writer;
  }
}

/** Returns the text of a shape as one line. */
export function shapeText(shape: SlideShape): string {
  return blocksText(shape.blocks);
}

interface OpenShape {
  isHidden: boolean;
  place: string | undefined;
}

interface OpenParagraph {
  text: string;
  depth: number;
  bullet: boolean | undefined;
  marks: LinkMark[];
  /** Link target of the open run. */
  runLink: string | undefined;
  run: SlideRun;
}

/** The fonts of a run. PowerPoint names one font for letters, and another for symbols, which have characters of the private area. */
class SlideRun {
  letters: string | undefined;
  symbols: string | undefined;

  shown(text: string): string {
    const shown = textInFont(this.letters, text);
    return shown.replaceAll(/[\uf020-\uf0ff]/gu, (letter) => textInFont(this.symbols, letter));
  }
}

const MAX_PARAGRAPH_LENGTH = 1_000_000;
const MAX_SHAPES = 20_000;

const OPENERS = new Map<string, (slide: SlideText, attributes: Attributes) => boolean | void>([
  ["p:sld", (slide, attributes) => slide.show(isOn(attributes["show"]))],
  ["p:sp", (slide) => slide.beginShape()],
  ["p:grpSp", (slide) => slide.beginShape()],
  ["p:graphicFrame", (slide) => slide.beginShape()],
  ["p:pic", (slide) => slide.beginShape()],
  ["p:cxnSp", (slide) => slide.beginShape()],
  ["p:cNvPr", (slide, attributes) => slide.about(attributes)],
  // A placeholder without a type can have any content.
  ["p:ph", (slide, attributes) => slide.place(attributes["type"] ?? "body")],
  ["a:p", (slide) => slide.beginParagraph()],
  ["a:pPr", (slide, attributes) => slide.paragraphProperties(attributes)],
  ["a:buNone", (slide) => slide.bullet(false)],
  ["a:buChar", (slide) => slide.bullet(true)],
  ["a:buAutoNum", (slide) => slide.bullet(true)],
  ["a:r", (slide) => slide.beginRun()],
  ["a:fld", (slide) => slide.beginRun()],
  ["a:latin", (slide, attributes) => slide.font("letters", attributes["typeface"])],
  ["a:sym", (slide, attributes) => slide.font("symbols", attributes["typeface"])],
  ["a:hlinkClick", (slide, attributes) => slide.link(attributes["r:id"])],
  ["a:t", (slide) => slide.inText(true)],
  ["m:t", (slide) => slide.inText(true)],
  ["a:br", (slide) => slide.write("\n")],
  ["a:tbl", (slide) => slide.writer.beginTable()],
  ["a:tr", (slide) => slide.writer.beginRow()],
  ["a:tc", (slide) => slide.writer.beginCell()],
  ["c:chart", (slide, attributes) => slide.reference("chart", attributes["r:id"])],
  ["dgm:relIds", (slide, attributes) => slide.reference("diagram", attributes["r:dm"])],
]);

const CLOSERS = new Map<string, (slide: SlideText) => void>([
  ["p:sp", (slide) => slide.endShape()],
  ["p:grpSp", (slide) => slide.endShape()],
  ["p:graphicFrame", (slide) => slide.endShape()],
  ["p:pic", (slide) => slide.endShape()],
  ["p:cxnSp", (slide) => slide.endShape()],
  ["a:p", (slide) => slide.endParagraph()],
  ["a:t", (slide) => slide.inText(false)],
  ["m:t", (slide) => slide.inText(false)],
  ["a:tbl", (slide) => slide.writer.endTable()],
  ["a:tr", (slide) => slide.writer.endRow()],
  ["a:tc", (slide) => slide.writer.endCell()],
]);
