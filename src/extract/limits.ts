/** Limits of one file. Bytes and milliseconds; text is counted in UTF-16 code units. */
export interface ExtractLimits {
  /** Larger files end in `too_large` without being read. */
  maxBytes: number;
  /** Longer text is cut, and the item reports it in `properties.truncated`. */
  maxTextLength: number;
  /**
   * A child is killed when it has used more CPU time for one file, or when `WAITING_FACTOR` times as long has passed by
   * the clock; large files have a second more for each MiB.
   */
  timeoutMs: number;
  /** The same for PDF files, which are slow for good reasons. */
  pdfTimeoutMs: number;
  /** Heap cap of a child (`--max-old-space-size`). */
  heapMegabytes: number;
  /** Resident memory at which a child is killed: the heap cap does not limit ArrayBuffers. Source: S44. */
  maxRssBytes: number;
  /** Resident memory above which a file has left a child large: it ends soon without work. */
  largeRssBytes: number;
  /** A child is replaced after this many files that need a document parser: HTML, PDF, unknown. Source: S44. */
  recycleAfterFiles: number;
  /**
   * The same for all files, most of them plain text, code, Markdown, CSV or JSON. A fresh child runs cold code: at 500
   * it would spend as much time on warming up as on files (3.0 against 1.6 ms a file, measured over 550 of 6 kB).
   * Source: docs/decisions/0004.
   */
  recycleAfterTextFiles: number;
  /** A child without work ends after this long, to free its memory. */
  idleMs: number;
}

/** The limits that a child enforces itself. */
export type InnerLimits = Pick<ExtractLimits, "maxBytes" | "maxTextLength" | "pdfTimeoutMs">;

/**
 * The wall-clock limit of a file as a multiple of its CPU time: a child that shares the machine isn't at fault for
 * waiting.
 */
export const WAITING_FACTOR = 10;

const MIB = 1024 * 1024;

export const DEFAULT_EXTRACT_LIMITS: ExtractLimits = {
  maxBytes: 50 * MIB,
  maxTextLength: 25_000_000,
  timeoutMs: 30_000,
  pdfTimeoutMs: 60_000,
  heapMegabytes: 512,
  maxRssBytes: 900 * MIB,
  largeRssBytes: 140 * MIB,
  recycleAfterFiles: 500,
  recycleAfterTextFiles: 12_000,
  idleMs: 20_000,
};
