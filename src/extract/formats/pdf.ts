import { append } from "#core/append.ts";
import { defined } from "#core/defined.ts";
import { type Format, type FormatInput, type FormatNoText, type FormatResult, noText } from "#extract/format.ts";
import { readAnnotations } from "#extract/pdf/annotations.ts";
import { addAttachments, distinctFiles, type FoundFile, readAttachments } from "#extract/pdf/attachments.ts";
import { readMetadata } from "#extract/pdf/metadata.ts";
import { withLinks } from "#extract/pdf/links.ts";
import { type OpenPdf, openPdf, type PdfPage } from "#extract/pdf/open.ts";
import { joinItems } from "#extract/pdf/page-text.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * PDF: the text layer page by page, with the values of forms and the comments on each page. Each page is a section that begins with its page marker.
 * Embedded files are child items, like the attachments of an email.
 */
export const pdfFormat: Format = {
  async extract(input): Promise<FormatResult> {
    let open: OpenPdf;
    try {
      open = await openPdf(input.bytes);
    } catch (error) {
      if (error instanceof Error && error.name === "PasswordException") {
        return noText("encrypted", "The PDF is password-protected.");
      }
      throw error;
    }
    try {
      return await readDocument(open, input);
    } finally {
      await open.close();
    }
  },
};

/** A page tree may claim any number of pages; a book has fewer. */
const MAX_PAGES = 20_000;
/** After this many consecutive broken pages, the remaining pages aren't tried. */
const MAX_BROKEN_PAGES = 25;

async function readDocument(open: OpenPdf, input: FormatInput): Promise<FormatResult> {
  const { pdf } = open;
  const out = new TextBuilder(input.maxTextLength);
  const pages = await readPages(open, input, out);
  if (pages.read > 0 && pages.broken === pages.read) throw new Error("none of its pages can be read");
  const files = distinctFiles([...(await readAttachments(pdf)), ...pages.files]);
  const children = addAttachments(out, files);
  const { title, ...properties } = await readMetadata(pdf);
  properties["pages"] = String(pdf.numPages);
  if (out.offset === 0) return { ...withoutText(pdf.numPages, pages.withoutFont), properties, ...defined({ title }) };
  if (pages.broken > 0) properties["unreadablePages"] = String(pages.broken);
  if (pages.withoutFont > 0) properties["pagesWithUnreadableFonts"] = String(pages.withoutFont);
  if (files.length > 0) properties["attachments"] = String(files.length);
  const leftOut = files.length - children.length;
  if (leftOut > 0) properties["attachmentsLeftOut"] = String(leftOut);
  return out.result({ properties, isCut: pages.read < pdf.numPages, title, children });
}

interface Pages {
  read: number;
  broken: number;
  /** Number of pages with an unreadable font, whose text is incomplete. */
  withoutFont: number;
  files: FoundFile[];
}

async function readPages({ pdf, fonts }: OpenPdf, input: FormatInput, out: TextBuilder): Promise<Pages> {
  const pages: Pages = { read: 0, broken: 0, withoutFont: 0, files: [] };
  const last = Math.min(pdf.numPages, MAX_PAGES);
  let brokenInARow = 0;
  while (pages.read < last && !out.isFull && brokenInARow < MAX_BROKEN_PAGES && input.hasTime()) {
    const number = ++pages.read;
    const found = await readPage(pdf.getPage(number));
    brokenInARow = found === undefined ? brokenInARow + 1 : 0;
    if (found === undefined) pages.broken++;
    else if (found.text !== "") addPage(out, number, found.text);
    append(pages.files, found?.files ?? []);
    if (fonts.take() === 0) continue;
    pages.withoutFont++;
    // Without this call, the next page with the same font isn't reported.
    await pdf.cleanup();
  }
  return pages;
}

function addPage(out: TextBuilder, number: number, text: string): void {
  if (out.offset > 0) out.add("\n");
  const ref = String(number);
  // Browsers open a PDF at this page with the fragment. Source: RFC 8118, section 3.
  out.section(`Page ${number}`, 1, out.offset, { kind: "page", ref, anchor: `page=${ref}` });
  out.add(`[Page ${number}]\n${text}\n`);
}

/**
 * Reads the content of a page. Undefined when it can't be read: a broken page doesn't affect the others, and a broken form doesn't affect its page.
 */
async function readPage(opened: Promise<PdfPage>): Promise<{ text: string; files: FoundFile[] } | undefined> {
  try {
    const page = await opened;
    const { items } = await page.getTextContent();
    const { lines, files, links } = await readAnnotations(page).catch(() => ({ lines: [], files: [], links: [] }));
    page.cleanup();
    const parts = [joinItems(withLinks(items, links)), lines.join("\n")];
    return { text: parts.filter((part) => part !== "").join("\n\n"), files };
  } catch {
    // The caller counts the broken page and reports it in the properties.
    return undefined;
  }
}

function withoutText(numPages: number, withoutFont: number): FormatNoText {
  const pages = numPages === 1 ? "its page" : `its ${numPages} pages`;
  const message =
    withoutFont > 0
      ? `The PDF has text in fonts that kb can't read, on ${withoutFont} of ${numPages} pages, and no other text.`
      : `The PDF has no text layer on ${pages}. It is probably a scan.`;
  return noText("empty", message);
}
