import type { Attributes } from "./xml.ts";

/** Writes marks between the parts of a formula, so that the parts don't become one word: `(a+b)/(c)`, `x^2`, `∑_i^n`. Source: ECMA-376, 22.1.2. */
export class MathMarks {
  /** The mark of an index or exponent, written when it turns out not to be empty. */
  private waiting = "";

  /**
   * Begins an element. @param write gets the mark before the element
   * @param write gets the mark before the element
   */
  open(name: string, attributes: Attributes, write: (mark: string) => void): void {
    if (!name.startsWith("m:")) return;
    if (name === "m:sup" || name === "m:sub") this.waiting = name === "m:sup" ? "^" : "_";
    else if (name === "m:t") this.writeWaiting(write);
    else if (name === "m:chr" && OPERATORS.test(attributes["m:val"] ?? "")) write(attributes["m:val"] ?? "");
    else if (BEGINS.has(name)) {
      this.writeWaiting(write);
      write(BEGINS.get(name) ?? "");
    }
  }

  close(name: string, write: (mark: string) => void): void {
    if (!name.startsWith("m:")) return;
    if (name === "m:sup" || name === "m:sub") this.waiting = "";
    if (ENDS.has(name)) write(ENDS.get(name) ?? "");
  }

  private writeWaiting(write: (mark: string) => void): void {
    const { waiting } = this;
    this.waiting = "";
    if (waiting !== "") write(waiting);
  }
}

/** Sums, products and integrals; other characters in such an element are accents. */
const OPERATORS = /^[∏-∑∫-∳⋀-⋃⨀-⨆]$/u;
const BEGINS = new Map([
  ["m:f", "("],
  ["m:den", "/("],
  ["m:rad", "√("],
  ["m:d", "("],
  ["m:mr", " "],
  ["m:lim", " "],
]);
const ENDS = new Map([
  ["m:num", ")"],
  ["m:den", ")"],
  ["m:rad", ")"],
  ["m:d", ")"],
  ["m:nary", " "],
  ["m:fName", " "],
]);
