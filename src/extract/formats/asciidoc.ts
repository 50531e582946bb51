import { oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { OpenBlocks } from "./asciidoc-blocks.ts";
import { type MarkedDocument, type MarkedLine, noteProperty, readMarkedText } from "./marked-text.ts";

/**
 * AsciiDoc is kept unchanged except for its comments, which are removed. The title, author and attributes of its header become the title and
 * properties, and its headings become sections. Source: https://docs.asciidoctor.org/asciidoc/latest/document/header/
 */
export const asciidocFormat: Format = {
  extract(input): FormatText {
    const document: MarkedDocument = { properties: {} };
    const reader = new AsciidocReader(document);
    return readMarkedText(input, document, (line, index, lines) => reader.read(line, index, lines));
  },
};

class AsciidocReader {
  private readonly document: MarkedDocument;
  /** The line that ends the current verbatim block. */
  private blockEnd: string | undefined;
  /** The open blocks in which markup is interpreted, except headings. */
  private readonly blocks = new OpenBlocks();
  /** Whether the paragraph is verbatim until an empty line. */
  private isLiteral = false;
  private place: "before" | "head" | "body" = "before";
  private readonly attributes = new Map<string, string>();

  constructor(document: MarkedDocument) {
    this.document = document;
  }

  read(line: string, index: number, lines: readonly string[]): MarkedLine {
    const mark = line.trimEnd();
    if (this.blockEnd !== undefined) {
      const isComment = this.blockEnd.startsWith("//");
      if (mark === this.blockEnd) this.blockEnd = undefined;
      return { text: isComment ? "" : line };
    }
    if (mark === "") this.isLiteral = false;
    const two = this.isText ? this.twoLineTitle(mark, index, lines) : undefined;
    if (two !== undefined) return { text: line, heading: { ...two, isLineBefore: true } };
    if (/^(?:-{4,}|\.{4,}|\+{4,}|\/{4,}|`{3,}.*)$/u.test(mark)) {
      this.blockEnd = mark.startsWith("`") ? "```" : mark;
      return { text: mark.startsWith("//") ? "" : line };
    }
    if (/^\/\/(?!\/)/u.test(line)) return { text: "" };
    if (this.blocks.read(mark, index, lines)) return { text: line };
    if (LITERAL_STYLE.test(mark)) this.isLiteral = true;
    if (!this.isText) return { text: line };
    if (this.place !== "body") this.readHead(mark, index, lines);
    const [, marks, words] = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/u.exec(mark) ?? [];
    if (marks === undefined || words === undefined) return { text: line };
    return { text: line, heading: this.heading(marks.length, words) };
  }

  private get isText(): boolean {
    return !this.isLiteral && !this.blocks.isIn;
  }

  private heading(level: number, words: string): { name: string; level: number } {
    const name = this.plain(words);
    if (level === 1) this.document.title ??= name;
    return { name, level };
  }

  /** Reads a title with a line of marks of the same length below it. */
  private twoLineTitle(mark: string, index: number, lines: readonly string[]) {
    const level = /^([=\-~^+])\1+$/u.test(mark) ? "=-~^+".indexOf(mark.charAt(0)) + 1 : 0;
    const above = lines[index - 1]?.trimEnd() ?? "";
    const isAlone = index < 2 || lines[index - 2]?.trim() === "" || /^\[.*\]$/u.test(lines[index - 2]?.trim() ?? "");
    if (level === 0 || !/^[\p{L}\p{N}]/u.test(above) || !isAlone || Math.abs(above.length - mark.length) > 1)
      return undefined;
    if (level === 1) this.place = "head";
    return this.heading(level, above);
  }

  /** Reads the header after the title, up to the first empty line: author, revision, attributes. */
  private readHead(line: string, index: number, lines: readonly string[]): void {
    const [, name, value] = /^:([\w-]{1,60}):(?:[ \t]+(.*))?$/u.exec(line) ?? [];
    if (name !== undefined) {
      if (this.attributes.size < 200) this.attributes.set(name.toLowerCase(), value ?? "");
      if (ABOUT.has(name.toLowerCase())) noteProperty(this.document, name, this.plain(value ?? ""));
    } else if (/^[=#] /u.test(line)) this.place = "head";
    else if (line === "") this.place = this.place === "head" ? "body" : "before";
    else if (this.place === "before")
      this.place = /^[[.]/u.test(line) || lines[index + 1]?.startsWith("=") === true ? "before" : "body";
    else this.readAuthor(line);
  }

  private readAuthor(line: string): void {
    const [, version, date] = /^v?(\d[^,:]{0,30})(?:,\s*([^:]{1,60}))?(?::.*)?$/u.exec(line) ?? [];
    if (version !== undefined) {
      noteProperty(this.document, "version", version);
      noteProperty(this.document, "date", date ?? "");
    } else if (/^\p{L}/u.test(line) && this.document.properties["author"] === undefined)
      noteProperty(this.document, "author", line);
  }

  /** Returns text without markup; attributes of the header are replaced with their values. */
  private plain(words: string): string {
    return oneLine(
      words
        .slice(0, 1_000)
        .replaceAll(/\[\[[^\]]*\]\]|\[#[^\]]*\]/gu, "")
        .replaceAll(/\{([\w-]{1,60})\}/gu, (whole, name: string) => this.attributes.get(name.toLowerCase()) ?? whole)
        .replaceAll(/(?:link:|xref:|https?:\/\/)[^\s[\]]{1,500}\[([^\]]+)\]/gu, "$1")
        .replaceAll(/<<[^<>,]*,([^<>]+)>>/gu, "$1")
        .replaceAll(/([*_`#]{1,2})(?=\S)([^*_`#]+)\1/gu, "$2")
        .replace(/\s[=#]+$/u, ""),
      200,
    );
  }
}

/** The style of a verbatim paragraph. */
const LITERAL_STYLE = /^\[(?:source|listing|literal|verse|stem|latexmath|asciimath)\b[^\]]*\]$/u;

/** Attributes that describe a document; all others configure programs. */
const ABOUT = new Set([
  "title",
  "author",
  "authors",
  "email",
  "description",
  "keywords",
  "lang",
  "revdate",
  "revnumber",
  "tags",
  "page-tags",
]);
