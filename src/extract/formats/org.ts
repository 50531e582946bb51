import { oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { type MarkedDocument, type MarkedLine, noteProperty, readMarkedText } from "./marked-text.ts";

/**
 * Org text is kept unchanged except for its comments, which are removed. `#+TITLE:` and similar keywords become the title and properties, and
 * headings become sections. Source: https://orgmode.org/worg/org-syntax.html
 */
export const orgFormat: Format = {
  extract(input): FormatText {
    const document: MarkedDocument = { properties: {} };
    const top: string[] = [];
    const reader = new OrgReader(document, (name) => void top.push(name));
    const result = readMarkedText(input, document, (line, index, lines) => reader.read(line, index, lines));
    const [first] = top;
    return result.title === undefined && top.length === 1 && first !== undefined ? { ...result, title: first } : result;
  },
};

class OrgReader {
  private readonly document: MarkedDocument;
  private readonly onTop: (name: string) => void;
  private block: string | undefined;
  /** Kinds of blocks that have no end in the rest of the text. */
  private readonly unclosed = new Set<string>();
  /** Number of stars of the heading whose text is a comment. */
  private commentLevel: number | undefined;

  constructor(document: MarkedDocument, onTop: (name: string) => void) {
    this.document = document;
    this.onTop = onTop;
  }

  read(line: string, index: number, lines: readonly string[]): MarkedLine {
    if (this.block !== undefined) {
      const isComment = this.block === "comment";
      if (isEndOf(this.block, line)) this.block = undefined;
      return { text: isComment ? "" : line };
    }
    const [, stars, words] = /^(\*{1,20})[ \t]+(\S.*)$/u.exec(line) ?? [];
    if (stars !== undefined && words !== undefined) return this.heading(line, stars.length, words);
    if (this.commentLevel !== undefined || /^[ \t]*#(?:[ \t]|$)/u.test(line)) return { text: "" };
    this.block = this.beginsBlock(line, index, lines);
    if (this.block !== undefined) return { text: this.block === "comment" ? "" : line };
    const [, name, value] = /^#\+([\w-]{1,60}):[ \t]*(\S.*)$/u.exec(line) ?? [];
    if (name !== undefined && value !== undefined && ABOUT.has(name.toLowerCase()))
      this.note(name.toLowerCase(), value);
    return { text: line };
  }

  /** Returns the kind of the block that begins here; a block without an end isn't one. */
  private beginsBlock(line: string, index: number, lines: readonly string[]): string | undefined {
    const kind = /^\s*#\+begin_(src|example|comment|export|quote|verse|center)\b/iu.exec(line)?.[1]?.toLowerCase();
    if (kind === undefined || this.unclosed.has(kind)) return undefined;
    for (let at = index + 1; at < lines.length; at++) if (isEndOf(kind, lines[at] ?? "")) return kind;
    this.unclosed.add(kind);
    return undefined;
  }

  private note(name: string, value: string): void {
    // A long title continues in another `#+TITLE:` line.
    if (name === "title" && this.document.title !== undefined)
      this.document.title = oneLine(`${this.document.title} ${value}`, 500);
    else noteProperty(this.document, name === "filetags" ? "tags" : name, plain(value));
  }

  private heading(line: string, level: number, words: string): MarkedLine {
    if (this.commentLevel !== undefined && level > this.commentLevel) return { text: "" };
    this.commentLevel = /^(?:[A-Z]{2,12}[ \t]+)?COMMENT\b/u.test(words) ? level : undefined;
    if (this.commentLevel !== undefined) return { text: "" };
    const name = plain(
      words
        .replace(/^(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED|CANCELED|STARTED)[ \t]+/u, "")
        .replace(/^\[#[A-Z0-9]\][ \t]*/u, "")
        .replace(/[ \t]+:[\p{L}\p{N}_@#%:]{1,200}:[ \t]*$/u, ""),
    );
    if (level === 1) this.onTop(name);
    return { text: line, heading: { name, level } };
  }
}

function isEndOf(kind: string, line: string): boolean {
  return /^\s*#\+end_(\w{1,20})\b/iu.exec(line)?.[1]?.toLowerCase() === kind;
}

/** Keywords that describe a document; all others configure programs. */
const ABOUT = new Set([
  "title",
  "subtitle",
  "author",
  "email",
  "date",
  "description",
  "keywords",
  "filetags",
  "language",
]);

/** Returns text without links and emphasis. */
function plain(words: string): string {
  return oneLine(
    words
      .slice(0, 1_000)
      .replaceAll(/\[\[[^\][]*\]\[([^\][]*)\]\]/gu, "$1")
      .replaceAll(/\[\[([^\][]*)\]\]/gu, "$1")
      .replaceAll(/(^|\s)([*/_=~+])(?=\S)([^*/_=~+]+)\2(?=\s|[.,;:!?]|$)/gu, "$1$3"),
    200,
  );
}
