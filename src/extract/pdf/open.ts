import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getDocumentProxy } from "unpdf";
import { findPackageRoot } from "#core/spawn.ts";
import { writeDrawnHyphens } from "./drawn-hyphens.ts";
import { FontWatch } from "./font-watch.ts";
import { pdfStart } from "#extract/pdf-header.ts";
import { asBuffer } from "#core/as-buffer.ts";

export type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;
export type PdfPage = Awaited<ReturnType<PdfDocument["getPage"]>>;

/** Pieces of text in the order of the file, with marks of its structure between them. */
export type PdfItems = Awaited<ReturnType<PdfPage["getTextContent"]>>["items"];
export type TextItem = Extract<PdfItems[number], { str: string }>;

export interface OpenPdf {
  pdf: PdfDocument;
  fonts: FontWatch;
  close(): Promise<void>;
}

/**
 * Opens a PDF. Only unpdf's own loader is used: it includes a pdf.js with evaluation off. Source: S44.
 *
 * @throws Error named `PasswordException` when it requires a password, others when it is broken
 */
export async function openPdf(bytes: Uint8Array): Promise<OpenPdf> {
  const fonts = new FontWatch();
  try {
    const options = { verbosity: FontWatch.VERBOSITY, isOffscreenCanvasSupported: false, useWorkerFetch: false };
    // A copy, because pdf.js takes ownership of the buffer; offsets in the file count from its header.
    const own = Uint8Array.from(bytes.subarray(Math.max(0, pdfStart(bytes))));
    writeDrawnHyphens(asBuffer(own));
    const pdf = await getDocumentProxy(own, { ...options, BinaryDataFactory: CMaps });
    const close = async () => {
      await pdf.destroy();
      fonts.stop();
    };
    return { pdf, fonts, close };
  } catch (error) {
    fonts.stop();
    throw error;
  }
}

/**
 * Adobe's tables of Chinese, Japanese and Korean character codes, which the build puts next to the programs: fonts name
 * them, files do not contain them. Other data that pdf.js may request (fonts to draw with) changes no text.
 */
class CMaps {
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    if (kind !== "cMapUrl" || !/^[\w-]{1,60}\.bcmap$/u.test(filename)) throw new Error(`${kind} is not there`);
    return new Uint8Array(await readFile(join(findPackageRoot(), "dist", "cmaps", filename)));
  }
}
