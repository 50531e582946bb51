import { blocksText, type BlockWriter } from "./blocks.ts";
import { RtfBytes } from "./rtf-fonts.ts";
import { RtfFlows } from "./rtf-flows.ts";
import { RtfNotes } from "./rtf-notes.ts";
import { dateOf, newGroup, plainHiding, type RtfGroup, withHiding } from "./rtf-state.ts";
import { RtfTables } from "./rtf-tables.ts";
import type { RtfHandler } from "./rtf-tokens.ts";
import { RTF_CHARACTERS, RTF_DESTINATIONS, RTF_PROPERTIES } from "./rtf-words.ts";
import { setProperty, type DocumentProperties } from "./properties.ts";
import { symbolOf } from "#extract/symbol-fonts.ts";
import { linkOfInstruction } from "./word-fields.ts";

/**
 * Reads the tokens of an RTF document into a writer: paragraphs, headings, lists, tables, links. Notes, comments,
 * headers and footers are collected; hidden and deleted text, pictures and data for machines are left out.
 */
export class RtfReader implements RtfHandler {
  readonly aside = new RtfNotes();
  readonly furniture = new Set<string>();
  readonly properties: DocumentProperties = {};
  private readonly writer: BlockWriter;
  private readonly groups: RtfGroup[] = [];
  private group: RtfGroup = newGroup();
  private readonly flows: RtfFlows;
  private readonly tables = new RtfTables();
  private readonly pending = new RtfBytes();
  /** Number of characters to skip after a Unicode character; old programs show them instead of it. */
  private toSkip = 0;
  private isStarred = false;
  /** Whether the group has just begun; its first control word states its purpose. */
  private isGroupStart = false;
  private tokens = 0;

  constructor(writer: BlockWriter) {
    this.writer = writer;
    this.flows = new RtfFlows(writer);
  }

  isDone(): boolean {
    // This runs for every token, but the clock is checked only at each thousandth.
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
    // There are more group ends than beginnings; the rest is still read.
    if (outer === undefined) return;
    this.group = outer;
    this.isGroupStart = false;
    this.toSkip = 0;
    if (ended.begins !== undefined) this.endDestination(ended, ended.begins);
    if (ended.instruction !== undefined) this.flows.addLink(linkOfInstruction(ended.instruction.text), ended.linkStart);
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
    else if (this.group.destination === "styles") this.tables.setStyle(word, value);
  }

  bytes(bytes: Uint8Array): void {
    this.isGroupStart = false;
    let rest = bytes;
    if (this.toSkip > 0) {
      rest = bytes.subarray(this.toSkip);
      this.toSkip = Math.max(0, this.toSkip - bytes.length);
    }
    if (rest.length === 0 || this.isMuted()) return;
    const page = this.tables.codePage(this.group.font);
    if (this.pending.isApartFrom(page)) this.flush();
    this.pending.add(rest, page);
  }

  /** Closes everything that is open at the end of the document. */
  end(): void {
    this.flush();
    while (this.groups.length > 0) this.endGroup();
    this.flows.endParagraph();
    this.flows.endTable();
  }

  private isMuted(): boolean {
    const { destination, hiddenBy } = this.group;
    return hiddenBy.size > 0 || destination === "none" || destination === "shape";
  }

  private flush(): void {
    const text = this.pending.take(this.symbolFont());
    if (text !== undefined) this.write(text);
  }

  private write(text: string): void {
    const { group } = this;
    if (this.isMuted()) return;
    if (group.destination === "text") this.flows.write(text);
    else if (group.destination === "fonts") this.tables.addFontName(text);
    else if (group.destination === "styles") this.tables.addStyleName(text);
    else {
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
    // Characters of this private range are symbols of fonts that have their own alphabet.
    if (code >= 0xf000 && code <= 0xf0ff) this.write(symbolOf(this.symbolFont(), code) ?? "");
    else if (code <= 0xffff) this.write(String.fromCharCode(code));
    else if (code > 0xffff && code <= 0x10ffff) this.write(String.fromCodePoint(code));
    this.toSkip = this.group.skipAfterUnicode;
  }

  private symbolFont(): string | undefined {
    return this.tables.symbolFont(this.group.font);
  }

  private setEncoding(word: string, value: number | undefined): boolean {
    if (this.tables.setEncoding(word, value)) return true;
    const isFont = this.group.destination === "fonts";
    switch (word) {
      case "deff":
        this.tables.defaultFont = value;
        this.group.font = value;
        return true;
      case "uc":
        this.group.skipAfterUnicode = Math.min(16, Math.max(0, value ?? 1));
        return true;
      case "fcharset":
        if (isFont) this.tables.setCharset(value ?? 0);
        return true;
      case "cpg":
        if (isFont) this.tables.setFontPage(value);
        return true;
    }
    return false;
  }

  private setCharacters(word: string, value: number | undefined): boolean {
    const { group } = this;
    switch (word) {
      case "f":
        this.flush();
        if (group.destination === "fonts") this.tables.beginFont(value ?? 0);
        else group.font = value;
        return true;
      case "plain":
        this.flush();
        group.font = this.tables.defaultFont;
        group.hiddenBy = plainHiding(group.hiddenBy);
        return true;
      case "v":
      case "deleted":
      case "mvf":
      case "htmlrtf":
        this.flush();
        group.hiddenBy = withHiding(group.hiddenBy, word, value !== 0);
        return true;
    }
    return false;
  }

  private setParagraph(word: string, value: number | undefined): void {
    if (word === "ftnalt") this.group.isEndnote = true;
    // If the end of a paragraph is deleted or hidden, the two paragraphs become one.
    if (word === "par" && plainHiding(this.group.hiddenBy) !== this.group.hiddenBy) return;
    if (RtfFlows.ENDS.has(word)) this.flush();
    this.flows.control(word, value, this.tables);
  }

  private beginDestination(word: string): void {
    const outer = this.group.destination;
    const known = RTF_DESTINATIONS.get(word);
    const isProperty = known === "property";
    const isForMachines = known === undefined && this.isStarred;
    // Control words of the properties have another meaning outside their group, for example for the document's title.
    if (isProperty && !this.groups.some((group) => group.isInfo)) return;
    if (word === "info") this.group.isInfo = true;
    if (known === undefined && !isForMachines) return;
    const destination = known ?? "none";
    // Content of a group for machines is dropped, except text in a shape, and Unicode next to its old form.
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
        field.linkStart = this.flows.current.text.length;
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
        return this.endNote(ended.isEndnote);
      case "comment":
        this.aside.addComment(blocksText(this.flows.end()));
        return;
      case "furniture":
        for (const block of this.flows.end()) if (this.furniture.size < 1_000) this.furniture.add(blocksText([block]));
        return;
      case "commentAuthor":
        this.aside.author = text.trim();
        return;
      case "marker":
        this.flows.current.marker = text.trim();
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

  private endNote(isEndnote: boolean): void {
    const mark = this.aside.add(blocksText(this.flows.end()), isEndnote);
    this.flows.current.text += mark;
  }

  /** Begins a separate text within the text: a note, a comment, a header. */
  private beginFlow(): void {
    this.group.destination = "text";
    this.group.sink = undefined;
    this.group.gathered = RTF_DESTINATIONS.get(this.group.begins ?? "");
    this.flows.begin();
  }
}

const MAX_GROUPS = 10_000;
const MAX_GATHERED_LENGTH = 100_000;
const DATE_PARTS = ["yr", "mo", "dy", "hr", "min", "sec"];
