import type { Attributes } from "./walk.ts";

/** A link to a note: it says so, or stands raised and leads within the page. */
export function isNoteMark(attributes: Attributes, parent: string | undefined): boolean {
  if (/\bnoteref\b/iu.test(`${attributes["epub:type"] ?? ""} ${attributes["role"] ?? ""}`)) return true;
  if (/(?:^|\s)(?:footnote-?ref|note-?ref|fn-?ref)(?:\s|$)/iu.test(attributes["class"] ?? "")) return true;
  return parent === "sup" && attributes["href"]?.includes("#") === true;
}

/** The brackets around the number of a note, which is no part of the word before it; it may have some. */
export class NoteMark {
  private state: "none" | "begun" | "open" = "none";

  begin(): void {
    this.state = "begun";
  }

  /** What comes before these words. */
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
