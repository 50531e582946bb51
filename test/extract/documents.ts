import { inMemory } from "../spool.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { extractInProcess } from "#extract/extract.ts";
import { DEFAULT_EXTRACT_LIMITS, type InnerLimits } from "#extract/limits.ts";
import type { Extracted, ExtractRequest, NotExtracted } from "#extract/extractor.ts";

export const bytesOf = (text: string, encoding: BufferEncoding = "utf8"): Uint8Array =>
  Uint8Array.from(Buffer.from(text, encoding));

export function requestOf(
  fileName: string,
  content: string | Uint8Array,
  more: Partial<ExtractRequest> = {},
): ExtractRequest {
  const bytes = typeof content === "string" ? bytesOf(content) : content;
  return { workspace: "wsp_one", bytes, fileName, title: fileName, path: [], labels: [], ...more };
}

/** Extraction in this process, without pool and build. */
export function extractFile(
  fileName: string,
  content: string | Uint8Array,
  limits: Partial<InnerLimits> = {},
  more: Partial<ExtractRequest> = {},
): Promise<Extracted<Uint8Array> | NotExtracted> {
  const tools = { analyze: analyzeDocument, now: () => 0, cpuMs: () => 0 };
  const request = requestOf(fileName, content, more);
  return extractInProcess(
    { ...request, bytes: inMemory(request.bytes) },
    { ...DEFAULT_EXTRACT_LIMITS, ...limits },
    tools,
  );
}

/** The same where text is expected. */
export async function textOf(
  fileName: string,
  content: string | Uint8Array,
  limits: Partial<InnerLimits> = {},
): Promise<Extracted<Uint8Array>> {
  const result = await extractFile(fileName, content, limits);
  if (result.state !== "ok") throw new Error(`${result.reason}: ${result.message}`);
  return result;
}

export interface PdfOptions {
  info?: Record<string, string>;
  /** What the page tree claims instead of the truth. */
  pageCount?: number;
  isEncrypted?: boolean;
}

/** A small PDF with one line of text per page; an empty line is a page without text. */
export function makePdf(lines: readonly string[], options: PdfOptions = {}): Uint8Array {
  const objects: string[] = [];
  const add = (body: string) => objects.push(body);
  const kids = lines.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(`<< /Type /Pages /Kids [${kids}] /Count ${options.pageCount ?? lines.length} >>`);
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  lines.forEach((line, index) => {
    const contents = 5 + index * 2;
    const stream = line === "" ? "0 0 100 100 re f" : `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${contents} 0 R >>`,
    );
    add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  });
  const info = Object.entries(options.info ?? {})
    .map(([key, value]) => `/${key} (${value})`)
    .join(" ");
  add(`<< ${info} >>`);
  const infoNumber = objects.length;
  const secret = "00112233445566778899aabbccddeeff".repeat(2);
  if (options.isEncrypted === true)
    add(`<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${secret}> /U <${secret}> >>`);
  const encrypt = options.isEncrypted === true ? `/Encrypt ${objects.length} 0 R /ID [<${secret}> <${secret}>]` : "";

  return pdfOf(objects, `/Info ${infoNumber} 0 R ${encrypt}`);
}

/** A PDF of these objects, each a character a byte; the first is the catalog. */
export function pdfOf(objects: readonly string[], trailer = ""): Uint8Array {
  let file = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = file.length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return bytesOf(file, "latin1");
}
