/** The kinds of sections in a document. They determine how a section's place is described to a reader. */
export const SECTION_KINDS = ["heading", "page", "slide", "sheet", "part", "cell"] as const;

export type SectionKind = (typeof SECTION_KINDS)[number];

/**
 * A named section of the text. Offsets are in UTF-16 code units. A section ends where the next one of the same or a
 * higher level starts.
 */
export interface Section {
  name: string;
  level: number;
  start: number;
  /** Absent = the section is a heading. */
  kind?: SectionKind;
  /** Its position in the document's own terms: `3` for a page or slide, `A1:F40` for a range of cells. */
  ref?: string;
  /**
   * The fragment of the document's URL that leads to the section: `install`, `page=3`. Without `#`, encoded as in a
   * URL.
   */
  anchor?: string;
}
