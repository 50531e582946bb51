import { hash } from "node:crypto";
import { type FieldValue, makeId, type TextReason } from "#api/common.ts";
import { convertFields, FIELD_NAMES, type FieldConversion, type FieldsAs, placeWords, same } from "#api/item-fields.ts";
import { isApiError } from "#api/errors.ts";
import { type AnalyzedText, type DocumentFields, nameInKey } from "#text/analyzer.ts";
import { isMail } from "#text/mail.ts";
import { titleAndName } from "#text/own-title.ts";
import type { RandomBytes } from "#core/clock.ts";
import { type HeldBytes, letGo } from "#core/spool.ts";
import { type Fault, type FaultLog, findFault } from "#core/faults.ts";
import { isInstant } from "#core/instant.ts";
import type { FactValues, ItemFacts } from "#core/item-facts.ts";
import type { Extracted, ExtractedChild, Extractor, ExtractRequest, NotExtracted } from "#extract/extractor.ts";
import { readerVersionOf } from "#extract/registry.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SourceItem, SourcePerson, SourceValues } from "#sources/contract.ts";
import { hashOf } from "./index-hash.ts";
import { claimsOf } from "./claims.ts";
import { makeItemEntities, type PersonKey } from "./entities.ts";
import { itemFields } from "./item-fields.ts";
import { maskItem } from "./mask-item.ts";
import { redact } from "#core/redact.ts";
import type { ItemText, PreparedItem } from "#storage/batch/item-batch.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import type { Room } from "./room.ts";
import { storable } from "./storable.ts";

/** What `prepare` takes from its surroundings. */
export interface PrepareOptions {
  workspaceId: string;
  connector: { connectorId: string; name: string; providerId: string };
  extractor: Pick<Extractor, "extract">;
  analyze: (fields: DocumentFields) => AnalyzedText;
  /** The access as the connector's authority allows it. */
  judge: (access: SourceAccess) => SourceAccess;
  /** The item with its people as the connector's authority allows them; absent = as they are. */
  judgePeople?: (item: SourceItem) => SourceItem;
  /** True = the workspace wants secrets in texts to be found; otherwise they are taken out. */
  keepsSecrets(workspaceId: string): Promise<boolean>;
  /** How good each reader is; this program's own unless told. */
  readerVersionOf?: ReaderVersionOf;
  /** Absent = mistakes of kb are noted nowhere. */
  faults?: FaultLog;
  now: () => number;
  randomBytes: RandomBytes;
  signal: AbortSignal;
  /** Room among the bytes of all runs, for what a child process reads; absent = nobody counts them. */
  room?: Room | undefined;
}

/** How the content of one item is read. */
export interface Reading {
  /** The item's bytes, undefined when there are too many; absent for sources that hand over their text. */
  fetchContent?: ((item: SourceItem) => Promise<Fetched | undefined>) | undefined;
  /** True = the members of archives are read, as child items. */
  readsArchives?: boolean;
}

/** Bytes of an item, and the version that they are of where that is known. */
export interface Fetched {
  /** The reader closes them. */
  bytes: HeldBytes;
  mimeType?: string;
  fileName: string;
  version?: string;
}

/** `undefined`: the item was gone when it was to be read. */
export type Prepared =
  | {
      item: PreparedItem;
      bytes: number;
      children?: ExtractedChild[];
      /** Files inside it that were listed and not read. */
      leftOut: number;
    }
  | undefined;

/**
 * Makes an item of a source ready to be stored: reads and extracts its bytes, names its entities, clamps dates that
 * can't be, hashes what the index holds. One broken item gives a reason, never a throw.
 *
 * @throws ApiError `source_unauthorized`, `source_rate_limited` when the source as a whole refuses, `source_changed` when
 *   the content is of another version than who may read it; the signal's reason
 */
export async function prepare(options: PrepareOptions, named: SourceItem, reading: Reading = {}): Promise<Prepared> {
  const sourceItem = options.judgePeople?.(named) ?? named;
  const isKept = await options.keepsSecrets(options.workspaceId);
  const { item, count } = isKept ? { item: sourceItem, count: 0 } : maskItem(sourceItem);
  const read = await readText(options, item, reading);
  if (!read) return undefined;
  const mimeType = item.mimeType ?? read.mimeType ?? null;
  const said: SourceItem = { ...item, ...namesOf(item, read.title), kind: kindOf(item, mimeType) };
  Object.assign(said, claimsOf(said, mimeType, read.properties));
  if (mimeType !== null) said.mimeType = mimeType;
  said.size ??= read.bytes;
  const { connector, now, workspaceId } = options;
  const entities = makeItemEntities(workspaceId, connector.connectorId, said);
  const prepared: PreparedItem = {
    ...factsOf(said, now, { properties: propertiesOf(read, said), idOf: entities.idOf }),
    newKbId: makeId("item", options.randomBytes),
    externalId: item.externalId,
    parentExternalId: item.partOf ?? null,
    replyTo: item.replyTo ?? null,
    contentRef: item.content.type === "fetch" ? requireRef(item.content.ref) : null,
    identityHint: item.identityHint ?? null,
    ...(item.formerId !== undefined && { formerExternalId: item.formerId }),
    providerId: connector.providerId,
    source: `${connector.providerId}:${storable(item.place ?? connector.name)}`,
    url: item.url ?? null,
    lineAnchor: item.lineAnchor ?? null,
    version: read.version ?? item.version ?? null,
    entities: entities.entities,
    access: item.access === undefined ? null : options.judge(item.access),
    text: read.text,
    ...(read.reader !== undefined && {
      reader: { name: read.reader, version: (options.readerVersionOf ?? readerVersionOf)(read.reader) },
    }),
    maskedSecrets: count + read.maskedSecrets,
    indexHash: "",
  };
  prepared.indexHash = hashOf(prepared);
  const { children, bytes } = read;
  return { item: prepared, bytes, leftOut: membersLeftOut(read), ...(children && { children }) };
}

/** What the document says of itself, its title included where the item has another. */
function propertiesOf({ title, properties }: ReadText, said: SourceItem): Readonly<Record<string, FieldValue>> {
  return title === undefined || title === said.title ? properties : { documentTitle: title, ...properties };
}

/** What the reader of archives says of its caps; in another document the same name is somebody's own property. */
function membersLeftOut({ mimeType, properties }: ReadText): number {
  const isArchive = /^application\/(?:zip|x-tar|gzip)$/u.test(mimeType ?? "");
  return isArchive ? Number(properties["membersLeftOut"] ?? 0) : 0;
}

const MAX_REF_BYTES = 1_024;

function requireRef(ref: string | undefined): string | null {
  if (ref !== undefined && Buffer.byteLength(ref) > MAX_REF_BYTES) {
    throw new RangeError(`The reference of an item's content is over ${MAX_REF_BYTES} bytes.`);
  }
  return ref ?? null;
}

/** SHA-256 of a text, hex. */
export function hashText(text: string): string {
  return hash("sha256", text);
}

/** Which of the four kinds an item is, is said by its source and its type; nothing in a document can change it. */
function kindOf(item: SourceItem, mimeType: string | null): SourceItem["kind"] {
  return item.kind === "file" && isMail(mimeType, item.title) ? "message" : item.kind;
}

/** A file is shown by its document's own title; its name is its key then. */
function namesOf(item: SourceItem, stated: string | undefined): Pick<SourceItem, "title" | "key"> {
  const { title } = titleAndName(item, stated);
  return item.hasFileTitle === true ? { title, key: item.key ?? item.title } : { title };
}

interface ReadText {
  text: ItemText;
  /** The title that the document states. */
  title?: string;
  bytes: number;
  mimeType?: string;
  /** As which media type its content was read. */
  reader?: string;
  version?: string;
  /** What the document says of itself: claims. */
  properties: Record<string, FieldValue>;
  maskedSecrets: number;
  children?: ExtractedChild[];
}

/** Longer texts go through the pool: a megabyte is some 40 ms of work that nobody else should wait for. */
const ANALYZE_HERE_CHARS = 32_768;
/** A temporary failure of a source or child with one item: the next run tries it again, at the latest after this. */
const RETRY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Whether an item brings its text and that is read in this thread: nobody waits for it. */
export function isReadHere({ content, mimeType }: Pick<SourceItem, "content" | "mimeType">): boolean {
  if (content.type === "inline") return !isStructured(mimeType) && content.text.length <= ANALYZE_HERE_CHARS;
  return content.type === "none";
}

async function readText(options: PrepareOptions, item: SourceItem, reading: Reading): Promise<ReadText | undefined> {
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

/** Texts whose headings and hidden parts only their format tells. */
const STRUCTURED = ["text/markdown", "text/html"] as const;

function isStructured(mimeType: string | undefined): mimeType is (typeof STRUCTURED)[number] {
  return STRUCTURED.some((structured) => structured === mimeType);
}

type About = Pick<ExtractRequest, "title" | "hasFileTitle" | "name" | "path" | "labels">;

async function extractInline(options: PrepareOptions, text: string, about: About, mimeType: string): Promise<ReadText> {
  await options.room?.enter(text.length);
  const bytes = new TextEncoder().encode(text);
  const plain = { bytes, fileName: "item", mimeType };
  // Masked already, with the rest of the item.
  const request = { workspace: options.workspaceId, ...plain, keepsSecrets: true, ...about };
  return toReadText(options, await options.extractor.extract(request, options.signal), bytes.length);
}

async function fetchAndExtract(
  options: PrepareOptions,
  item: SourceItem,
  { about, fetchContent, readsArchives = false }: Reading & { about: About },
): Promise<ReadText | undefined> {
  try {
    if (!fetchContent) throw new Error(`The source can't read "${item.externalId}".`);
    const content = await fetchContent(item);
    if (!content) return readText(options, { ...item, content: { type: "none", reason: "too_large" } }, {});
    try {
      // Only now: while its bytes come in, which the source may make slow, it keeps nobody else out.
      await options.room?.enter(content.bytes.length);
      return await extractFetched(options, item, content, { about, readsArchives });
    } finally {
      letGo(content.bytes);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (isApiError(error) && THROWN.has(error.code)) throw error;
    if (isApiError(error, "source_not_found")) return undefined;
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

async function extractFetched(
  options: PrepareOptions,
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

/** What says more than that this one item can't be read. */
const THROWN: ReadonlySet<string> = new Set([
  "source_unauthorized",
  "source_rate_limited",
  "source_changed",
  "restart_needed",
]);

function toReadText(options: PrepareOptions, result: Extracted | NotExtracted, bytes: number): ReadText {
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
  const { text, sections, firstLine, analyzed, children } = result;
  options.room?.note(text);
  const lines = firstLine !== undefined && { firstLine };
  return {
    ...read,
    text: { state: "text", text, textHash: hashText(text), sections, ...lines, analyzed },
    ...(children && { children }),
  };
}

function noTextOf(options: PrepareOptions, { reason, analyzed, retryable, fault, ...result }: NotExtracted): ItemText {
  const message = redact(result.message);
  if (reason !== "failed") return { state: "none", reason, message, analyzed };
  const retryAt = retryable ? options.now() + RETRY_MS : null;
  return { state: "failed", message, retryAt, ...noteFault(options, fault), analyzed };
}

/** Says in the log where kb made a mistake; the item's own failure says no more than that it did. */
function noteFault({ faults, connector: { connectorId, providerId } }: PrepareOptions, fault: Fault | undefined) {
  if (fault === undefined) return {};
  faults?.note(fault, { connectorId, providerId });
  return { isFault: true } as const;
}

/** The fields as they are stored. */
function factsOf(
  said: SourceItem,
  now: () => number,
  of: { properties: Readonly<Record<string, FieldValue>>; idOf: (person: PersonKey) => string },
): ItemFacts {
  const conversion: FieldConversion<SourceValues, FactValues> = {
    ...TO_FACT,
    person: (person) => (person ? toPerson(person, of.idOf) : null),
    people: (people = []) => people.map((person) => toPerson(person, of.idOf)),
    record: (own) => itemFields(own, of.properties),
  };
  // A key that is not there reads as undefined, which each field that may be left out can be.
  const fields = said as FieldsAs<SourceValues>;
  const facts = convertFields(FIELD_NAMES, fields, conversion);
  const latest = now() + DAY_MS;
  // A date in the future would stand above everything for ever. Source: S47.
  const past = (time: number | null) => (time !== null && time > latest ? now() : time);
  facts.createdAt = past(facts.createdAt);
  facts.updatedAt = past(facts.updatedAt);
  return facts;
}

const storableText = (text: string | undefined) => (text === undefined ? null : storable(text));
const storableTexts = (texts: readonly string[] = []) => texts.map(storable);

const TO_FACT: Omit<FieldConversion<SourceValues, FactValues>, "person" | "people" | "record"> = {
  kind: same,
  title: storable,
  status: (status) => status ?? null,
  text: storableText,
  name: storableText,
  path: storableTexts,
  texts: storableTexts,
  // What isn't of the years 1 to 9999 is not known: no answer could show it. Source: S68.
  date: (at) => (at === undefined || !isInstant(at) ? null : Math.trunc(at)),
  // Neither is a size that can't be written exactly: one row of SQLite with it can't be read at all. Source: S68.
  number: (number) => (number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : null),
};

function toPerson(person: SourcePerson, idOf: (person: PersonKey) => string) {
  return { name: storable(person.name), entityId: idOf(person), claimed: person.claimed };
}

const NONE_MESSAGES: Record<Extract<TextReason, "unsupported_type" | "too_large" | "empty" | "encrypted">, string> = {
  unsupported_type: "kb can't read text from this type of file.",
  too_large: "The file is larger than the connector's limit.",
  empty: "The file has no text.",
  encrypted: "It is encrypted end to end.",
};
