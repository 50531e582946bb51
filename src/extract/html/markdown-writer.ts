import { oneLine } from "#extract/clean.ts";
import { webAddress } from "#extract/link-addresses.ts";
import { LinePrefixes } from "./line-prefixes.ts";
import { NoteMark } from "./note-mark.ts";
import { TableLines } from "./table-lines.ts";
import { WordEnd } from "./word-end.ts";
import type { TextBuilder } from "#extract/text-builder.ts";

type End = () => void;

const MAX_CELL_LENGTH = 5_000;

/**
 * Writes Markdown from a stream of text and structure: collapses white space, separates blocks, prefixes the lines of lists and quotations, collects
 * table rows. Emphasis isn't written, because its marks would separate words that are searched for.
 */
export class MarkdownWriter {
  private readonly out: TextBuilder;
  /** Number of line feeds to write before the next text; none at the very beginning. */
  private breaks = 0;
  private needsSpace = false;
  private hasText = false;
  private readonly prefixes = new LinePrefixes();
  private preDepth = 0;
  private readonly tables = new TableLines();
  private rowCells: string[] | undefined;
  private cellText: string | undefined;
  private headingText: string | undefined;
  private readonly wordEnd = new WordEnd();
  private readonly note = new NoteMark();

  constructor(out: TextBuilder) {
    this.out = out;
  }

  text(data: string): void {
    if (this.preDepth > 0 && this.cellText === undefined) return this.rawText(data);
    const words = this.wordEnd.readings.shown(data.replace(WHITE_SPACE, " "));
    if (words.startsWith(" ")) this.needsSpace = true;
    const body = words.startsWith(" ") ? words.slice(1) : words;
    if (body === "") return;
    const isSpaced = body.endsWith(" ");
    this.inline(this.note.before(body) + (isSpaced ? body.slice(0, -1) : body));
    this.needsSpace = isSpaced;
  }

  lineBreak(): void {
    if (this.preDepth > 0 && this.cellText === undefined) this.rawText("\n");
    else this.newLines(1);
  }

  blockElement(isParagraph = true): End {
    const lines = isParagraph ? 2 : 1;
    this.newLines(lines);
    return () => this.newLines(lines);
  }

  /** @param anchor returns the fragment of the heading, once its content was read */
  heading(level: number, anchor: () => string | undefined): End {
    this.newLines(2);
    if (this.isGathering())
      return () => {
        anchor();
        this.newLines(2);
      };
    // The text of a heading is collected, because its section needs the name before the text is written.
    this.headingText = "";
    return () => {
      this.writeDue();
      const id = anchor();
      const words = oneLine((this.headingText ?? "").replace(PERMALINK_MARKS, ""), 1_000);
      this.headingText = undefined;
      this.needsSpace = false;
      if (words !== "") {
        this.startText();
        this.out.section(words, level, this.out.offset, id === undefined ? {} : { anchor: id });
        this.out.add(`${"#".repeat(level)} ${words}`);
      }
      this.newLines(2);
    };
  }

  /** Writes the text and the target of a link. A target within the page or site is left out, because it leads nowhere from the index. */
  link(href: string): End | undefined {
    const address = webAddress(href);
    if (address === undefined || this.headingText !== undefined || this.preDepth > 0) return undefined;
    const start = this.written();
    this.wordEnd.beginLink(address);
    return () => {
      if (this.written() > start) this.wordEnd.endLink(address);
    };
  }

  noteMark(): End {
    this.note.begin();
    return () => this.append(this.note.end());
  }

  /** Begins words with ruby readings above them, or one of the readings. */
  ruby(isReading: boolean): End | undefined {
    return this.preDepth > 0 ? undefined : this.wordEnd.beginRuby(isReading);
  }

  image(alt: string): void {
    const words = oneLine(alt, 500);
    if (words !== "") this.inline(`[image: ${words}]`);
  }

  code(): End | undefined {
    if (this.preDepth > 0 || this.headingText !== undefined) return undefined;
    this.inline("`");
    this.needsSpace = false;
    return () => {
      const isSpaced = this.needsSpace;
      this.append("`");
      this.needsSpace = isSpaced;
    };
  }

  preformatted(language: string): End {
    if (this.cellText !== undefined || this.headingText !== undefined || this.preDepth > 0) return this.blockElement();
    this.newLines(2);
    this.startText();
    this.out.add(`\`\`\`${language}`);
    this.breaks = 1;
    this.preDepth++;
    return () => {
      this.preDepth--;
      this.breaks = Math.min(1, Math.max(1, this.breaks));
      this.startText();
      this.out.add("```");
      this.newLines(2);
    };
  }

  list(first: number | undefined): End {
    this.newLines(this.prefixes.isInList ? 1 : 2);
    this.prefixes.beginList(first);
    return () => {
      this.prefixes.endList();
      this.newLines(this.prefixes.isInList ? 1 : 2);
    };
  }

  item(): End {
    this.newLines(1);
    this.prefixes.beginItem();
    return () => {
      this.prefixes.endItem();
      this.newLines(1);
    };
  }

  quotation(): End {
    const end = this.blockElement();
    this.prefixes.beginQuotation();
    return () => {
      this.prefixes.endQuotation();
      end();
    };
  }

  table(): End {
    this.newLines(2);
    this.tables.begin();
    return () => {
      this.tables.end();
      this.newLines(2);
    };
  }

  row(): End {
    if (!this.tables.isInTable) return this.blockElement(false);
    const cells: string[] = [];
    this.rowCells = cells;
    return () => {
      this.rowCells = undefined;
      this.cellText = undefined;
      this.writeRow(this.tables.row(cells));
    };
  }

  cell(): End {
    const cells = this.rowCells;
    if (cells === undefined) return this.blockElement(false);
    this.cellText = "";
    this.needsSpace = false;
    return () => {
      this.writeDue();
      cells.push(oneLine(this.cellText ?? "", MAX_CELL_LENGTH));
      this.cellText = undefined;
      this.needsSpace = false;
    };
  }

  end(): void {
    this.writeDue();
    if (this.hasText) this.out.add("\n");
  }

  private writeRow(lines: readonly string[]): void {
    for (const line of lines) {
      this.newLines(1);
      this.startText();
      this.out.add(line);
      this.newLines(1);
    }
  }

  /** Writes text within a line, after the pending space. */
  private inline(words: string): void {
    const isLineStart = this.breaks > 0 || !this.hasText;
    const space = this.needsSpace && (this.isGathering() || !isLineStart) ? " " : "";
    this.needsSpace = false;
    const rest = space === "" ? this.wordEnd.restIn(words) : 0;
    if (rest > 0) this.append(words.slice(0, rest));
    if (rest === words.length) return;
    this.append(this.wordEnd.takeAddresses());
    this.append(space + words.slice(rest));
  }

  /** Writes the text that is pending until the end of a word, which ends here. */
  private writeDue(): void {
    this.append(this.wordEnd.take());
  }

  private append(words: string): void {
    if (words === "") return;
    this.wordEnd.wrote(words);
    if (this.cellText !== undefined) {
      if (this.cellText.length < MAX_CELL_LENGTH) this.cellText += words;
    } else if (this.headingText !== undefined) {
      if (this.headingText.length < MAX_CELL_LENGTH) this.headingText += words;
    } else {
      this.startText();
      this.out.add(words);
    }
  }

  /** Writes the text of a `pre` line by line, with white space unchanged. */
  private rawText(data: string): void {
    const lines = data.replaceAll("\r\n", "\n").split("\n");
    lines.forEach((line, index) => {
      if (index > 0) this.breaks++;
      if (line === "") return;
      this.startText();
      this.out.add(line);
    });
  }

  private newLines(count: number): void {
    this.writeDue();
    this.needsSpace = this.isGathering();
    if (this.isGathering() || this.preDepth > 0) return;
    // A list item begins on a new line, with its first content.
    this.breaks = Math.max(this.breaks, this.prefixes.hasMarker ? 1 : count);
  }

  /** Writes the pending line feeds, and the prefix of the new line. */
  private startText(): void {
    if (this.breaks === 0 && this.hasText) return;
    if (this.hasText) this.out.add(`${`\n${this.prefixes.blank()}`.repeat(Math.max(0, this.breaks - 1))}\n`);
    this.out.add(this.prefixes.take());
    this.breaks = 0;
    this.hasText = true;
  }

  private isGathering(): boolean {
    return this.cellText !== undefined || this.headingText !== undefined;
  }

  /** Returns a counter that increases with every write to any target. */
  private written(): number {
    return this.cellText?.length ?? this.headingText?.length ?? this.out.offset;
  }
}

const WHITE_SPACE = /[ \t\n\r\f]+/gu;
/** The marks that documentation generators add to headings as links to the headings themselves. */
const PERMALINK_MARKS = /^[\s§¶#🔗]+|[\s§¶#🔗]+$/gu;
