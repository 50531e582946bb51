import type { FormatInput, FormatResult } from "#extract/format.ts";
import { BlockWriter } from "#extract/office/blocks.ts";
import { type GraphicKind, readGraphic } from "#extract/office/chart-text.ts";
import { zipFormat } from "#extract/office/failures.ts";
import { findType, openPackage, type OfficePackage, type Relationships } from "#extract/office/package.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { readCommentAuthors, readSlideComments } from "#extract/office/slide-comments.ts";
import { shapeText, SlideText, type SlideShape } from "#extract/office/slide-text.ts";
import { writeSlide } from "#extract/office/slide-writer.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * Presentations. Each visible slide is a section with its number and title. It contains text, tables, charts and diagrams, followed by its notes and
 * comments. Footers are listed once, at the end.
 */
export const pptxFormat = zipFormat(readPresentation);

function readPresentation({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const file = openPackage(bytes);
  const main = file.mainPart ?? "ppt/presentation.xml";
  const relationships = file.relationshipsOf(main);
  const slides = listSlides(file, main, relationships);
  if (slides === undefined) throw new Error("the presentation has no main part");
  const out = new TextBuilder(maxTextLength);
  const writer = new BlockWriter(out, hasTime);
  const authors = readCommentAuthors(file, relationships);
  const footers = new Set<string>();
  slides.forEach((part, index) => {
    if (!writer.isFull) readSlide({ file, part, writer, authors, footers, number: index + 1 });
  });
  writer.appendix("Headers and footers", [...footers]);
  writer.end();
  const { properties, ...rest } = resultProperties(file.properties());
  // The program's default title.
  if (rest.title === "PowerPoint Presentation") rest.title = undefined;
  properties["slides"] = String(slides.length);
  return out.result({ isCut: writer.isFull, properties, ...rest });
}

const MAX_SLIDES = 10_000;

/** Returns the parts of the slides in order; undefined when there is no main part. */
function listSlides(file: OfficePackage, main: string, relationships: Relationships): string[] | undefined {
  const parts: string[] = [];
  const hasMain = file.walk(main, {
    open(name, attributes) {
      const part = name === "p:sldId" ? relationships.get(attributes["r:id"] ?? "") : undefined;
      if (part !== undefined && parts.length < MAX_SLIDES) parts.push(part.target);
    },
  });
  // Each slide is read once, even if a hostile file names it several times.
  return hasMain ? [...new Set(parts)] : undefined;
}

interface SlideInput {
  file: OfficePackage;
  part: string;
  writer: BlockWriter;
  authors: ReadonlyMap<string, string>;
  footers: Set<string>;
  number: number;
}

function readSlide({ file, part, writer, authors, footers, number }: SlideInput): void {
  const relationships = file.relationshipsOf(part);
  const slide = readShapes(file, part, relationships, writer);
  if (slide === undefined) return;
  const notes = findType(relationships, "notesSlide");
  const notesShapes =
    notes === undefined ? [] : readShapes(file, notes.target, file.relationshipsOf(notes.target), writer);
  writeSlide(writer, {
    number,
    shapes: slide.filter(({ place }) => !FURNITURE.has(place ?? "")),
    notes: (notesShapes ?? []).filter(({ place }) => place === undefined || place === "body"),
    comments: readSlideComments(file, relationships, authors),
  });
  for (const shape of slide) if (shape.place === "ftr" || shape.place === "hdr") footers.add(shapeText(shape));
}

/** Placeholders for text that is the same on every slide. */
const FURNITURE = new Set(["ftr", "hdr", "dt", "sldNum", "sldImg"]);

/** The shapes of a slide; undefined when it is hidden or missing. */
function readShapes(
  file: OfficePackage,
  part: string,
  relationships: Relationships,
  writer: BlockWriter,
): SlideShape[] | undefined {
  const found = (kind: GraphicKind, id: string) => readGraphic(file, relationships, kind, id);
  const text = new SlideText({ writer, relationships, found });
  return file.walk(part, text) && text.isShown ? text.shapes : undefined;
}
