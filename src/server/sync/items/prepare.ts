import { type FieldValue, makeId } from "#api/common.ts";
import { cut } from "#api/clean.ts";
import {
  convertFields,
  DATE_FIELDS,
  FIELD_NAMES,
  type FieldConversion,
  type FieldsAs,
  same,
} from "#api/item-fields.ts";
import { isMail } from "#text/mail.ts";
import { titleAndName } from "#text/own-title.ts";
import type { RandomBytes } from "#core/clock.ts";
import { isInstant } from "#core/instant.ts";
import { boundedFacts, type FactValues, type ItemFacts, MOST_NAME_CHARS } from "#core/item-facts.ts";
import type { ExtractedChild } from "#extract/extractor.ts";
import { readerVersionOf } from "#extract/registry.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SourceItem, SourcePerson, SourceValues } from "#sources/item.ts";
import { hashOf } from "./index-hash.ts";
import { metadataOf } from "./document-metadata.ts";
import { makeItemEntities, type PersonKey } from "./entities.ts";
import { itemFields } from "./item-fields.ts";
import { maskItem } from "./mask-item.ts";
import type { ItemText, PreparedItem } from "#storage/item-batch.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import { storable } from "./storable-text.ts";
import { type Reading, type ReadOptions, type ReadText, readText, RETRY_MS } from "./read-text.ts";

/** Dependencies of `prepare`. */
export interface PrepareOptions extends ReadOptions {
  /** Reduces the access to what the connector's authority allows. */
  judge: (access: SourceAccess) => SourceAccess;
  /** Reduces the item's people to those that the connector's authority allows. Absent = people stay unchanged. */
  judgePeople?: (item: SourceItem) => SourceItem;
  /** The version of each reader. Default: the versions in this program. */
  readerVersionOf?: ReaderVersionOf;
  /**
   * Whether an item's stored content stays when the new content is too large. Absent = the stored content is removed.
   */
  keepsFormer?(externalId: string): boolean;
  randomBytes: RandomBytes;
}

/** The result of preparing an item. `undefined`: the item was gone when it was read. */
export type Prepared =
  | {
      item: PreparedItem;
      bytes: number;
      children?: ExtractedChild[];
      /** The number of files inside the item that were listed but not read. */
      leftOut: number;
    }
  | undefined;

/**
 * Prepares an item from a source for storing: reads and extracts its bytes, resolves its entities, removes impossible
 * dates and hashes the indexed data. A problem with one item becomes a reason and is never thrown.
 *
 * @throws ApiError `source_unauthorized`, `source_rate_limited` when the source as a whole refuses, `source_changed`
 *   when the content has another version than the listed access; the signal's reason
 */
export async function prepare(options: PrepareOptions, named: SourceItem, reading: Reading = {}): Promise<Prepared> {
  const sourceItem = options.judgePeople?.(named) ?? named;
  const isKept = await options.keepsSecrets(options.workspaceId);
  const { item, count } = isKept ? { item: sourceItem, count: 0 } : maskItem(sourceItem);
  const found = await readText(options, item, reading);
  if (!found) return undefined;
  const read = { ...found, text: keepFormer(options, item.externalId, found.text) };
  const mimeType = item.mimeType ?? read.mimeType ?? null;
  const complete: SourceItem = { ...item, ...namesOf(item, read.title), kind: kindOf(item, mimeType) };
  Object.assign(complete, metadataOf(complete, mimeType, read.properties));
  if (mimeType !== null) complete.mimeType = mimeType;
  complete.size ??= read.bytes;
  const { connector, now, workspaceId } = options;
  const entities = makeItemEntities(workspaceId, connector.connectorId, complete);
  const datesLeftOut = DATE_FIELDS.filter((name) => complete[name] !== undefined && !isInstant(complete[name]));
  const prepared: PreparedItem = {
    ...factsOf(complete, now, { properties: propertiesOf(read, complete, datesLeftOut), idOf: entities.idOf }),
    newKbId: makeId("item", options.randomBytes),
    externalId: item.externalId,
    parentExternalId: item.partOf ?? null,
    replyTo: item.replyTo ?? null,
    contentRef: item.content.type === "fetch" ? requireRef(item.content.ref) : null,
    identityHint: item.identityHint ?? null,
    ...(item.formerId !== undefined && { formerExternalId: item.formerId }),
    providerId: connector.providerId,
    source: cut(`${connector.providerId}:${storable(item.place ?? connector.name)}`, MOST_NAME_CHARS),
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
    ...(datesLeftOut.length > 0 && { datesLeftOut: datesLeftOut.length }),
    indexHash: "",
  };
  prepared.indexHash = hashOf(prepared);
  const { children, bytes } = read;
  return { item: prepared, bytes, leftOut: membersLeftOut(read), ...(children && { children }) };
}

/**
 * Keeps the previous text for a while when the new content is truncated or too large, since the file may be broken only
 * for a moment.
 */
function keepFormer({ keepsFormer, now }: PrepareOptions, externalId: string, text: ItemText): ItemText {
  const isTooLarge = text.state === "none" && text.reason === "too_large";
  if (!isTooLarge || keepsFormer?.(externalId) !== true) return text;
  const { message, analyzed } = text;
  return { state: "failed", message, retryAt: now() + RETRY_MS, isUnread: true, analyzed };
}

/**
 * Returns the document's claims, including its title if the item has another one, and the dates that are impossible.
 * Source: S68.
 */
function propertiesOf(
  { title, properties }: ReadText,
  complete: SourceItem,
  datesLeftOut: readonly string[],
): Readonly<Record<string, FieldValue>> {
  return {
    ...(title !== undefined && title !== complete.title && { documentTitle: title }),
    ...properties,
    ...(datesLeftOut.length > 0 && { datesLeftOut: [...datesLeftOut] }),
  };
}

/**
 * Reads the limits that the readers of archives and PDF files report. In other documents, a property with the same name
 * was written by the author.
 */
function membersLeftOut({ mimeType, properties }: ReadText): number {
  if (mimeType === "application/pdf") return Number(properties["attachmentsLeftOut"] ?? 0);
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

/**
 * Derives the item's kind, one of four, from the source and the media type. The contents of a document can't change it.
 */
function kindOf(item: SourceItem, mimeType: string | null): SourceItem["kind"] {
  return item.kind === "file" && isMail(mimeType, item.title) ? "message" : item.kind;
}

/** A file is shown by the title in its document. The file's name then becomes its key. */
function namesOf(item: SourceItem, stated: string | undefined): Pick<SourceItem, "title" | "key"> {
  const { title } = titleAndName(item, stated);
  return item.hasFileTitle === true ? { title, key: item.key ?? item.title } : { title };
}

const DAY_MS = 86_400_000;

/** Returns the fields in their stored form. */
function factsOf(
  complete: SourceItem,
  now: () => number,
  of: { properties: Readonly<Record<string, FieldValue>>; idOf: (person: PersonKey) => string },
): ItemFacts {
  const conversion: FieldConversion<SourceValues, FactValues> = {
    ...TO_FACT,
    person: (person) => (person ? toPerson(person, of.idOf) : null),
    people: (people = []) => people.map((person) => toPerson(person, of.idOf)),
    record: (own) => itemFields(own, of.properties),
  };
  // A missing key reads as undefined, which is valid for each optional field.
  const fields = complete as FieldsAs<SourceValues>;
  const facts = boundedFacts(FIELD_NAMES, convertFields(FIELD_NAMES, fields, conversion));
  const latest = now() + DAY_MS;
  // A date in the future would keep the item at the top of the ranking. Source: S47.
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
  // A date outside the years 1 to 9999 is stored as unknown, since no response could show it. Source: S68.
  date: (at) => (at === undefined || !isInstant(at) ? null : Math.trunc(at)),
  // A size that can't be written exactly is stored as unknown: SQLite can't read a row that contains one. Source: S68.
  number: (number) => (number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : null),
};

function toPerson(person: SourcePerson, idOf: (person: PersonKey) => string) {
  return { name: storable(person.name), entityId: idOf(person), claimed: person.claimed };
}
