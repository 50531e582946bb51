import type { HeldBytes } from "#core/spool.ts";
import type { Fault } from "#core/faults.ts";
import type { Section } from "#core/sections.ts";
import type { FieldValue } from "#api/common.ts";
import type { AnalyzedText } from "#text/analyzer.ts";

export interface ExtractRequest<Bytes extends HeldBytes = HeldBytes> {
  /** The workspace of the file. A child process never receives files of two workspaces. Source: S44. */
  workspace: string;
  /** The file's bytes. If they are spooled, the caller closes them after the result has arrived. */
  bytes: Bytes;
  /** File name with extension. It is only a hint: the type is detected by the bytes. */
  fileName: string;
  /** The type that the source declares, if any. */
  mimeType?: string;
  /** Analyzed together with the text, because the weights differ by field. */
  title: string;
  /** True if the title is the name of a file. The document's own title then replaces it, and the name is analyzed as well. */
  hasFileTitle?: boolean;
  /** Another name, with the weight of the title. */
  name?: string;
  path: readonly string[];
  labels: readonly string[];
  /** True if secrets in the text are kept unchanged; otherwise each is replaced with `[removed: …]`. Source: S37. */
  keepsSecrets?: boolean;
  /** True if the members of an archive are returned as child items; otherwise archives aren't read. */
  readsArchives?: boolean;
}

/** A file inside a file: an attachment, an archive member. It becomes a separate item with its parent's access. Source: S20. */
export interface ExtractedChild<Bytes extends HeldBytes = HeldBytes> {
  /** Unique and stable within its parent, as in `docs/a.txt`, `2/report.pdf`. */
  id: string;
  fileName: string;
  mimeType?: string;
  /** The bytes are spooled if all files inside the file are large together; the caller closes them. */
  bytes: Bytes;
}

export interface Extracted<Bytes extends HeldBytes = HeldBytes> {
  state: "ok";
  /** Markdown (or the unchanged text for plain text and code). */
  text: string;
  mimeType: string;
  /** The media type whose reader was used; readers have versions. */
  reader: string;
  /** The title that the document itself states. */
  title?: string;
  /** ISO 639-1 code, when the language is clear. */
  language?: string;
  sections: Section[];
  /** The number of the file's line with which the text begins, if the lines of the text are those of the file; absent for generated text. */
  firstLine?: number;
  /** Authors, dates and other properties that the document itself claims. */
  properties: Record<string, FieldValue>;
  /** Number of secrets removed from the text. */
  maskedSecrets: number;
  /** Files inside the file; absent = none. */
  children?: ExtractedChild<Bytes>[];
  /** The time limit was reached before the end of the file, so reading it again may return more text. */
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
  /** The media type whose reader was to be used; null = reading failed before that. */
  reader: string | null;
  /** The likely place of the bug if the failure looks like a bug of kb. */
  fault?: Fault;
  /** The title that the document itself states. */
  title?: string;
  /** ISO 639-1 code, when the language is clear. */
  language?: string;
  /** Authors, dates and other properties that the document itself claims; absent = none. */
  properties?: Record<string, FieldValue>;
  /** Number of secrets removed from the properties; absent = none. */
  maskedSecrets?: number;
  /** True when another attempt can have a different result (the child was killed, memory was short). */
  retryable: boolean;
  /** Term vector of only title, path and labels. */
  analyzed: AnalyzedText;
}

/**
 * Converts bytes to searchable text in child processes with a heap cap, a memory limit and a time limit. A hostile or broken file results in
 * `no_text` and never in an exception. Source: S44.
 */
export interface Extractor {
  extract(request: ExtractRequest, signal?: AbortSignal): Promise<Extracted | NotExtracted>;
  /** Pids and resident bytes of the children, for the proof runs. */
  stats(): { pid: number; rssBytes: number; files: number }[];
  close(): Promise<void>;
}
