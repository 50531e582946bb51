/** The open blocks of the kinds example, sidebar, quotation and table. Markup is interpreted in them, but none of their lines is a heading. */
export class OpenBlocks {
  private readonly open: string[] = [];
  /** Delimiters that don't occur again: a block that seems to begin with one has no end. */
  private readonly unclosed = new Set<string>();

  get isIn(): boolean {
    return this.open.length > 0;
  }

  /** @returns true when the line begins or ends a block */
  read(mark: string, index: number, lines: readonly string[]): boolean {
    if (!DELIMITER.test(mark) || this.unclosed.has(mark)) return false;
    const at = this.open.lastIndexOf(mark);
    if (at >= 0) this.open.length = at;
    else if (this.open.length < MAX_DEPTH && this.comesAgain(mark, index, lines)) this.open.push(mark);
    return true;
  }

  private comesAgain(mark: string, index: number, lines: readonly string[]): boolean {
    for (let at = index + 1; at < lines.length; at++) if (lines[at]?.trimEnd() === mark) return true;
    this.unclosed.add(mark);
    return false;
  }
}

const DELIMITER = /^(?:={4,}|\*{4,}|_{4,}|--|[|,:!]={3,})$/u;
const MAX_DEPTH = 20;
