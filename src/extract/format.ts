import type { FieldValue } from "#api/common.ts";
import type { DecodedText } from "#core/encodings/decode.ts";
import type { ExtractedChild, NotExtracted } from "./extractor.ts";
import type { Section } from "#core/sections.ts";

/** The input of a format: bytes, and their text on request. Never a path or a URL. Source: S44. */
export interface FormatInput {
  bytes: Uint8Array;
  /** A hint, such as for the language of code. */
  fileName: string;
  mimeType: string;
  /** Text is useful up to this many UTF-16 code units; a format may stop there and set `isCut`. */
  maxTextLength: number;
  /** True = the members of an archive are requested as child items. */
  readsArchives: boolean;
  /**
   * The bytes decoded, by byte order mark, validity, the encoding that the document declares, and statistics, in that
   * order.
   */
  decode(declared?: string): DecodedText;
  /** False when half of the file's time is used up: a format that works in steps then returns what it has. */
  hasTime(): boolean;
}

export interface FormatText {
  state: "ok";
  text: string;
  title?: string;
  language?: string;
  sections: Section[];
  /** Number of the file's line that the text begins with, if its lines are the file's; absent for generated text. */
  firstLine?: number;
  properties: Record<string, FieldValue>;
  /** Files inside it, if any. */
  children?: ExtractedChild<Uint8Array>[];
  /** True when the document has more text than was taken. */
  isCut?: boolean;
}

export interface FormatNoText {
  state: "no_text";
  reason: NotExtracted["reason"];
  /** One sentence for the connector's owner. */
  message: string;
  title?: string;
  language?: string;
  /** The document's own properties, which it has even without text. */
  properties?: Record<string, FieldValue>;
}

export type FormatResult = FormatText | FormatNoText;

/** The result for a document without text. @param message one sentence for the connector's owner */
export function noText(reason: FormatNoText["reason"], message: string): FormatNoText {
  return { state: "no_text", reason, message };
}

/** One kind of document. To add one, add a file in `formats/` and a line in `registry.ts`. */
export interface Format {
  /** May throw on a broken document: the caller turns that into `failed`. */
  extract(input: FormatInput): FormatResult | Promise<FormatResult>;
}
