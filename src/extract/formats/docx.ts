import type { FormatInput, FormatResult } from "#extract/format.ts";
import { blocksText, BlockWriter, type Block, ITEM } from "#extract/office/blocks.ts";
import { readGraphic } from "#extract/office/chart-text.ts";
import { commentLine } from "#extract/office/comment-line.ts";
import { zipFormat } from "#extract/office/failures.ts";
import { findType, openPackage, type OfficePackage, type Relationships } from "#extract/office/package.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { readChunk } from "#extract/office/word-chunk.ts";
import { makeWordNumbering, type WordNumbering } from "#extract/office/word-numbering.ts";
import { makeWordStyles, type WordStyles } from "#extract/office/word-styles.ts";
import { WordText, type WordReference } from "#extract/office/word-text.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Word documents: headings, lists, tables and links, followed by footnotes, endnotes, comments, and each header and footer once. */
export const docxFormat = zipFormat(readDocument);

function readDocument({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const file = openPackage(bytes);
  const main = file.mainPart ?? "word/document.xml";
  const out = new TextBuilder(maxTextLength);
  const document = new WordDocument(file, main, new BlockWriter(out, hasTime));
  if (!document.readBody()) throw new Error("the document has no text part");
  document.readRest();
  document.writer.end();
  return out.result({ isCut: document.writer.isFull, ...resultProperties(file.properties()) });
}

class WordDocument {
  readonly writer: BlockWriter;
  private readonly file: OfficePackage;
  private readonly main: string;
  private readonly relationships: Relationships;
  private readonly styles: WordStyles = makeWordStyles();
  private readonly numbering: WordNumbering = makeWordNumbering();
  /** Parts that the body references, in the order of the references. */
  private readonly named: Record<"header" | "footer" | "footnote" | "endnote", Set<string>> = {
    header: new Set(),
    footer: new Set(),
    footnote: new Set(),
    endnote: new Set(),
  };

  private readonly depth: number;

  constructor(file: OfficePackage, main: string, writer: BlockWriter, depth = 0) {
    this.depth = depth;
    this.file = file;
    this.main = main;
    this.writer = writer;
    this.relationships = file.relationshipsOf(main);
    this.walkType("styles", this.styles.handler);
    this.walkType("numbering", this.numbering.handler);
  }

  readBody(): boolean {
    return this.file.walk(this.main, this.storyReader(this.relationships));
  }

  /** Reads notes, comments, headers and footers, each kind under its own heading. */
  readRest(): void {
    this.addNotes("footnote", "Footnotes");
    this.addNotes("endnote", "Endnotes");
    this.addComments();
    this.addHeadersAndFooters();
  }

  private storyReader(relationships: Relationships): WordText {
    const { writer, styles, numbering } = this;
    const found = (kind: WordReference, id: string) => this.found(kind, id, relationships);
    return new WordText({ writer, styles, numbering, relationships, found });
  }

  private found(kind: WordReference, id: string, relationships: Relationships): Block[] {
    if (kind === "header" || kind === "footer" || kind === "footnote" || kind === "endnote") {
      this.named[kind].add(id);
      return [];
    }
    if (kind !== "altChunk") return readGraphic(this.file, relationships, kind, id);
    const part = relationships.get(id);
    return part === undefined || part.isExternal ? [] : this.readChunk(part.target);
  }

  /** Reads a document embedded in this one, in any format that Word accepts. */
  private readChunk(partName: string): Block[] {
    const bytes = this.writer.isFull || this.depth >= MAX_DEPTH ? undefined : this.file.read(partName);
    return bytes === undefined ? [] : readChunk(bytes, this.writer, (inner) => this.readInner(inner));
  }

  private readInner(bytes: Uint8Array): void {
    const file = openPackage(bytes);
    const inner = new WordDocument(file, file.mainPart ?? "word/document.xml", this.writer, this.depth + 1);
    inner.readBody();
    inner.readRest();
  }

  private walkType(type: string, handler: Parameters<OfficePackage["walk"]>[1]): void {
    const part = findType(this.relationships, type);
    if (part !== undefined) this.file.walk(part.target, handler);
  }

  /** Reads the blocks of each element of that name in a part. Each such element is a separate story. */
  private readStories(
    type: string,
    element: string,
  ): { attributes: Readonly<Record<string, string>>; blocks: Block[] }[] {
    const part = findType(this.relationships, type);
    const stories: { attributes: Readonly<Record<string, string>>; blocks: Block[] }[] = [];
    if (part === undefined) return stories;
    const reader = this.storyReader(this.file.relationshipsOf(part.target));
    let opened: Readonly<Record<string, string>> = {};
    this.file.walk(part.target, {
      open: (name, attributes) => {
        if (name !== element) return reader.open(name, attributes);
        opened = attributes;
        this.writer.beginCapture();
      },
      text: (data) => reader.text(data),
      close: (name) => {
        if (name === element) stories.push({ attributes: opened, blocks: this.writer.endCapture() });
        else reader.close(name);
      },
      isDone: () => reader.isDone(),
    });
    return stories;
  }

  private addNotes(kind: "footnote" | "endnote", title: string): void {
    if (this.named[kind].size === 0 || this.writer.isFull) return;
    const stories = this.readStories(`${kind}s`, `w:${kind}`);
    const byId = new Map(stories.map(({ attributes, blocks }) => [attributes["w:id"], blocks]));
    this.writer.paragraph(title, { heading: 1 });
    for (const id of this.named[kind]) {
      const text = blocksText(byId.get(id) ?? []);
      if (text !== "") this.writer.paragraph(`[^${kind === "endnote" ? "e" : ""}${id}]: ${text}`);
    }
  }

  private addComments(): void {
    if (this.writer.isFull) return;
    const comments = this.readStories("comments", "w:comment").flatMap(({ attributes, blocks }) => {
      const text = blocksText(blocks);
      return text === "" ? [] : [commentLine(attributes["w:author"], attributes["w:date"], text)];
    });
    this.writer.appendix("Comments", comments, ITEM);
  }

  private addHeadersAndFooters(): void {
    const texts = new Set<string>();
    for (const id of [...this.named.header, ...this.named.footer]) {
      const part = this.relationships.get(id);
      if (part === undefined || this.writer.isFull) continue;
      this.writer.beginCapture();
      this.file.walk(part.target, this.storyReader(this.file.relationshipsOf(part.target)));
      // Added as plain texts: a heading in a page header isn't a heading of the document.
      for (const block of this.writer.endCapture()) texts.add(blocksText([block]));
    }
    texts.delete("");
    this.writer.appendix("Headers and footers", [...texts]);
  }
}

/** Maximum nesting of documents within documents. */
const MAX_DEPTH = 3;
