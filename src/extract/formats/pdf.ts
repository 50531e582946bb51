import { getDocumentProxy } from "unpdf";
import { oneLine } from "#extract/clean.ts";
import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/**
 * PDF: the text layer page by page, each page a section that begins with its mark. Only unpdf's own loader is used: it
 * carries a pdf.js with evaluation off. Source: S44.
 */
export const pdfFormat: Format = {
  async extract(input): Promise<FormatResult> {
    let pdf: PdfDocument;
    try {
      // A copy: pdf.js takes the buffer away from its owner.
      pdf = await getDocumentProxy(Uint8Array.from(input.bytes), { verbosity: 0, isOffscreenCanvasSupported: false });
    } catch (error) {
      if (error instanceof Error && error.name === "PasswordException") {
        return { state: "no_text", reason: "encrypted", message: "The PDF is password-protected." };
      }
      throw error;
    }
    try {
      return await readDocument(pdf, input);
    } finally {
      await pdf.destroy();
    }
  },
};

/** A page tree may claim any number of pages; a book has fewer. */
const MAX_PAGES = 20_000;
/** Broken pages in a row after which the rest is not tried. */
const MAX_BROKEN_PAGES = 25;

async function readDocument(pdf: PdfDocument, input: FormatInput): Promise<FormatResult> {
  const out = new TextBuilder(input.maxTextLength);
  const last = Math.min(pdf.numPages, MAX_PAGES);
  let broken = 0;
  let brokenInARow = 0;
  let number = 1;
  for (; number <= last && !out.isFull && brokenInARow < MAX_BROKEN_PAGES && input.hasTime(); number++) {
    const text = await readPage(pdf, number);
    brokenInARow = text === undefined ? brokenInARow + 1 : 0;
    if (text === undefined) broken++;
    else if (text !== "") addPage(out, number, text);
  }
  const read = number - 1;
  if (read > 0 && broken === read) throw new Error("none of its pages can be read");
  if (out.offset === 0) {
    const message = `The PDF has no text layer on its ${pdf.numPages} pages. It is probably a scan.`;
    return {
      state: "no_text",
      reason: "empty",
      message: pdf.numPages === 1 ? message.replace("its 1 pages", "its page") : message,
    };
  }
  const { title, ...properties } = await readMetadata(pdf);
  properties["pages"] = String(pdf.numPages);
  if (broken > 0) properties["unreadablePages"] = String(broken);
  const isCut = out.isFull || read < pdf.numPages;
  const result = { state: "ok", text: out.toString(), sections: out.sections, properties, isCut } as const;
  return title === undefined ? result : { ...result, title };
}

function addPage(out: TextBuilder, number: number, text: string): void {
  if (out.offset > 0) out.add("\n");
  const ref = String(number);
  // Browsers open a PDF at its page by this. Source: RFC 8118, section 3.
  out.section(`Page ${number}`, 1, out.offset, { kind: "page", ref, anchor: `page=${ref}` });
  out.add(`[Page ${number}]\n${text}\n`);
}

/** The text of a page; "" when it has none, undefined when it can't be read: a broken page does not spoil the others. */
async function readPage(pdf: PdfDocument, number: number): Promise<string | undefined> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return joinItems(items);
  } catch {
    // Counted by the caller and told in the properties.
    return undefined;
  }
}

interface TextItem {
  str: string;
  hasEOL: boolean;
  height: number;
  transform: unknown[];
}

/** Lines as the layout has them; a blank line where the distance to the next line is that of a paragraph. */
function joinItems(items: readonly (TextItem | object)[]): string {
  let text = "";
  let lineY: number | undefined;
  for (const item of items) {
    if (!("str" in item)) continue;
    const y = Number(item.transform[5]);
    const isNewLine = text.endsWith("\n");
    if (isNewLine && item.str.trim() !== "" && lineY !== undefined && lineY - y > 1.9 * Math.max(1, item.height))
      text += "\n";
    text += item.str;
    if (item.str.trim() !== "") lineY = y;
    if (item.hasEOL) text += "\n";
  }
  return text
    .replaceAll(/[ \t]+\n/gu, "\n")
    .replaceAll(/\n{3,}/gu, "\n\n")
    .trim();
}

async function readMetadata(pdf: PdfDocument): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const metadata = await pdf.getMetadata().catch(() => undefined);
  if (metadata === undefined) return found;
  // Proof: pdf.js gives a plain object whose values are strings, numbers, booleans or names.
  const info = metadata.info as Record<string, unknown>;
  for (const [key, name] of Object.entries(INFO_PROPERTIES)) {
    const value = info[key];
    if (typeof value !== "string") continue;
    const line = oneLine(name === "created" || name === "modified" ? isoDate(value) : value, 500);
    if (line !== "") found[name] = line;
  }
  return found;
}

const INFO_PROPERTIES: Readonly<Record<string, string>> = {
  Title: "title",
  Author: "author",
  Subject: "subject",
  Keywords: "keywords",
  Creator: "creator",
  CreationDate: "created",
  ModDate: "modified",
};

/** `D:20240131120000+01'00'` as `2024-01-31T12:00:00+01:00`, in UTC without a zone; what is no such date stays as it is. */
function isoDate(value: string): string {
  const parts = /^(?:D:)?(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?/u.exec(value);
  if (parts === null) return value;
  const [, year, month, day, hour = "00", minute = "00", second = "00", utc, zone, zoneMinutes = "00"] = parts;
  const offset = utc ?? (zone === undefined ? "Z" : `${zone}:${zoneMinutes}`);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`;
}
