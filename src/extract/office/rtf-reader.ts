// Over 400 lines: one state machine, all of whose parts work on the same groups and paragraphs.
import { withAddresses } from "#extract/link-addresses.ts";
import { blocksText, type Block, type BlockWriter } from "./blocks.ts";
import { codePageOfCharset, decodeRtfBytes, encodingOfCodePage, symbolBytes } from "./rtf-fonts.ts";
import { dateOf, isBullet, newFlow, newGroup, type RtfFlow, type RtfGroup } from "./rtf-state.ts";
import type { RtfHandler } from "./rtf-tokens.ts";
import { RTF_CHARACTERS, RTF_DESTINATIONS, RTF_PROPERTIES } from "./rtf-words.ts";
import { setProperty, type DocumentProperties } from "./properties.ts";
import { isSymbolFont, symbolOf } from "#extract/symbol-fonts.ts";
import { linkOfInstruction } from "./word-fields.ts";

/**
 * Reads the tokens of an RTF document into a writer: paragraphs, headings, lists, tables, links. Notes, comments, headers
 * and footers are gathered; hidden and deleted text, pictures and what is for machines is left out.
 */
export class RtfReader implements RtfHandler {
  readonly notes: { id: string; text: string }[] = [];
  readonly comments: { author: string; text: string }[] = [];
  readonly furniture = new Set<string>();
  readonly properties: DocumentProperties = {};
  private readonly writer: BlockWriter;
  private readonly groups: RtfGroup[] = [];
  private group: RtfGroup = newGroup();
  private readonly flows: RtfFlow[] = [newFlow()];
  private flow: RtfFlow = newFlow();
  private readonly fonts = new Map<number, number>();
  private readonly symbolFonts = new Map<number, string>();
  private readonly headings = new Map<number, number>();
  private documentPage = 1_252;
  private defaultFont: number | undefined;
  /** Bytes that wait to be decoded: a character may be split over several tokens. */
  private pending: Uint8Array[] = [];
  private pendingPage = 1_252;
  /** Characters to leave out behind one in Unicode: what old programs show instead. */
  private toSkip = 0;
  private isStarred = false;
  /** The group has just begun: its first word says what it is for. */
  private isGroupStart = false;
  private font = 0;
  private styleNumber = 0;
  private commentAuthor = "";
  private endnotes = 0;
  private tokens = 0;

  constructor(writer: BlockWriter) {
    this.writer = writer;
  }

  isDone(): boolean {
    // Asked before every token: the clock is looked at for each thousandth.
    this.tokens++;
    return this.tokens % 1_000 === 0 && this.writer.isFull;
  }

  beginGroup(): void {
    if (this.groups.length >= MAX_GROUPS) throw new Error(`its groups are nested more than ${MAX_GROUPS} deep`);
    this.flush();
    this.groups.push(this.group);
    this.group = { ...this.group, gathered: undefined, begins: undefined, instruction: undefined };
    this.isGroupStart = true;
    this.isStarred = false;
    this.toSkip = 0;
  }

  endGroup(): void {
    this.flush();
    const ended = this.group;
    const outer = this.groups.pop();
    // More ends than beginnings: what comes behind is still read.
    if (outer === undefined) return;
    this.group = outer;
    this.isGroupStart = false;
    this.toSkip = 0;
    if (ended.begins !== undefined) this.endDestination(ended, ended.begins);
    if (ended.instruction !== undefined) this.addAddress(ended.instruction, ended.linkStart);
  }

  control(word: string, value: number | undefined): void {
    if (word === "*") {
      this.isStarred = this.isGroupStart;
      return;
    }
    if (this.isGroupStart) this.beginDestination(word);
    this.isGroupStart = false;
    this.isStarred = false;
    if (word === "u" && value !== undefined) return this.addUnicode(value);
    const character = RTF_CHARACTERS.get(word);
    if (character !== undefined) return this.addCharacter(character);
    if (this.setEncoding(word, value) || this.setCharacters(word, value)) return;
    if (this.group.destination === "property") this.addDatePart(word, value);
    else if (this.group.destination === "text") this.setParagraph(word, value);
    else if (this.group.destination === "styles") this.setStyle(word, value);
  }

  bytes(bytes: Uint8Array): void {
    this.isGroupStart = false;
    let rest = bytes;
    if (this.toSkip > 0) {
      rest = bytes.subarray(this.toSkip);
      this.toSkip = Math.max(0, this.toSkip - bytes.length);
    }
    if (rest.length === 0 || this.isMuted()) return;
    const page = this.codePage();
    if (page !== this.pendingPage) this.flush();
    this.pendingPage = page;
    this.pending.push(rest);
    if (this.pending.length > MAX_PENDING) this.flush();
  }

  /** Ends what is open at the end of the document. */
  end(): void {
    this.flush();
    while (this.groups.length > 0) this.endGroup();
    this.endParagraph();
    this.endTable();
  }

  private isMuted(): boolean {
    const { destination, isHidden } = this.group;
    return isHidden || destination === "none" || destination === "shape";
  }

  private flush(): void {
    if (this.pending.length === 0) return;
    const encoding = encodingOfCodePage(this.pendingPage) ?? "cp1252";
    const font = this.symbolFont();
    const text = font === undefined ? decodeRtfBytes(this.pending, encoding) : symbolBytes(font, this.pending);
    this.pending = [];
    this.write(text);
  }

  private write(text: string): void {
    const { group, flow } = this;
    if (this.isMuted()) return;
    if (group.destination === "text") {
      if (flow.text.length < MAX_PARAGRAPH_LENGTH) flow.text += text;
    } else if (group.destination === "fonts" || group.destination === "styles") {
      this.addTableText(text);
    } else {
      const gathered = group.sink;
      if (gathered !== undefined && gathered.text.length < MAX_GATHERED_LENGTH) gathered.text += text;
    }
  }

  private addCharacter(character: string): void {
    if (this.toSkip > 0) {
      this.toSkip--;
      return;
    }
    this.flush();
    this.write(character);
  }

  private addUnicode(value: number): void {
    this.flush();
    const code = value < 0 ? value + 65_536 : value;
    // Symbols of fonts that have their own alphabet are no letters.
    if (code >= 0xf000 && code <= 0xf0ff) this.write(symbolOf(this.symbolFont(), code) ?? "");
    else if (code <= 0xffff) this.write(String.fromCharCode(code));
    else if (code > 0xffff && code <= 0x10ffff) this.write(String.fromCodePoint(code));
    this.toSkip = this.group.skipAfterUnicode;
  }

  private symbolFont(): string | undefined {
    return this.group.font === undefined ? undefined : this.symbolFonts.get(this.group.font);
  }

  private codePage(): number {
    return this.group.font === undefined ? this.documentPage : (this.fonts.get(this.group.font) ?? this.documentPage);
  }

  private setEncoding(word: string, value: number | undefined): boolean {
    switch (word) {
      case "ansi":
        return true;
      case "mac":
        this.documentPage = 10_000;
        return true;
      case "pc":
        this.documentPage = 437;
        return true;
      case "pca":
        this.documentPage = 850;
        return true;
      case "ansicpg":
        if (value !== undefined && encodingOfCodePage(value) !== undefined) this.documentPage = value;
        return true;
      case "deff":
        this.defaultFont = value;
        this.group.font = value;
        return true;
      case "uc":
        this.group.skipAfterUnicode = Math.min(16, Math.max(0, value ?? 1));
        return true;
      case "fcharset":
        this.addFont(codePageOfCharset(value ?? 0));
        return true;
      case "cpg":
        this.addFont(value);
        return true;
    }
    return false;
  }

  private addFont(page: number | undefined): void {
    if (this.group.destination !== "fonts" || page === undefined || this.fonts.size > MAX_FONTS) return;
    if (encodingOfCodePage(page) !== undefined) this.fonts.set(this.font, page);
  }

  private setCharacters(word: string, value: number | undefined): boolean {
    const { group } = this;
    switch (word) {
      case "f":
        this.flush();
        if (group.destination === "fonts") this.font = value ?? 0;
        else group.font = value;
        return true;
      case "plain":
        this.flush();
        group.font = this.defaultFont;
        group.isHidden = false;
        return true;
      case "v":
      case "deleted":
      case "htmlrtf":
        this.flush();
        group.isHidden = value !== 0;
        return true;
    }
    return false;
  }

  private setStyle(word: string, value: number | undefined): void {
    if (word === "s") this.styleNumber = value ?? 0;
    else if (
      word === "outlinelevel" &&
      value !== undefined &&
      value >= 0 &&
      value < 9 &&
      this.headings.size < MAX_STYLES
    )
      this.headings.set(this.styleNumber, Math.min(6, value + 1));
  }

  /** Names of fonts, and of styles: headings are called so in every language that Word writes. */
  private addTableText(text: string): void {
    const name = text.split(";", 1)[0]?.trim() ?? "";
    if (this.group.destination === "fonts" && isSymbolFont(name) && this.symbolFonts.size < MAX_FONTS)
      this.symbolFonts.set(this.font, name);
    if (this.group.destination !== "styles") return;
    const level = /^\s*heading ([1-9]);?/iu.exec(text)?.[1];
    if (level !== undefined && this.headings.size < MAX_STYLES)
      this.headings.set(this.styleNumber, Math.min(6, Number(level)));
  }

  private setParagraph(word: string, value: number | undefined): void {
    const { flow } = this;
    switch (word) {
      case "par":
      case "sect":
      case "page":
      case "column":
      case "nestcell":
      case "nestrow":
        this.flush();
        return this.endParagraph();
      case "cell":
        this.flush();
        return this.endCell();
      case "row":
        this.flush();
        return this.endRow();
      case "pard":
        Object.assign(flow, { isInTable: false, heading: undefined, depth: 0 });
        return;
      case "intbl":
        flow.isInTable = true;
        return;
      case "s":
        flow.heading = this.headings.get(value ?? 0);
        return;
      case "outlinelevel":
        flow.heading = value !== undefined && value >= 0 && value < 9 ? Math.min(6, value + 1) : undefined;
        return;
      case "ilvl":
        flow.depth = value ?? 0;
        return;
      case "ftnalt":
        this.group.isEndnote = true;
    }
  }

  private beginDestination(word: string): void {
    const outer = this.group.destination;
    const known = RTF_DESTINATIONS.get(word);
    const isProperty = known === "property";
    const isForMachines = known === undefined && this.isStarred;
    // Words of the properties mean something else outside their group: there the document's title does not count.
    if (isProperty && !this.groups.some((group) => group.isInfo)) return;
    if (word === "info") this.group.isInfo = true;
    if (known === undefined && !isForMachines) return;
    const destination = known ?? "none";
    // What is within a group for machines stays there, but for text in a shape and Unicode next to its old form.
    if (outer === "none" && !this.isReadWithin(word)) return;
    this.flush();
    this.group.destination = destination;
    this.group.begins = word;
    if (destination === "note" || destination === "comment" || destination === "furniture") this.beginFlow();
    else if (destination !== "text") this.group.sink = { text: "" };
    if (destination === "instruction") {
      const field = this.groups.at(-1);
      if (field !== undefined) {
        field.instruction = this.group.sink;
        field.linkStart = this.flow.text.length;
      }
    }
  }

  private isReadWithin(word: string): boolean {
    return word === "ud" || (this.group.isInfo && RTF_PROPERTIES.has(word)) || word === "info";
  }

  private endDestination(ended: RtfGroup, word: string): void {
    const text = ended.sink?.text ?? "";
    switch (ended.gathered ?? ended.destination) {
      case "note":
        return this.endNote(ended, blocksText(this.endFlow()));
      case "comment": {
        const comment = blocksText(this.endFlow());
        if (comment !== "" && this.comments.length < MAX_NOTES)
          this.comments.push({ author: this.commentAuthor, text: comment });
        return;
      }
      case "furniture":
        for (const block of this.endFlow()) if (this.furniture.size < 1_000) this.furniture.add(blocksText([block]));
        return;
      case "commentAuthor":
        this.commentAuthor = text.trim();
        return;
      case "marker":
        this.flow.marker = text.trim();
        return;
      case "property":
        setProperty(
          this.properties,
          RTF_PROPERTIES.get(word) ?? word,
          ended.date === undefined ? text : dateOf(ended.date),
        );
    }
  }

  private addDatePart(word: string, value: number | undefined): void {
    if (value !== undefined && DATE_PARTS.includes(word)) (this.group.date ??= {})[word] = value;
  }

  private endNote(ended: RtfGroup, text: string): void {
    if (text === "" || this.notes.length >= MAX_NOTES) return;
    const isEndnote = ended.isEndnote;
    if (isEndnote) this.endnotes++;
    const id = isEndnote ? `e${this.endnotes}` : String(this.notes.length - this.endnotes + 1);
    this.notes.push({ id, text });
    this.flow.text += `[^${id}]`;
  }

  private addAddress(instruction: { text: string }, start: number): void {
    const address = linkOfInstruction(instruction.text);
    if (address !== undefined) this.flow.marks.push({ start, end: this.flow.text.length, address });
  }

  /** Text of its own inside the text: a note, a comment, a header. */
  private beginFlow(): void {
    this.group.destination = "text";
    this.group.sink = undefined;
    this.group.gathered = RTF_DESTINATIONS.get(this.group.begins ?? "");
    this.flows.push(this.flow);
    this.flow = newFlow();
    this.writer.beginCapture();
  }

  private endFlow(): Block[] {
    this.endParagraph();
    this.endTable();
    this.flow = this.flows.pop() ?? newFlow();
    return this.writer.endCapture();
  }

  private endParagraph(): void {
    const { flow, writer } = this;
    if (flow.isInTable) this.openCell();
    else this.endTable();
    const { heading, marker, depth } = flow;
    const text = withAddresses(flow.text, flow.marks);
    flow.text = "";
    flow.marks = [];
    flow.marker = undefined;
    if (heading !== undefined && !flow.isInTable)
      writer.paragraph(marker === undefined || isBullet(marker) ? text : `${marker} ${text}`, { heading });
    else if (marker !== undefined) writer.paragraph(text, { list: { depth, marker: isBullet(marker) ? "-" : marker } });
    else writer.paragraph(text);
  }

  private openCell(): void {
    const { flow, writer } = this;
    if (flow.table === "none") writer.beginTable();
    if (flow.table === "none" || flow.table === "table") writer.beginRow();
    if (flow.table !== "cell") writer.beginCell();
    flow.table = "cell";
  }

  private endCell(): void {
    this.flow.isInTable = true;
    this.endParagraph();
    this.writer.endCell();
    this.flow.table = "row";
  }

  private endRow(): void {
    const { flow, writer } = this;
    if (flow.table === "none") return;
    if (flow.table === "cell") this.endCell();
    if (flow.table === "row") writer.endRow();
    flow.table = "table";
  }

  private endTable(): void {
    const { flow, writer } = this;
    if (flow.table === "none") return;
    if (flow.table === "cell") writer.endCell();
    if (flow.table === "cell" || flow.table === "row") writer.endRow();
    writer.endTable();
    flow.table = "none";
  }
}

const MAX_GROUPS = 10_000;
const MAX_PENDING = 10_000;
const MAX_PARAGRAPH_LENGTH = 5_000_000;
const MAX_GATHERED_LENGTH = 100_000;
const MAX_FONTS = 20_000;
const MAX_STYLES = 20_000;
const MAX_NOTES = 50_000;
const DATE_PARTS = ["yr", "mo", "dy", "hr", "min", "sec"];
