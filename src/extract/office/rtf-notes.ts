/** The notes and comments of an RTF document, in order. */
export class RtfNotes {
  readonly notes: { id: string; text: string }[] = [];
  readonly comments: { author: string; text: string }[] = [];
  /** Author of the next comment. */
  author = "";
  private endnotes = 0;

  /**
   * Adds a note. @returns the note's mark for the text; "" for a note without words, or when there are too many notes
   * @returns the note's mark for the text; "" for one without words, or too many
   */
  add(text: string, isEndnote: boolean): string {
    if (text === "" || this.notes.length >= MAX_NOTES) return "";
    if (isEndnote) this.endnotes++;
    const id = isEndnote ? `e${this.endnotes}` : String(this.notes.length - this.endnotes + 1);
    this.notes.push({ id, text });
    return `[^${id}]`;
  }

  addComment(text: string): void {
    if (text !== "" && this.comments.length < MAX_NOTES) this.comments.push({ author: this.author, text });
  }
}

const MAX_NOTES = 50_000;
