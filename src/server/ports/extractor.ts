import type { FieldValue } from "#api/common.ts";
import type { AnalyzedText } from "#server/analysis/analyzer.ts";

export interface ExtractRequest {
  /** Whose file it is: a child process never sees the files of two workspaces. Source: S44. */
  workspace: string;
  bytes: Uint8Array;
  /** File name with extension; only a hint, the bytes decide. */
  fileName: string;
  /** What the source says it is, if it does. */
  mimeType?: string;
  /** What is analyzed together with the text: the weights differ by field. */
  title: string;
  /** True = the title is the name of a file: the document's own title takes its place, and the name counts beside it. */
  hasFileTitle?: boolean;
  /** A name beside the title that counts as the title does. */
  name?: string;
  path: readonly string[];
  labels: readonly string[];
  /** True = secrets in the text stay as they are; otherwise each becomes `[removed: …]`. Source: S37. */
  keepsSecrets?: boolean;
  /** True = the members of an archive are given as parts; otherwise an archive is a type that is not read. */
  readsArchives?: boolean;
}

/** What a section is in its document; decides how a reader is told where it stands. */
export const SECTION_KINDS = ["heading", "page", "slide", "sheet", "part", "cell"] as const;
export type SectionKind = (typeof SECTION_KINDS)[number];

/** A stretch of the text with a name of its own. Offsets in UTF-16 code units; it ends where the next of its level or above starts. */
export interface Section {
  name: string;
  level: number;
  start: number;
  /** Absent = heading. */
  kind?: SectionKind;
  /** Where it stands in the document, in the document's own terms: `3` for a page or slide, `A1:F40` for a range of cells. */
  ref?: string;
  /** What an address of the document ends in to lead here: `install`, `page=3`. Without `#`, as it stands in an address. */
  anchor?: string;
}

/** A file inside a file: an attachment, an archive member. It becomes an item of its own, under its parent's access. Source: S20. */
export interface ExtractedPart {
  /** Unique and the same each time within its parent, as in `docs/a.txt`, `2/report.pdf`. */
  id: string;
  fileName: string;
  mimeType?: string;
  bytes: Uint8Array;
}

export interface Extracted {
  state: "ok";
  /** Markdown (or the text as it is for plain text and code). */
  text: string;
  mimeType: string;
  /** Title that the document itself states. */
  title?: string;
  /** ISO 639-1, when it is clear. */
  language?: string;
  sections: Section[];
  /**
   * Number of the file's line that the text begins with, when the text has the file's lines one by one; absent for text that
   * was made from something else.
   */
  firstLine?: number;
  /** Claimed authors, dates and other properties of the document itself. */
  properties: Record<string, FieldValue>;
  /** How many secrets were taken out of the text. */
  maskedSecrets: number;
  /** Absent = none. */
  parts?: ExtractedPart[];
  /** Term vector of title, path, labels and text. */
  analyzed: AnalyzedText;
}

export interface NotExtracted {
  state: "no_text";
  reason: "unsupported_type" | "too_large" | "empty" | "encrypted" | "failed";
  /** One sentence for the connector's owner. */
  message: string;
  mimeType: string;
  /** True when another try can end differently (the child was killed, memory was short). */
  retryable: boolean;
  /** Term vector of title, path and labels only. */
  analyzed: AnalyzedText;
}

/**
 * Bytes → searchable text, in child processes with a heap cap, watched memory and a time cap. A hostile or broken file
 * ends in `no_text`, never in a throw. Source: S44.
 */
export interface Extractor {
  extract(request: ExtractRequest, signal?: AbortSignal): Promise<Extracted | NotExtracted>;
  /** Pids and resident bytes of the children, for the proof runs. */
  stats(): { pid: number; rssBytes: number; files: number }[];
  close(): Promise<void>;
}
