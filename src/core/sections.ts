/** What a section is in its document; decides how its place is described to a reader. */
export const SECTION_KINDS = ["heading", "page", "slide", "sheet", "part", "cell"] as const;

export type SectionKind = (typeof SECTION_KINDS)[number];

/** A stretch of the text with a name of its own. Offsets in UTF-16 code units; it ends where the next of its level or above starts. */
export interface Section {
  name: string;
  level: number;
  start: number;
  /** Absent = heading. */
  kind?: SectionKind;
  /** Where it stands in the document, in the document's own terms: `3` for a page or slide, `A1:F40` for a range of cells. */
  ref?: string;
  /** What an address of the document ends in to lead here: `install`, `page=3`. Without `#`, as it stands in an address. */
  anchor?: string;
}
