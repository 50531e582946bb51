import { hash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { FieldValue, TextReason } from "#api/common.ts";
import { placeWords } from "#api/item-fields.ts";
import { isApiError } from "#api/errors.ts";
import { type AnalyzedText, type DocumentFields, nameInKey } from "#text/analyzer.ts";
import { defined } from "#core/defined.ts";
import { type HeldBytes, letGo } from "#core/spool.ts";
import { type Fault, type FaultLog, findFault } from "#core/faults.ts";
import type { Extracted, ExtractedChild, Extractor, ExtractRequest, NotExtracted } from "#extract/extractor.ts";
import type { SourceItem } from "#sources/item.ts";
import { redact } from "#core/redact.ts";
import { findShortage } from "#core/shortage.ts";
import type { ItemText } from "#storage/item-batch.ts";
import type { Room } from "#server/sync/bytes/room.ts";
import { storable } from "./storable-text.ts";

/** Dependencies for reading the content of an item. */
export interface ReadOptions {
  workspaceId: string;
  connector: { connectorId: string; name: string; providerId: string };
  extractor: Pick<Extractor, "extract">;
  analyze: (fields: DocumentFields) => AnalyzedText;
  /** True = the workspace keeps secrets in texts, so that they can be found; otherwise they are removed. */
  keepsSecrets(workspaceId: string): Promise<boolean>;
  /** Logs faults of kb. Absent = they aren't logged. */
  faults?: FaultLog;
  now: () => number;
  signal: AbortSignal;
  /**
   * The item's share of the byte budget of all runs, for content that a child process reads. Absent = its bytes aren't
   * counted.
   */
  room?: Room | undefined;
}

/** How the content of one item is read. */
export interface Reading {
  /** Fetches the item's bytes; undefined if there are too many. Absent for sources that send the text with the item. */
  fetchContent?: ((item: SourceItem) => Promise<Fetched | undefined>) | undefined;
  /** True = the files in archives are read as child items. */
  readsArchives?: boolean;
}

/** The bytes of an item, and their version if it is known. */
export interface Fetched {
  /** The reader closes the bytes. */
  bytes: HeldBytes;
  mimeType?: string;
  fileName: string;
  version?: string;
}

/** The result of reading the content of one item. */
export interface ReadText {
  text: ItemText;
  /** The title that the document states. */
  title?: string;
  bytes: number;
  mimeType?: string;
  /** The media type with which the content was read. */
  reader?: string;
  version?: string;
  /** Claims: properties that the document states about itself. */
  properties: Record<string, FieldValue>;
  maskedSecrets: number;
  children?: ExtractedChild[];
}

/** Longer texts are analyzed in the pool: a megabyte takes some 40 ms, during which this thread would be blocked. */
const ANALYZE_HERE_CHARS = 32_768;
/**
 * The longest time until the next run tries an item again after a temporary failure of the source or the child process.
 */
export const RETRY_MS = 3_600_000;

/** Whether an item includes its text and this thread can read the text without waiting. */
export function isReadHere({ content, mimeType }: Pick<SourceItem, "content" | "mimeType">): boolean {
  if (content.type === "inline") return !isStructured(mimeType) && content.text.length <= ANALYZE_HERE_CHARS;
  return content.type === "none";
}

/**
 * Reads the text of an item. Returns undefined if the item was gone.
 *
 * @throws ApiError for failures that affect more than this one item
 */
export async function readText(
  options: ReadOptions,
  item: SourceItem,
  reading: Reading,
): Promise<ReadText | undefined> {
  const { content } = item;
  const { kind, key = null, title, hasFileTitle = false, path = [] } = item;
  const name = nameInKey({ kind, key });
  const about = { title, hasFileTitle, path, labels: placeWords(item), ...(name !== undefined && { name }) };
  const plain = (text: ItemText, bytes = 0): ReadText => ({
    text,
    bytes,
    properties: {},
    maskedSecrets: 0,
  });
  switch (content.type) {
    case "none": {
      const reason = content.reason ?? "empty";
      return plain({
        state: "none",
        reason,
        message: content.message ?? NONE_MESSAGES[reason],
        analyzed: options.analyze({ ...about, text: "" }),
      });
    }
    case "inline": {
      if (content.text.trim() === "") {
        return readText(options, { ...item, content: { type: "none", reason: "empty" } }, reading);
      }
      if (!isReadHere(item)) {
        return extractInline(options, content.text, about, isStructured(item.mimeType) ? item.mimeType : "text/plain");
      }
      const text = storable(content.text);
      const analyzed = options.analyze({ ...about, text });
      return plain({ state: "text", text, textHash: hashText(text), sections: [], analyzed }, Buffer.byteLength(text));
    }
    case "fetch":
      return fetchAndExtract(options, item, { about, ...reading });
  }
}

/** Types of text whose headings and hidden parts depend on the format. */
const STRUCTURED = ["text/markdown", "text/html"] as const;

function isStructured(mimeType: string | undefined): mimeType is (typeof STRUCTURED)[number] {
  return STRUCTURED.some((structured) => structured === mimeType);
}

type About = Pick<ExtractRequest, "title" | "hasFileTitle" | "name" | "path" | "labels">;

async function extractInline(options: ReadOptions, text: string, about: About, mimeType: string): Promise<ReadText> {
  await options.room?.enter(text.length);
  const bytes = new TextEncoder().encode(text);
  const plain = { bytes, fileName: "item", mimeType };
  // The text is masked already, together with the rest of the item.
  const request = { workspace: options.workspaceId, ...plain, keepsSecrets: true, ...about };
  const extracted = await whileShort(options.signal, () => options.extractor.extract(request, options.signal));
  return toReadText(options, extracted, bytes.length);
}

async function fetchAndExtract(
  options: ReadOptions,
  item: SourceItem,
  { about, fetchContent, readsArchives = false }: Reading & { about: About },
): Promise<ReadText | undefined> {
  try {
    if (!fetchContent) throw new Error(`The source can't read "${item.externalId}".`);
    return await whileShort(options.signal, async () => {
      const content = await fetchContent(item);
      if (!content) return readText(options, tooLarge(item), {});
      try {
        // Room is requested only now, because bytes may arrive slowly from the source. Until they have arrived, this
        // item takes no room from others.
        await options.room?.enter(content.bytes.length);
        return await extractFetched(options, item, content, { about, readsArchives });
      } finally {
        letGo(content.bytes);
      }
    });
  } catch (error) {
    options.signal.throwIfAborted();
    const shortage = findShortage(error);
    if (shortage) throw shortage;
    if (isApiError(error) && THROWN.has(error.code)) throw error;
    if (isApiError(error, "source_not_found")) return undefined;
    if (isApiError(error, "payload_too_large")) return readText(options, tooLarge(item, redact(error.message)), {});
    const message = redact(error instanceof Error ? error.message : String(error));
    const analyzed = options.analyze({ ...about, text: "" });
    const fault = findFault(error);
    const text: ItemText = {
      state: "failed",
      message,
      retryAt: options.now() + RETRY_MS,
      ...noteFault(options, fault),
      analyzed,
    };
    return { text, bytes: 0, properties: {}, maskedSecrets: 0 };
  }
}

/**
 * A shortage of open files or processes is usually short: these are the waits between retries before the run itself has
 * to wait.
 */
const SHORT_WAITS_MS = [100, 400, 1_600];

async function whileShort<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  for (const waitMs of SHORT_WAITS_MS) {
    try {
      return await work();
    } catch (error) {
      if (findShortage(error) === undefined) throw error;
    }
    await setTimeout(waitMs, undefined, { signal });
  }
  return work();
}

function tooLarge(item: SourceItem, message?: string): SourceItem {
  return { ...item, content: { type: "none", reason: "too_large", ...(message !== undefined && { message }) } };
}

async function extractFetched(
  options: ReadOptions,
  item: SourceItem,
  { bytes, fileName, version, ...content }: Fetched,
  { about, readsArchives }: { about: About; readsArchives: boolean },
): Promise<ReadText> {
  const mimeType = content.mimeType ?? item.mimeType;
  const { workspaceId: workspace } = options;
  const settings = { workspace, keepsSecrets: await options.keepsSecrets(workspace), readsArchives };
  const request = { ...settings, bytes, fileName, ...about, ...(mimeType && { mimeType }) };
  const extracted = await options.extractor.extract(request, options.signal);
  return { ...toReadText(options, extracted, bytes.length), ...(version !== undefined && { version }) };
}

/** Errors that affect more than this one item. */
const THROWN: ReadonlySet<string> = new Set([
  "source_unauthorized",
  "source_rate_limited",
  "source_changed",
  // Errors of the server itself. A full disk isn't among them, because a smaller file may still fit.
  "database_unusable",
  "database_damaged",
  "restart_needed",
]);

function toReadText(options: ReadOptions, result: Extracted | NotExtracted, bytes: number): ReadText {
  const { mimeType, reader, title, language, properties, maskedSecrets = 0 } = result;
  const read = {
    bytes,
    mimeType,
    ...(reader !== null && { reader }),
    ...(title && { title }),
    properties: { ...properties, ...(language && { language }) },
    maskedSecrets,
  };
  if (result.state === "no_text") return { ...read, text: noTextOf(options, result) };
  const { text, sections, firstLine, analyzed, children, isOutOfTime } = result;
  options.room?.note(text);
  const lines = firstLine !== undefined && { firstLine };
  return {
    ...read,
    text: { state: "text", text, textHash: hashText(text), sections, ...lines, ...defined({ isOutOfTime }), analyzed },
    ...(children && { children }),
  };
}

function noTextOf(options: ReadOptions, { reason, analyzed, retryable, fault, ...result }: NotExtracted): ItemText {
  const message = redact(result.message);
  if (reason !== "failed") return { state: "none", reason, message, analyzed };
  const retryAt = retryable ? options.now() + RETRY_MS : null;
  return { state: "failed", message, retryAt, ...noteFault(options, fault), analyzed };
}

/** Logs the details of a fault of kb. The item's failure only says that there was a fault. */
function noteFault({ faults, connector: { connectorId, providerId } }: ReadOptions, fault: Fault | undefined) {
  if (fault === undefined) return {};
  faults?.note(fault, { connectorId, providerId });
  return { isFault: true } as const;
}

const NONE_MESSAGES: Record<Extract<TextReason, "unsupported_type" | "too_large" | "empty" | "encrypted">, string> = {
  unsupported_type: "kb can't read text from this type of file.",
  too_large: "The file is larger than the connector's limit.",
  empty: "The file has no text.",
  encrypted: "It is encrypted end to end.",
};

/** Returns the SHA-256 of a text in hex. */
function hashText(text: string): string {
  return hash("sha256", text);
}
