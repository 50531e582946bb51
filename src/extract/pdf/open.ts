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

/** Pieces of text in the order of the file, with structure marks between them. */
export type PdfItems = Awaited<ReturnType<PdfPage["getTextContent"]>>["items"];
export type TextItem = Extract<PdfItems[number], { str: string }>;

export interface OpenPdf {
  pdf: PdfDocument;
  fonts: FontWatch;
  close(): Promise<void>;
}

/**
 * Opens a PDF. Only unpdf's own loader is used: it includes a pdf.js in which evaluating code is disabled. Source: S44.
 *
 * @throws Error named `PasswordException` when it requires a password, others when it is broken
 */
export async function openPdf(bytes: Uint8Array): Promise<OpenPdf> {
  const fonts = new FontWatch();
  try {
    const options = { verbosity: FontWatch.VERBOSITY, isOffscreenCanvasSupported: false, useWorkerFetch: false };
    // The bytes are copied, because pdf.js takes ownership of the buffer. Offsets in the file are relative to its header.
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
 * Adobe's tables of Chinese, Japanese and Korean character codes. Fonts name them, but files don't contain them, so the build puts them next to the
 * programs. Other data that pdf.js may request (fonts to draw with) doesn't change the text.
 */
class CMaps {
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    if (kind !== "cMapUrl" || !/^[\w-]{1,60}\.bcmap$/u.test(filename)) throw new Error(`${kind} is not there`);
    return new Uint8Array(await readFile(join(findPackageRoot(), "dist", "cmaps", filename)));
  }
}
