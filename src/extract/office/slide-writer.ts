import { blocksText, type BlockWriter, ITEM } from "./blocks.ts";
import type { SlideShape } from "./slide-text.ts";

export interface Slide {
  /** Number of the slide from 1, as the program shows it. */
  number: number;
  /** The author's name for the slide if it has no title. */
  name?: string | undefined;
  shapes: readonly SlideShape[];
  notes: readonly SlideShape[];
  /** The comments, one line each. */
  comments: readonly string[];
}

/** Writes a slide as a section. The title comes first, even if it is elsewhere on the slide, then the other shapes, notes and comments. */
export function writeSlide(writer: BlockWriter, slide: Slide): void {
  const titles = slide.shapes.filter(isTitle);
  const title = blocksText(titles.flatMap(({ blocks }) => blocks));
  const name = title === "" ? (slide.name ?? `Slide ${slide.number}`) : title;
  writer.section(name, 1, { kind: "slide", ref: String(slide.number) });
  for (const shape of slide.shapes) if (!isTitle(shape)) writer.addAll(shape.blocks);
  const notes = blocksText(slide.notes.flatMap(({ blocks }) => blocks));
  if (notes !== "") writer.paragraph(`Notes: ${notes}`);
  for (const comment of slide.comments) if (comment !== "") writer.paragraph(`Comment by ${comment}`, ITEM);
}

function isTitle(shape: SlideShape): boolean {
  return shape.place === "title" || shape.place === "ctrTitle";
}
