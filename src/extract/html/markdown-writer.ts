import { oneLine } from "#extract/clean.ts";
import { restOfWord } from "#extract/link-addresses.ts";
import { NoteMark } from "./note-mark.ts";
import { Readings } from "#extract/readings.ts";
import type { TextBuilder } from "#extract/text-builder.ts";

type End = () => void;

/** Deeper lists and quotations are written at this depth: their prefix would drown the words. */
const MAX_PREFIX_DEPTH = 8;
const MAX_CELL_LENGTH = 5_000;

/**
 * Writes Markdown from a stream of text and structure: collapses white space, keeps blocks apart, prefixes the lines of
 * lists and quotations, gathers table rows. Emphasis is not written: its marks would come between words that are searched.
 */
export class MarkdownWriter {
  private readonly out: TextBuilder;
  /** Line feeds due before the next text; none at the very beginning. */
  private breaks = 0;
  private needsSpace = false;
  private hasText = false;
  private prefixes: string[] = [];
  /** The fewest prefixes since the last text: blank lines belong to what both neighbours are in. */
  private blankDepth = 0;
  /** What the first line of a list item begins with instead of its last prefix. */
  private marker: string | undefined;
  private lists: { next: number | undefined }[] = [];
  private preDepth = 0;
  private tableRows: number[] = [];
  private rowCells: string[] | undefined;
  private cellText: string | undefined;
  private headingText: string | undefined;
  /** Where the links lead that have just ended: to be written behind the word, which may go on. */
  private addresses: string[] = [];
  private lastWord = "";
  private readonly note = new NoteMark();
  private readonly readings = new Readings();

  constructor(out: TextBuilder) {
    this.out = out;
  }

  text(data: string): void {
    if (this.preDepth > 0 && this.cellText === undefined) return this.rawText(data);
    const words = this.readings.shown(data.replace(WHITE_SPACE, " "));
    if (words === "") return;
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

  /** The next text starts a paragraph of its own. */
  block(): void {
    this.newLines(2);
  }

  blockElement(isParagraph = true): End {
    const lines = isParagraph ? 2 : 1;
    this.newLines(lines);
    return () => this.newLines(lines);
  }

  /** @param anchor what leads to the heading: gives the id once its content was seen */
  heading(level: number, anchor: () => string | undefined): End {
    this.newLines(2);
    if (this.headingText !== undefined || this.cellText !== undefined) {
      return () => {
        anchor();
        this.newLines(2);
      };
    }
    // The text of a heading is gathered, because its section needs the name before the text is written.
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

  /** Links keep words and target; targets within the page or site are left out: they lead nowhere from here. */
  link(href: string): End | undefined {
    if (!/^(?:https?:\/\/|mailto:)\S{1,2000}$/iu.test(href) || this.headingText !== undefined || this.preDepth > 0)
      return undefined;
    const address = href.replace(/^mailto:/iu, "");
    const start = this.written();
    // A neighbour that leads to the same place goes on with that link.
    this.addresses = this.addresses.filter((other) => other !== address);
    return () => {
      if (this.written() > start && !this.addresses.includes(address)) this.addresses.push(address);
    };
  }

  noteMark(): End {
    this.note.begin();
    return () => {
      const end = this.note.end();
      if (end !== "") this.append(end);
    };
  }

  wordsWithReadings(): End | undefined {
    if (this.preDepth > 0) return undefined;
    this.readings.beginWords();
    return () => this.readings.endWords();
  }

  reading(): End | undefined {
    if (this.preDepth > 0) return undefined;
    this.readings.beginReading();
    return () => this.readings.endReading();
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
    this.newLines(this.lists.length > 0 ? 1 : 2);
    this.lists.push({ next: first });
    return () => {
      this.lists.pop();
      this.newLines(this.lists.length > 0 ? 1 : 2);
    };
  }

  item(): End {
    this.newLines(1);
    const list = this.lists.at(-1);
    const marker = list?.next === undefined ? "- " : `${list.next}. `;
    if (list?.next !== undefined) list.next++;
    this.marker = marker;
    this.prefixes.push(" ".repeat(marker.length));
    return () => {
      this.popPrefix();
      this.marker = undefined;
      this.newLines(1);
    };
  }

  quotation(): End {
    this.newLines(2);
    this.prefixes.push("> ");
    return () => {
      this.popPrefix();
      this.newLines(2);
    };
  }

  table(): End {
    this.newLines(2);
    this.tableRows.push(0);
    return () => {
      this.tableRows.pop();
      this.newLines(2);
    };
  }

  row(): End {
    if (this.tableRows.length === 0) return this.blockElement(false);
    const cells: string[] = [];
    this.rowCells = cells;
    return () => {
      this.rowCells = undefined;
      this.cellText = undefined;
      if (cells.some((cell) => cell !== "")) this.writeRow(cells);
    };
  }

  cell(): End {
    const cells = this.rowCells;
    if (cells === undefined) return this.blockElement(false);
    this.cellText = "";
    this.needsSpace = false;
    return () => {
      this.writeDue();
      cells.push(oneLine(this.cellText ?? "", MAX_CELL_LENGTH).replaceAll("|", "\\|"));
      this.cellText = undefined;
      this.needsSpace = false;
    };
  }

  end(): void {
    this.writeDue();
    if (this.hasText) this.out.add("\n");
  }

  private writeRow(cells: readonly string[]): void {
    const rows = this.tableRows.at(-1) ?? 0;
    this.newLines(1);
    this.startText();
    this.out.add(`| ${cells.join(" | ")} |`);
    this.newLines(1);
    if (rows === 0) {
      this.startText();
      this.out.add(`|${" --- |".repeat(cells.length)}`);
      this.newLines(1);
    }
    if (this.tableRows.length > 0) this.tableRows[this.tableRows.length - 1] = rows + 1;
  }

  /** Text within a line, with the space due before it. */
  private inline(words: string): void {
    const isLineStart = this.breaks > 0 || !this.hasText;
    const space = this.needsSpace && (this.isGathering() || !isLineStart) ? " " : "";
    this.needsSpace = false;
    const rest =
      this.addresses.length === 0 || space !== "" ? 0 : restOfWord(this.lastWord + words, this.lastWord.length);
    if (rest > 0) this.append(words.slice(0, rest));
    if (rest === words.length) return;
    this.writeAddresses();
    this.append(space + words.slice(rest));
  }

  /** What is due behind a word, which ends here. */
  private writeDue(): void {
    this.writeAddresses();
    const readings = this.readings.take();
    if (readings !== "") this.append(readings);
  }

  private writeAddresses(): void {
    const { addresses } = this;
    if (addresses.length === 0) return;
    this.addresses = [];
    this.append(addresses.map((address) => ` (${address})`).join(""));
  }

  private append(words: string): void {
    this.lastWord = words.slice(-2);
    if (this.cellText !== undefined) {
      if (this.cellText.length < MAX_CELL_LENGTH) this.cellText += words;
    } else if (this.headingText !== undefined) {
      if (this.headingText.length < MAX_CELL_LENGTH) this.headingText += words;
    } else {
      this.startText();
      this.out.add(words);
    }
  }

  /** Text of a `pre`: line by line, white space as it is. */
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
    // A list item begins on its own line, with whatever is first in it.
    this.breaks = Math.max(this.breaks, this.marker === undefined ? count : 1);
  }

  /** Writes the line feeds that are due, and the prefix of the new line. */
  private startText(): void {
    if (this.breaks === 0 && this.hasText) return;
    const prefix = this.prefixes.slice(0, MAX_PREFIX_DEPTH);
    if (this.hasText) {
      const blank = `\n${prefix.slice(0, this.blankDepth).join("").trimEnd()}`;
      this.out.add(`${blank.repeat(Math.max(0, this.breaks - 1))}\n`);
    }
    if (this.marker !== undefined && prefix.length > 0) prefix[prefix.length - 1] = this.marker;
    this.marker = undefined;
    this.out.add(prefix.join(""));
    this.breaks = 0;
    this.blankDepth = this.prefixes.length;
    this.hasText = true;
  }

  private popPrefix(): void {
    this.prefixes.pop();
    this.blankDepth = Math.min(this.blankDepth, this.prefixes.length);
  }

  private isGathering(): boolean {
    return this.cellText !== undefined || this.headingText !== undefined;
  }

  /** Rises with everything that is written, wherever it goes. */
  private written(): number {
    return this.cellText?.length ?? this.headingText?.length ?? this.out.offset;
  }
}

const WHITE_SPACE = /[ \t\n\r\f]+/gu;
/** The marks that documentation generators hang on headings as links to themselves. */
const PERMALINK_MARKS = /^[\s§¶#🔗]+|[\s§¶#🔗]+$/gu;
