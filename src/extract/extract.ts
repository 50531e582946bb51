import type { FieldValue } from "#api/common.ts";
import type { AnalyzedText, DocumentFields } from "#text/analyzer.ts";
import { defined } from "#core/defined.ts";
import { findFault } from "#core/faults.ts";
import { titleAndName } from "#text/own-title.ts";
import { maskedOffset } from "#text/secrets/cut.ts";
import { type MaskedText, maskSecrets } from "#text/secrets/mask.ts";
import { beforeOpenToken } from "#text/secrets/tokens.ts";
import type { Extracted, ExtractRequest, NotExtracted } from "./extractor.ts";
import { cutText, oneLine } from "./clean.ts";
import { decodeText } from "#core/encodings/decode.ts";
import { detectType } from "./detect.ts";
import type { FormatInput, FormatNoText, FormatText } from "./format.ts";
import { type FileTime, makeFileTime } from "./file-time.ts";
import type { InnerLimits } from "./limits.ts";
import { loadPart, NotLoaded } from "./load.ts";
import { findFormat, type Reader } from "./registry.ts";

export interface ExtractTools {
  /** Builds the term vector of an item. */
  analyze(fields: DocumentFields): AnalyzedText;
  /** Monotonic milliseconds. */
  now(): number;
  /** Milliseconds of CPU time that this process has used. */
  cpuMs(): number;
  /** Formats that replace the registry's, for tests of the pool. */
  formats?: Readonly<Record<string, Reader>>;
}

/**
 * Extracts text in this process. A child runs this function, and tests can run it without a build. The pool enforces the caps on time and memory;
 * size and text length are checked here.
 *
 * @returns the text, or the reason why there is none; never throws because of the bytes
 */
export async function extractInProcess(
  request: ExtractRequest<Uint8Array>,
  limits: InnerLimits,
  tools: ExtractTools,
): Promise<Extracted<Uint8Array> | NotExtracted> {
  try {
    return await extractLoaded(request, limits, tools);
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    const message = "A part of the program that reads this file could not be loaded. Nothing is wrong with the file.";
    const why = { reason: "failed", message, mimeType: typeOf(request), reader: null, retryable: true } as const;
    return makeNoText(request, { ...why, ...defined({ fault: findFault(error) }) }, tools);
  }
}

async function extractLoaded(
  request: ExtractRequest<Uint8Array>,
  limits: InnerLimits,
  tools: ExtractTools,
): Promise<Extracted<Uint8Array> | NotExtracted> {
  const noText = (
    reason: NotExtracted["reason"],
    message: string,
    mimeType: string,
    reader: string | null = mimeType,
  ) => makeNoText(request, { reason, message, mimeType, reader, retryable: false }, tools);
  if (request.bytes.length > limits.maxBytes)
    return noText("too_large", tooLargeMessage(request, limits), typeOf(request), null);

  const detected = await detectType(request.bytes, request.fileName, request.mimeType);
  if (detected.type === "empty") return noText("empty", "The file is empty.", typeOf(request), null);
  const found = findFormat(detected.mimeType, detected.type === "text", tools.formats);
  if (found === undefined) {
    const label = detected.type === "binary" ? detected.label : "binary";
    return noText(
      "unsupported_type",
      `kb can't read text from ${label} files (${detected.mimeType}).`,
      detected.mimeType,
    );
  }
  try {
    const format = await loadPart(found.load);
    const time = timeFor(detected.mimeType, limits, tools);
    const result = await format.extract(makeInput(request, detected.mimeType, limits, time));
    if (result.state === "no_text") return finishWithoutText(request, detected.mimeType, result, tools);
    if (!/\S/u.test(result.text)) return finishWithoutText(request, detected.mimeType, { ...result, ...BLANK }, tools);
    const extracted = finish(request, detected.mimeType, { ...result, isOutOfTime: time.isOver() }, limits, tools);
    return time.isOver() ? { ...extracted, isOutOfTime: true } : extracted;
  } catch (error) {
    if (error instanceof NotLoaded) throw error;
    const message = `The file can't be read as ${detected.mimeType}: ${reasonOf(error)}.`;
    return { ...noText("failed", message, detected.mimeType), ...defined({ fault: findFault(error) }) };
  }
}

/** The result for an item without text: it can still be found by title, path and labels. */
export function makeNoText(
  request: Pick<ExtractRequest, "title" | "name" | "path" | "labels">,
  why: Omit<NotExtracted, "state" | "analyzed">,
  tools: Pick<ExtractTools, "analyze">,
): NotExtracted {
  const { title, name, path, labels } = request;
  return { state: "no_text", ...why, analyzed: tools.analyze({ title, name, path, labels, text: "" }) };
}

/** Makes one sentence with the file's size and the cap. */
export function tooLargeMessage(request: Pick<ExtractRequest, "bytes">, limits: Pick<InnerLimits, "maxBytes">): string {
  const mebibytes = (bytes: number) => Math.round((bytes / 1_048_576) * 10) / 10;
  return `The file is ${mebibytes(request.bytes.length)} MiB. kb reads text from files up to ${mebibytes(limits.maxBytes)} MiB.`;
}

/** Returns the declared type, or the generic one. */
export function typeOf(request: Pick<ExtractRequest, "mimeType">): string {
  return request.mimeType ?? "application/octet-stream";
}

function makeInput(
  request: ExtractRequest<Uint8Array>,
  mimeType: string,
  limits: InnerLimits,
  { hasTime }: FileTime,
): FormatInput {
  const { bytes, fileName } = request;
  return {
    bytes,
    fileName,
    mimeType,
    maxTextLength: limits.maxTextLength,
    readsArchives: request.readsArchives === true,
    decode: (declared) => {
      const decoded = decodeText(bytes, limits.maxTextLength, declared);
      if (decoded === undefined) throw new Error("its bytes are not text in a known encoding");
      return decoded;
    },
    hasTime,
  };
}

/** Returns half of the time after which the pool kills a child: PDF files have twice as long as others. */
function timeFor(mimeType: string, limits: InnerLimits, tools: ExtractTools): FileTime {
  const share = mimeType === "application/pdf" ? 2 : 4;
  return makeFileTime(limits.pdfTimeoutMs / share, tools);
}

function finish(
  request: ExtractRequest,
  mimeType: string,
  result: FormatText & { isOutOfTime: boolean },
  limits: InnerLimits,
  tools: ExtractTools,
): Extracted<Uint8Array> {
  const whole = cutText(result.text, limits.maxTextLength);
  const isCut = result.isCut === true || whole.length < result.text.length;
  const cut = isCut ? beforeOpenToken(whole) : whole;
  const findIn = secretFinder(request);
  const { text, cuts } = findIn(cut);
  const { mask, found } = makeMask(findIn);
  const properties = maskedProperties(result.properties, mask);
  if (isCut) properties["truncated"] = truncatedMessage(text.length, result.isOutOfTime);
  const { path, labels } = request;
  const stated = result.title === undefined ? undefined : mask(result.title);
  const extracted: Extracted<Uint8Array> = {
    state: "ok",
    text,
    mimeType,
    reader: mimeType,
    sections: result.sections.map((section) => ({
      ...section,
      name: mask(section.name),
      start: maskedOffset(cuts, section.start),
    })),
    properties,
    maskedSecrets: cuts.length,
    analyzed: tools.analyze({ name: request.name, ...titleAndName(request, stated), path, labels, text }),
  };
  if (stated !== undefined && stated !== "") extracted.title = stated;
  if (result.language !== undefined) extracted.language = result.language;
  if (result.firstLine !== undefined) extracted.firstLine = result.firstLine;
  if (result.children !== undefined && result.children.length > 0)
    extracted.children = result.children.map((child) => ({ ...child, fileName: mask(child.fileName) }));
  // A secret that occurs in the text and in another field, such as a heading, is counted once. A secret that is only in other fields, or in the part
  // that was cut off, is counted too.
  extracted.maskedSecrets = Math.max(cuts.length, found() || cut.length < whole.length ? 1 : 0);
  return extracted;
}

const BLANK = { state: "no_text", reason: "empty", message: "The file has no text." } as const;

function truncatedMessage(length: number, isOutOfTime: boolean): string {
  const why = isOutOfTime ? ", because the file took too long" : "";
  return `Only the first ${length} characters were read${why}.`;
}

/** Makes the result for a document without text. It keeps its metadata, so that it can be found by its title and its fields. */
function finishWithoutText(
  request: ExtractRequest,
  mimeType: string,
  { reason, message, title, language, properties = {} }: FormatNoText,
  tools: ExtractTools,
): NotExtracted {
  const { mask, found } = makeMask(secretFinder(request));
  const stated = title === undefined ? undefined : mask(title);
  const about = { ...request, ...titleAndName(request, stated) };
  return {
    ...makeNoText(about, { reason, message, mimeType, reader: mimeType, retryable: false }, tools),
    ...(stated !== undefined && stated !== "" && { title: stated }),
    ...defined({ language }),
    properties: maskedProperties(properties, mask),
    maskedSecrets: found() ? 1 : 0,
  };
}

function secretFinder(request: ExtractRequest): (words: string) => Pick<MaskedText, "text" | "cuts"> {
  return request.keepsSecrets === true ? (words) => ({ text: words, cuts: [] }) : maskSecrets;
}

function maskedProperties(
  properties: Readonly<Record<string, FieldValue>>,
  mask: (text: string) => string,
): Record<string, FieldValue> {
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [mask(key), maskedValue(value, mask)]));
}

/** Makes a function that masks secrets in the fields of a document, and records whether anything was masked. */
function makeMask(findIn: (words: string) => Pick<MaskedText, "text" | "cuts">) {
  let count = 0;
  return {
    mask(this: void, words: string): string {
      const { text, cuts } = findIn(words);
      count += cuts.length;
      return text;
    },
    found: () => count > 0,
  };
}

function maskedValue(value: FieldValue, mask: (text: string) => string): FieldValue {
  if (typeof value === "string") return mask(value);
  return typeof value === "object" ? value.map(mask) : value;
}

/**
 * Formats a parser's message as part of a sentence: one line without a full stop. The message may quote the file, but contains no secret of the
 * server.
 */
function reasonOf(error: unknown): string {
  const words = error instanceof Error ? error.message || error.name : String(error);
  return oneLine(words, 200).replace(/[.\s]+$/u, "") || "unknown reason";
}
