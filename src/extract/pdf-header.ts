import { asBuffer } from "#core/as-buffer.ts";

/**
 * Returns where a PDF begins in its file; -1 if it isn't one. PDF readers search the first 1,024 bytes, because servers and printers may put
 * something before the header. A header that isn't at the start is accepted only if an object and the end of a PDF follow, because a text about PDF
 * files may contain headers too. Source: ISO 32000-1, annex H, implementation notes 13 and 18.
 */
export function pdfStart(bytes: Uint8Array): number {
  const start = latin1(bytes.subarray(0, LOOK_BYTES * 2));
  const at = start.slice(0, LOOK_BYTES).indexOf("%PDF-");
  if (at <= 0) return at;
  const isHeader = /^%PDF-\d\.\d\s/u.test(start.slice(at)) && !/[\w"'`]/u.test(start.charAt(at - 1));
  return isHeader && / obj\b/u.test(start.slice(at)) && latin1(bytes.subarray(-LOOK_BYTES)).includes("%%EOF") ? at : -1;
}

/** Whether the first bytes of a file may be those of a PDF; they alone can't prove it. */
export function mayBePdf(first: Uint8Array): boolean {
  return latin1(first.subarray(0, LOOK_BYTES)).includes("%PDF-");
}

/** Number of bytes needed to see whether a file may be a PDF. */
export const LOOK_BYTES = 1_024;

function latin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("latin1");
}
