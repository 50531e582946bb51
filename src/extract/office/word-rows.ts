import type { BlockWriter } from "./blocks.ts";

/** The rows of the open tables. Tracked changes can delete whole rows, and rows can be hidden. */
export class WordRows {
  private readonly isLeftOut: boolean[] = [];
  private isInProperties = false;

  begin(writer: BlockWriter): void {
    this.isLeftOut.push(false);
    writer.beginRow();
  }

  properties(isIn: boolean): void {
    this.isInProperties = isIn;
  }

  /** Marks the open row as left out; called while the row's properties are read. */
  leaveOut(): void {
    if (this.isInProperties && this.isLeftOut.length > 0) this.isLeftOut[this.isLeftOut.length - 1] = true;
  }

  end(writer: BlockWriter): void {
    writer.endRow(this.isLeftOut.pop() !== true);
  }
}
