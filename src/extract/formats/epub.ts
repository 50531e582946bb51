import { cleanText } from "#extract/clean.ts";
import { decodeText } from "#core/encodings/decode.ts";
import type { FormatInput, FormatResult } from "#extract/format.ts";
import { renderFragment } from "#extract/html/render.ts";
import { openEpub, type EpubBook } from "#extract/office/epub-book.ts";
import { zipFormat } from "#extract/office/failures.ts";
import { resultProperties } from "#extract/office/properties.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** EPUB books. The chapters are read as HTML in reading order. A chapter without its own heading gets its title from the table of contents. */
export const epubFormat = zipFormat(readBook);

function readBook(input: FormatInput): FormatResult {
  const book = openEpub(input.bytes);
  const out = new TextBuilder(input.maxTextLength);
  let read = 0;
  for (const { name, title } of book.chapters) {
    if (out.isFull || !input.hasTime()) break;
    read++;
    addChapter(out, book, name, title, input.maxTextLength);
  }
  const { properties, ...rest } = resultProperties(book.properties);
  properties["chapters"] = String(book.chapters.length);
  return out.result({ isCut: read < book.chapters.length, properties, ...rest });
}

function addChapter(
  out: TextBuilder,
  book: EpubBook,
  name: string,
  title: string | undefined,
  maxLength: number,
): void {
  const bytes = book.read(name);
  const decoded = bytes === undefined ? undefined : decodeText(bytes, maxLength);
  if (decoded === undefined) return;
  const chapter = renderFragment(closeEmptyElements(cleanText(decoded.text)), maxLength);
  const text = chapter.toString();
  if (!/\S/u.test(text)) return;
  if (out.offset > 0) out.add("\n");
  if (title !== undefined && chapter.sections.length === 0) {
    out.section(title, 1);
    // Many chapters contain their title as plain text, and then it isn't repeated.
    if (!text.slice(0, 200).includes(title)) out.add(`# ${title}\n\n`);
  }
  const start = out.offset;
  for (const section of chapter.sections) out.section(section.name, section.level, start + section.start);
  out.addClean(text);
}

/** Replaces `<title/>` of XHTML with `<title></title>`, because an HTML parser regards the first as an opening tag. */
function closeEmptyElements(html: string): string {
  return html.replaceAll(/<([a-zA-Z][\w:-]{0,40})((?:\s[^<>]{0,2000})?)\/>/gu, (whole, name: string, rest: string) =>
    VOID_ELEMENTS.has(name.toLowerCase()) ? whole : `<${name}${rest}></${name}>`,
  );
}

const VOID_ELEMENTS = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
