import { defined } from "#core/defined.ts";
import type { Section } from "#core/sections.ts";
import { cleanText, cutText, oneLine } from "./clean.ts";
import type { FormatText } from "./format.ts";

/** Maximum number of sections in a document; text of later sections belongs to the last one that is kept. */
const MAX_SECTIONS = 2_000;
const MAX_SECTION_NAME_LENGTH = 200;

type Facts = Omit<FormatText, "state" | "text" | "sections">;

/** Collects clean text and its sections, up to a maximum length. Offsets are those in the returned text. */
export class TextBuilder {
  readonly sections: Section[] = [];
  private readonly maxLength: number;
  private parts: string[] = [];
  private length = 0;
  private full = false;

  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  /** True when some text didn't fit, so that more text has no effect. */
  get isFull(): boolean {
    return this.full;
  }

  /** Where the next text will start, in UTF-16 code units. */
  get offset(): number {
    return this.length;
  }

  add(text: string): void {
    this.addClean(cleanText(text));
  }

  /** Adds text that is already clean. */
  addClean(text: string): void {
    if (this.full || text === "") return;
    const fits = cutText(text, this.maxLength - this.length);
    this.full = fits.length < text.length;
    this.parts.push(fits);
    this.length += fits.length;
  }

  /** Begins a section at the next text. Sections without a name are left out. */
  section(
    name: string,
    level: number,
    start = this.length,
    place: Pick<Section, "kind" | "ref" | "anchor"> = {},
  ): void {
    const line = oneLine(name, MAX_SECTION_NAME_LENGTH);
    if (line !== "" && !this.full && this.sections.length < MAX_SECTIONS)
      this.sections.push({ name: line, level, start, ...place });
  }

  toString(): string {
    return this.parts.join("");
  }

  /** Makes the result of a format. It is marked as truncated if some text didn't fit. Empty and undefined facts are left out. */
  result({
    properties = {},
    isCut = false,
    title,
    ...facts
  }: { [Name in keyof Facts]?: Facts[Name] | undefined }): FormatText {
    return {
      state: "ok",
      text: this.toString(),
      sections: this.sections,
      properties,
      isCut: isCut || this.full,
      ...defined({ title: title === "" ? undefined : title, ...facts }),
    };
  }
}
