import { restOfWord } from "#extract/link-addresses.ts";
import { Readings } from "#extract/readings.ts";

/** Text to write after a word that may still continue: readings, and the addresses of links that have just ended. */
export class WordEnd {
  readonly readings = new Readings();
  private addresses: string[] = [];
  private lastLetters = "";

  /** Begins a link. An adjacent link to the same address continues the link before it. */
  beginLink(address: string): void {
    this.addresses = this.addresses.filter((other) => other !== address);
  }

  endLink(address: string): void {
    if (!this.addresses.includes(address)) this.addresses.push(address);
  }

  /** Begins words with readings, or one of the readings. @returns a function that ends it */
  beginRuby(isReading: boolean): () => void {
    const { readings } = this;
    if (isReading) readings.beginReading();
    else readings.beginWords();
    return () => (isReading ? readings.endReading() : readings.endWords());
  }

  /** Returns the number of code units of these words that belong to the previous word, which has a link. */
  restIn(words: string): number {
    return this.addresses.length === 0 ? 0 : restOfWord(this.lastLetters + words, this.lastLetters.length);
  }

  wrote(words: string): void {
    this.lastLetters = words.slice(-2);
  }

  takeAddresses(): string {
    const { addresses } = this;
    this.addresses = [];
    return addresses.map((address) => ` (${address})`).join("");
  }

  /** Returns the pending text; called where the word has certainly ended. */
  take(): string {
    return this.takeAddresses() + this.readings.take();
  }
}
