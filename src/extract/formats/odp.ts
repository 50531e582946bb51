import { oneLine } from "#extract/clean.ts";
import type { FormatInput, FormatResult } from "#extract/format.ts";
import { blocksText, BlockWriter } from "#extract/office/blocks.ts";
import { zipFormat } from "#extract/office/failures.ts";
import { bodyReader, makeOdfText, odfCommentLines } from "#extract/office/odf-document.ts";
import { openOdf, readOdfProperties } from "#extract/office/odf-file.ts";
import type { OdfStyles } from "#extract/office/odf-styles.ts";
import type { OdfText } from "#extract/office/odf-text.ts";
import { resultProperties } from "#extract/office/properties.ts";
import type { SlideShape } from "#extract/office/slide-text.ts";
import { writeSlide } from "#extract/office/slide-writer.ts";
import type { Attributes, XmlHandler } from "#extract/office/xml.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** OpenDocument presentations and drawings. Each visible page is a section, like a PowerPoint slide. */
export const odpFormat = zipFormat(readPresentation);

function readPresentation({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const file = openOdf(bytes);
  const out = new TextBuilder(maxTextLength);
  const writer = new BlockWriter(out, hasTime);
  const { text, styles } = makeOdfText(file, writer);
  const pages = new PageReader(writer, text, styles);
  if (!file.walk("content", bodyReader(styles, pages))) throw new Error("the presentation has no content");
  writer.appendix("Headers and footers", [...pages.furniture]);
  writer.end();
  const { properties, ...rest } = resultProperties(readOdfProperties(file));
  properties["slides"] = String(pages.count);
  return out.result({ isCut: writer.isFull, properties, ...rest });
}

/** Separates the pages into shapes, notes and comments. */
class PageReader implements Required<XmlHandler> {
  count = 0;
  /** Texts that repeat on many pages. */
  readonly furniture = new Set<string>();
  private readonly writer: BlockWriter;
  private readonly inner: OdfText;
  private readonly styles: OdfStyles;
  private page: OpenPage | undefined;
  /** Number of open elements inside the page. */
  private depth = 0;
  private place: string | undefined;

  constructor(writer: BlockWriter, text: OdfText, styles: OdfStyles) {
    this.writer = writer;
    this.inner = text;
    this.styles = styles;
  }

  isDone(): boolean {
    return this.writer.isFull;
  }

  open(name: string, attributes: Attributes): boolean {
    if (name === "draw:page") return this.beginPage(attributes);
    if (this.page === undefined) return this.inner.open(name, attributes) === true;
    if (this.depth === 0) {
      this.place = name === "presentation:notes" ? "notes" : attributes["presentation:class"];
      this.writer.beginCapture();
    }
    this.depth++;
    // The page number and the date aren't part of a page's text.
    const isLeftOut = MOVING.has(attributes["presentation:class"] ?? "") || this.inner.open(name, attributes) === true;
    if (!isLeftOut) return false;
    this.depth--;
    if (this.depth === 0) this.writer.endCapture();
    return true;
  }

  text(data: string): void {
    if (this.page !== undefined) this.inner.text(data);
    else if (/\S/u.test(data)) this.furniture.add(data.trim());
  }

  close(name: string): void {
    if (name === "draw:page") return this.endPage();
    this.inner.close(name);
    if (this.page === undefined || this.depth === 0) return;
    this.depth--;
    if (this.depth === 0) this.endShape(this.page);
  }

  private beginPage(attributes: Attributes): boolean {
    this.count++;
    if (this.styles.isHidden("drawing-page", attributes["draw:style-name"])) return true;
    const name = ownName(attributes["draw:name"], this.count);
    this.page = { name, shapes: [], notes: [], comments: this.inner.comments.length };
    this.depth = 0;
    return false;
  }

  private endShape(page: OpenPage): void {
    const blocks = this.writer.endCapture();
    if (blocks.length === 0) return;
    if (this.place === "notes") page.notes.push({ blocks });
    else if (this.place === "footer" || this.place === "header") this.furniture.add(blocksText(blocks));
    else if (this.place === "title") page.shapes.push({ place: "title", blocks });
    else page.shapes.push({ blocks });
  }

  private endPage(): void {
    const { page } = this;
    this.page = undefined;
    if (page === undefined) return;
    const comments = odfCommentLines(this.inner.comments.slice(page.comments));
    writeSlide(this.writer, { ...page, number: this.count, comments });
  }
}

interface OpenPage {
  name: string | undefined;
  shapes: SlideShape[];
  notes: SlideShape[];
  /** Number of comments before the page. */
  comments: number;
}

/**
 * Returns the name that a person gave a page. Undefined for automatic names, which are a word and the page's number in any language: `page1`, `Folie
 * 1`.
 */
function ownName(name: string | undefined, number: number): string | undefined {
  const words = oneLine(name ?? "", MAX_NAME_LENGTH);
  const isOfProgram = words.endsWith(String(number)) && /^\p{L}+ ?\d+$/u.test(words);
  return words === "" || isOfProgram ? undefined : words;
}

const MAX_NAME_LENGTH = 500;

const MOVING = new Set(["page-number", "date-time"]);
