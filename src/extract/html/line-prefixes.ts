/** Deeper lists and quotations are written at this depth, because longer prefixes would outnumber the words. */
const MAX_PREFIX_DEPTH = 8;

/** The prefixes of lines: the indents and markers of lists, and the marks of quotations. */
export class LinePrefixes {
  private readonly prefixes: string[] = [];
  private readonly lists: { next: number | undefined }[] = [];
  /** The smallest number of prefixes since the last text, because a blank line belongs to the common container of both neighbours. */
  private blankDepth = 0;
  /** The marker with which the first line of a list item begins instead of its last prefix. */
  private marker: string | undefined;

  get isInList(): boolean {
    return this.lists.length > 0;
  }

  /** Whether a list item has begun that has no text yet. */
  get hasMarker(): boolean {
    return this.marker !== undefined;
  }

  beginList(first: number | undefined): void {
    this.lists.push({ next: first });
  }

  endList(): void {
    this.lists.pop();
  }

  beginItem(): void {
    const list = this.lists.at(-1);
    const marker = list?.next === undefined ? "- " : `${list.next}. `;
    if (list?.next !== undefined) list.next++;
    this.marker = marker;
    this.prefixes.push(" ".repeat(marker.length));
  }

  endItem(): void {
    this.pop();
    this.marker = undefined;
  }

  beginQuotation(): void {
    this.prefixes.push("> ");
  }

  endQuotation(): void {
    this.pop();
  }

  /** Returns the blank line between the previous text and the next. */
  blank(): string {
    return this.shown().slice(0, this.blankDepth).join("").trimEnd();
  }

  /** Returns the prefix of the next line; a marker is returned once. */
  take(): string {
    const shown = this.shown();
    if (this.marker !== undefined && shown.length > 0) shown[shown.length - 1] = this.marker;
    this.marker = undefined;
    this.blankDepth = this.prefixes.length;
    return shown.join("");
  }

  private shown(): string[] {
    return this.prefixes.slice(0, MAX_PREFIX_DEPTH);
  }

  private pop(): void {
    this.prefixes.pop();
    this.blankDepth = Math.min(this.blankDepth, this.prefixes.length);
  }
}
