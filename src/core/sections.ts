/** The kinds of sections in a document; they decide how a section's place is described to a reader. */
export const SECTION_KINDS = ["heading", "page", "slide", "sheet", "part", "cell"] as const;

export type SectionKind = (typeof SECTION_KINDS)[number];

/** A named stretch of the text. Offsets in UTF-16 code units; it ends where the next of its level or above starts. */
export interface Section {
  name: string;
  level: number;
  start: number;
  /** Absent = heading. */
  kind?: SectionKind;
  /** Its position in the document's own terms: `3` for a page or slide, `A1:F40` for a range of cells. */
  ref?: string;
  /** The fragment of the document's URL that leads here: `install`, `page=3`. Without `#`, and encoded as in a URL. */
  anchor?: string;
}
