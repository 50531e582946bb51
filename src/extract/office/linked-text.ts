import { type LinkMark, withAddresses } from "#extract/link-addresses.ts";
import { Readings } from "#extract/readings.ts";

/** The text of a paragraph while it is read, with its links and the readings above it. */
export class LinkedText {
  /** Without the addresses of its links. */
  words = "";
  readonly readings = new Readings();
  private readonly maxLength: number;
  private readonly marks: LinkMark[] = [];
  private readonly openLinks: { start: number; address: string | undefined }[] = [];

  /** @param maxLength at most so many code units are kept, and the piece that exceeds them */
  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  write(text: string): void {
    if (this.words.length < this.maxLength) this.words += this.readings.shown(text);
  }

  /** A link begins; one without an address is words only. */
  beginLink(address: string | undefined): void {
    this.openLinks.push({ start: this.words.length, address });
  }

  endLink(): void {
    const link = this.openLinks.pop();
    if (link !== undefined) this.addLink(link.address, link.start);
  }

  /** A link whose words began there and end here. */
  addLink(address: string | undefined, start: number): void {
    if (address !== undefined) this.marks.push({ start, end: this.words.length, address });
  }

  get hasWords(): boolean {
    return /\S/u.test(this.words);
  }

  /** With the addresses after the words of the links. */
  toString(): string {
    this.words += this.readings.take();
    return withAddresses(this.words, this.marks);
  }
}
