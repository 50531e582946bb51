import { singleSpaced } from "./clean.ts";

/**
 * The phonetic readings above words (furigana, pinyin). They are written in parentheses after the words that they belong to: in the usual form, with
 * a reading after each letter, they would split a searched word.
 */
export class Readings {
  private due = "";
  private current: string | undefined;
  /** Number of open words with readings, which can be nested. */
  private depth = 0;
  /** Whether no word without a reading has come since the last reading. */
  private isNext = false;
  /** Whether the last reading is in a script without spaces. */
  private isUnspaced = false;

  /** Begins words with readings. */
  beginWords(): void {
    this.depth++;
  }

  endWords(): void {
    this.depth = Math.max(0, this.depth - 1);
  }

  beginReading(): void {
    this.current = "";
  }

  endReading(): void {
    const reading = singleSpaced(this.current ?? "");
    this.current = undefined;
    if (reading === "" || this.due.length > MAX_LENGTH) return;
    const isUnspaced = UNSPACED.test(reading);
    const isJoined = this.due === "" || (this.isNext && this.isUnspaced && isUnspaced);
    this.due += isJoined ? reading : ` ${reading}`;
    this.isNext = true;
    this.isUnspaced = isUnspaced;
  }

  /** Returns the text to write for this text: none while a reading is open. */
  shown(text: string): string {
    if (this.current !== undefined) {
      if (this.current.length < MAX_LENGTH) this.current += text;
      return "";
    }
    if (this.due === "" || this.depth > 0) return text;
    if (text !== "") this.isNext = false;
    const end = text.search(NO_LETTER);
    return end < 0 ? text : text.slice(0, end) + this.take() + text.slice(end);
  }

  /** Returns the pending readings at the end of a text. */
  take(): string {
    const { due } = this;
    this.due = "";
    return due === "" ? "" : ` (${due})`;
  }
}

const NO_LETTER = /[^\p{L}\p{N}\p{M}'’]/u;
/** Scripts that are written without spaces. */
const UNSPACED = /^[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u30fc]+$/u;
const MAX_LENGTH = 5_000;
