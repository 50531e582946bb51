import type { FieldValue } from "#api/common.ts";
import type { DecodedText } from "#core/encodings/decode.ts";
import type { ExtractedChild, NotExtracted } from "./extractor.ts";
import type { Section } from "#core/sections.ts";

/** The input of a format: bytes, and their text on request. It is never a path or a URL. Source: S44. */
export interface FormatInput {
  bytes: Uint8Array;
  /** The file's name, which is a hint, for example for the language of code. */
  fileName: string;
  mimeType: string;
  /** Only this many UTF-16 code units of text are kept; a format may stop there and set `isCut`. */
  maxTextLength: number;
  /** True = the members of an archive are requested as child items. */
  readsArchives: boolean;
  /**
   * Decodes the bytes. The encoding is found by, in this order, the byte order mark, validity, the encoding that the document declares, and
   * statistics.
   */
  decode(declared?: string): DecodedText;
  /** False when half of the file's time is used up. A format that works in steps then returns what it has read. */
  hasTime(): boolean;
}

export interface FormatText {
  state: "ok";
  text: string;
  title?: string;
  language?: string;
  sections: Section[];
  /** The number of the file's line with which the text begins, if the lines of the text are those of the file; absent for generated text. */
  firstLine?: number;
  properties: Record<string, FieldValue>;
  /** Files inside the document, if any. */
  children?: ExtractedChild<Uint8Array>[];
  /** True when the document has more text than was read. */
  isCut?: boolean;
}

export interface FormatNoText {
  state: "no_text";
  reason: NotExtracted["reason"];
  /** One sentence for the connector's owner. */
  message: string;
  title?: string;
  language?: string;
  /** The document's own properties, which are present even if it has no text. */
  properties?: Record<string, FieldValue>;
}

export type FormatResult = FormatText | FormatNoText;

/** Makes the result for a document without text. @param message one sentence for the connector's owner */
export function noText(reason: FormatNoText["reason"], message: string): FormatNoText {
  return { state: "no_text", reason, message };
}

/** One kind of document. To add one, add a file in `formats/` and a line in `registry.ts`. */
export interface Format {
  /** Extracts the text. May throw for a broken document; the caller converts that to `failed`. */
  extract(input: FormatInput): FormatResult | Promise<FormatResult>;
}
