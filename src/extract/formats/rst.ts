import { oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { type MarkedDocument, type MarkedLine, noteProperty, readMarkedText } from "./marked-text.ts";

/**
 * reStructuredText is kept unchanged except for its comments, which are removed. Its first heading is the title, and the fields at its top become
 * properties. Source: https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html
 */
export const rstFormat: Format = {
  extract(input): FormatText {
    const document: MarkedDocument = { properties: {} };
    const reader = new RstReader(document);
    return readMarkedText(input, document, (line, index, lines) => reader.read(line, index, lines));
  },
};

class RstReader {
  private readonly document: MarkedDocument;
  /** Heading marks in the order of their first use, which determines their level. */
  private readonly styles: string[] = [];
  private isInComment = false;
  /** The last line of the most recent heading. */
  private headingEnd = -1;
  /** Whether text other than headings and fields has been read. */
  private isInBody = false;

  constructor(document: MarkedDocument) {
    this.document = document;
  }

  read(line: string, index: number, lines: readonly string[]): MarkedLine {
    if (this.isInComment && (line.trim() === "" || /^\s/u.test(line))) return { text: "" };
    this.isInComment = /^\.\.(?:$|\s+(?![_[|]|[\w+.:-]+::|__))/u.test(line);
    if (this.isInComment) {
      // A line of only two dots ends the block before it, unless text follows.
      this.isInComment = line.trim() !== ".." || lines[index + 1]?.trim() !== "";
      return { text: "" };
    }
    const heading = this.heading(line, index, lines);
    if (heading !== undefined) {
      this.headingEnd = index + (heading.isLineBefore === true ? 0 : 2);
      return { text: line, heading };
    }
    if (index > this.headingEnd) this.readField(line);
    return { text: line };
  }

  /** Reads a heading: a title with a line of marks below it, and possibly above it. */
  private heading(line: string, index: number, lines: readonly string[]): MarkedLine["heading"] {
    const title = lines[index + 1]?.trimEnd() ?? "";
    const below = lines[index + 2]?.trimEnd() ?? "";
    const mark = line.trimEnd();
    if (
      isAdornment(mark) &&
      mark === below &&
      title.trim() !== "" &&
      !isAdornment(title) &&
      title.trim().length <= mark.length
    )
      return this.found(title, `${mark.charAt(0)}over`, false);
    const above = lines[index - 1]?.trimEnd() ?? "";
    const isOver = lines[index - 2]?.trimEnd() === mark;
    const isTitle = /^[^\s.:|+*-]|^[.:*-]\S/u.test(above) && !isAdornment(above);
    if (!isAdornment(mark) || isOver || !isTitle || above.length > mark.length + 1) return undefined;
    if (index > 1 && lines[index - 2]?.trim() !== "" && !isAdornment(lines[index - 2]?.trimEnd() ?? ""))
      return undefined;
    return this.found(above, mark.charAt(0), true);
  }

  private found(words: string, style: string, isLineBefore: boolean): MarkedLine["heading"] {
    if (!this.styles.includes(style)) this.styles.push(style);
    const level = this.styles.indexOf(style) + 1;
    const name = plain(words);
    if (level === 1) this.document.title ??= name;
    return { name, level, isLineBefore };
  }

  private readField(line: string): void {
    if (this.isInBody) return;
    const [, name, value] = /^:([A-Za-z][\w -]{0,60}):\s+(\S.*)$/u.exec(line) ?? [];
    if (name !== undefined && value !== undefined) noteProperty(this.document, name.replaceAll(" ", "-"), plain(value));
    // A word here may be a title whose line of marks follows.
    else if (/^\w/u.test(line)) this.isInBody = this.document.title !== undefined;
  }
}

function isAdornment(line: string): boolean {
  return /^([!-/:-@[-`{-~])\1+$/u.test(line) && line.length >= 2 && line !== "::" && line !== "..";
}

/** Returns text without roles, references and emphasis. */
function plain(words: string): string {
  return oneLine(
    words
      .slice(0, 1_000)
      .replaceAll(/:[\w:+.-]{1,60}:`/gu, "`")
      .replaceAll(/`([^`<]*?)\s*<[^<>`]*>`_{0,2}/gu, "$1")
      .replaceAll(/`{1,2}([^`]+)`{1,2}_{0,2}/gu, "$1")
      .replaceAll(/(\*{1,2}|\|)(?=\S)([^*|]+)\1/gu, "$2")
      .replaceAll(/\\(\S)/gu, "$1"),
    200,
  );
}
