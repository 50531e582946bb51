/** Limits for one file, in bytes and milliseconds. Text length is in UTF-16 code units. */
export interface ExtractLimits {
  /** Larger files have the result `too_large` without being read. */
  maxBytes: number;
  /** Longer text is truncated, and the item reports that in `properties.truncated`. */
  maxTextLength: number;
  /**
   * A child is killed when it has used more CPU time for one file, or when `WAITING_FACTOR` times this has passed in wall-clock time. Large files get
   * an additional second per MiB.
   */
  timeoutMs: number;
  /** The same limit for PDF files, which are slow for good reasons. */
  pdfTimeoutMs: number;
  /** Heap cap of a child (`--max-old-space-size`). */
  heapMegabytes: number;
  /** Resident memory at which a child is killed. This is needed because the heap cap doesn't limit ArrayBuffers. Source: S44. */
  maxRssBytes: number;
  /** A child whose resident memory is above this after a file ends soon if it has no work. */
  largeRssBytes: number;
  /** A child is replaced after this many files that need a document parser: HTML, PDF, unknown types. Source: S44. */
  recycleAfterFiles: number;
  /**
   * A child is replaced after this many files of any kind. Most files are plain text, code, Markdown, CSV or JSON. A fresh child runs code that isn't
   * optimized yet: if children were replaced after 500 files, warming up would take as much time as the files (3.0 against 1.6 ms per file, measured
   * over 550 files of 6 kB). Source: docs/decisions/0004.
   */
  recycleAfterTextFiles: number;
  /** A child without work ends after this many milliseconds, to free its memory. */
  idleMs: number;
}

/** The limits that a child enforces itself. */
export type InnerLimits = Pick<ExtractLimits, "maxBytes" | "maxTextLength" | "pdfTimeoutMs">;

/** The wall-clock limit of a file as a multiple of its CPU time, because other programs may use the machine as well. */
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
