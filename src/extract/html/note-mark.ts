import type { Attributes } from "./walk.ts";

/** Whether a link leads to a note: the link declares that, or is superscript and leads within the page. */
export function isNoteMark(attributes: Attributes, parent: string | undefined): boolean {
  if (/\bnoteref\b/iu.test(`${attributes["epub:type"] ?? ""} ${attributes["role"] ?? ""}`)) return true;
  if (/(?:^|\s)(?:footnote-?ref|note-?ref|fn-?ref)(?:\s|$)/iu.test(attributes["class"] ?? "")) return true;
  return parent === "sup" && attributes["href"]?.includes("#") === true;
}

/** Puts the number of a note in brackets, because it isn't part of the word before it. The number may already have brackets. */
export class NoteMark {
  private state: "none" | "begun" | "open" = "none";

  begin(): void {
    this.state = "begun";
  }

  /** Returns the bracket to write before these words. */
  before(words: string): string {
    if (this.state !== "begun") return "";
    this.state = /^[\p{L}\p{N}*†‡§]/u.test(words) ? "open" : "none";
    return this.state === "open" ? "[" : "";
  }

  end(): string {
    const isOpen = this.state === "open";
    this.state = "none";
    return isOpen ? "]" : "";
  }
}
