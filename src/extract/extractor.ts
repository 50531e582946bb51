import type { HeldBytes } from "#core/spool.ts";
import type { Fault } from "#core/faults.ts";
import type { Section } from "#core/sections.ts";
import type { FieldValue } from "#api/common.ts";
import type { AnalyzedText } from "#text/analyzer.ts";

export interface ExtractRequest<Bytes extends HeldBytes = HeldBytes> {
  /** The workspace of the file: a child process never sees the files of two workspaces. Source: S44. */
  workspace: string;
  /** The caller closes spooled bytes, once the result has arrived. */
  bytes: Bytes;
  /** File name with extension; only a hint, the bytes decide. */
  fileName: string;
  /** The type that the source declares, if any. */
  mimeType?: string;
  /** Analyzed together with the text: the weights differ by field. */
  title: string;
  /** True = the title is the name of a file: the document's own title replaces it, and the name counts too. */
  hasFileTitle?: boolean;
  /** Another name that counts like the title. */
  name?: string;
  path: readonly string[];
  labels: readonly string[];
  /** True = secrets in the text stay unchanged; otherwise each becomes `[removed: …]`. Source: S37. */
  keepsSecrets?: boolean;
  /** True = the members of an archive are returned as child items; otherwise archives aren't read. */
  readsArchives?: boolean;
}

/**
 * A file inside a file: an attachment, an archive member. It becomes an item of its own, under its parent's access.
 * Source: S20.
 */
export interface ExtractedChild<Bytes extends HeldBytes = HeldBytes> {
  /** Unique and stable within its parent, as in `docs/a.txt`, `2/report.pdf`. */
  id: string;
  fileName: string;
  mimeType?: string;
  /** Spooled if all files inside the file are many bytes: the caller closes them. */
  bytes: Bytes;
}

export interface Extracted<Bytes extends HeldBytes = HeldBytes> {
  state: "ok";
  /** Markdown (or the unchanged text for plain text and code). */
  text: string;
  mimeType: string;
  /** The media type that it was read as; the reader of that type has a version. */
  reader: string;
  /** Title that the document itself states. */
  title?: string;
  /** ISO 639-1, when it is clear. */
  language?: string;
  sections: Section[];
  /**
   * Number of the file's line that the text begins with, if the text has the file's lines one by one; absent for
   * generated text.
   */
  firstLine?: number;
  /** Claimed authors, dates and other properties of the document itself. */
  properties: Record<string, FieldValue>;
  /** Number of secrets removed from the text. */
  maskedSecrets: number;
  /** Absent = none. */
  children?: ExtractedChild<Bytes>[];
  /** The time limit was reached before the file's end: another reading may give more. */
  isOutOfTime?: true;
  /** Term vector of title, path, labels and text. */
  analyzed: AnalyzedText;
}

export interface NotExtracted {
  state: "no_text";
  reason: "unsupported_type" | "too_large" | "empty" | "encrypted" | "failed";
  /** One sentence for the connector's owner. */
  message: string;
  mimeType: string;
  /** The media type that it was to be read as; null = it failed before that. */
  reader: string | null;
  /** Where a bug of kb probably is, if it looks like one. */
  fault?: Fault;
  /** Title that the document itself states. */
  title?: string;
  /** ISO 639-1, when it is clear. */
  language?: string;
  /** Claimed authors, dates and other properties of the document itself; absent = none. */
  properties?: Record<string, FieldValue>;
  /** Number of secrets removed from them; absent = none. */
  maskedSecrets?: number;
  /** True when another try can end differently (the child was killed, memory was short). */
  retryable: boolean;
  /** Term vector of title, path and labels only. */
  analyzed: AnalyzedText;
}

/**
 * Turns bytes into searchable text, in child processes with a heap cap, watched memory and a time cap. A hostile or
 * broken file ends in `no_text`, never in a throw. Source: S44.
 */
export interface Extractor {
  extract(request: ExtractRequest, signal?: AbortSignal): Promise<Extracted | NotExtracted>;
  /** Pids and resident bytes of the children, for the proof runs. */
  stats(): { pid: number; rssBytes: number; files: number }[];
  close(): Promise<void>;
}
