import { type LinkMark, withAddresses } from "#extract/link-addresses.ts";
import { Readings } from "#extract/readings.ts";

/** The text of a paragraph while it is read, including its links and phonetic readings. */
export class LinkedText {
  /** The text without the addresses of its links. */
  words = "";
  readonly readings = new Readings();
  private readonly maxLength: number;
  private readonly marks: LinkMark[] = [];
  private readonly openLinks: { start: number; address: string | undefined }[] = [];

  /** @param maxLength number of code units after which no more pieces are added; the piece that exceeds it is kept */
  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  write(text: string): void {
    if (this.words.length < this.maxLength) this.words += this.readings.shown(text);
  }

  /** Begins a link; a link without an address contributes only its words. */
  beginLink(address: string | undefined): void {
    this.openLinks.push({ start: this.words.length, address });
  }

  endLink(): void {
    const link = this.openLinks.pop();
    if (link !== undefined) this.addLink(link.address, link.start);
  }

  /** Adds a link whose words began at `start` and end at the current position. */
  addLink(address: string | undefined, start: number): void {
    if (address !== undefined) this.marks.push({ start, end: this.words.length, address });
  }

  get hasWords(): boolean {
    return /\S/u.test(this.words);
  }

  /** Returns the text with the addresses after the words of the links. */
  toString(): string {
    this.words += this.readings.take();
    return withAddresses(this.words, this.marks);
  }
}
