import type { FieldValue, IndexState, TextReason } from "#api/common.ts";
import type { ItemPerson } from "#api/item-answers.ts";
import { convertFields, FIELD_NAMES, type FieldConversion, same } from "#api/item-fields.ts";
import { cut } from "#api/clean.ts";
import { boundedFacts, type FactValues, type ItemFacts, MOST_NAME_CHARS } from "#core/item-facts.ts";
import { isInstant } from "#core/instant.ts";
import { tryJson } from "#core/json-record.ts";
import type { Section } from "#core/sections.ts";
import type { ItemsTable } from "./schema.ts";
import type { FieldColumns } from "#storage/tables/items.ts";

/** An item without its text. Times are epoch milliseconds. */
export interface ItemRecord extends ItemFacts {
  kbId: string;
  connectorId: string;
  externalId: string;
  parentExternalId: string | null;
  providerId: string;
  source: string;
  url: string | null;
  /** Suffix that makes a link to a line of the item's url; `{line}` is replaced by the line's number. */
  lineAnchor: string | null;
  version: string | null;
  textHash: string | null;
  /** The number of UTF-16 code units in the stored text. */
  textChars: number;
  sections: Section[];
  indexedAt: number;
  /**
   * When the content became unreadable: the stored text is then the former one. Null = the text matches the content.
   */
  formerSince: number | null;
  indexState: IndexState;
  textReason: TextReason | null;
  textMessage: string | null;
  aclId: number;
  /** When the item's permissions were checked, if that differs from its connector's `aclCheckedAt`; 0 = refused. */
  ownClockAt: number | null;
}

/** Returns the record in a row. */
export function toItemRecord(row: ItemsTable): ItemRecord {
  const {
    ownClockCause: _cause,
    ownClockBy: _by,
    seenBy: _seenBy,
    removedAt: _removedAt,
    retryAt: _retryAt,
    reader: _reader,
    readerVersion: _readerVersion,
    readAgainAt: _readAgainAt,
    cutRetries: _cutRetries,
    workspaceId: _workspaceId,
    ...kept
  } = row;
  return {
    ...kept,
    ...boundedFacts(FIELD_NAMES, convertFields(FIELD_NAMES, row, FROM_COLUMN)),
    source: cut(row.source, MOST_NAME_CHARS),
    sections: sectionsOf(row),
    indexedAt: instantOf(row.indexedAt),
    formerSince: formerOf(row),
  };
}

/** Returns the time since which an item's text is its former one. */
function formerOf({ textChars, formerSince }: Pick<ItemsTable, "textChars" | "formerSince">): number | null {
  return textChars > 0 && formerSince !== null && isInstant(formerSince) ? formerSince : null;
}

/** The fields of an item that an answer shows, without its text. */
export type ShownItem = ItemFacts & Pick<ItemRecord, (typeof SHOWN_COLUMNS)[number]>;

const SHOWN_COLUMNS = ["kbId", "providerId", "source", "url", "indexedAt", "textReason", "formerSince"] as const;

/**
 * The columns that a search reads: those that are shown, and those that are needed to locate passages. They are half of
 * the table's columns.
 */
export const HIT_COLUMNS = [
  ...FIELD_NAMES,
  ...SHOWN_COLUMNS,
  ...(["aclId", "textHash", "textChars", "sections", "lineAnchor"] as const),
];

export type HitRow = Pick<ItemsTable, (typeof HIT_COLUMNS)[number]>;

/** Returns the fields to show of the item in a row. */
export function toShownItem(row: HitRow): ShownItem {
  const { kbId, providerId, source, url, indexedAt, textReason } = row;
  // Not spread: V8 copies such an object property by property, which takes most of the time for a row.
  return Object.assign(boundedFacts(FIELD_NAMES, convertFields(FIELD_NAMES, row, FROM_COLUMN)), {
    kbId,
    providerId,
    source: cut(source, MOST_NAME_CHARS),
    url,
    indexedAt: instantOf(indexedAt),
    textReason,
    formerSince: formerOf(row),
  });
}

/** Returns where the texts of a row's sections begin. */
export function sectionsOf({ sections }: Pick<ItemsTable, "sections">): Section[] {
  return listOf(tryJson(sections)).filter(isSection);
}

/**
 * Reads stored values. Values that can't be shown, which an older kb may have written, are treated as unknown. Source:
 * S68.
 */
const FROM_COLUMN: FieldConversion<FieldColumns, FactValues> = {
  kind: same,
  title: same,
  status: same,
  text: same,
  name: same,
  path: readTexts,
  texts: readTexts,
  date: (at) => (at !== null && isInstant(at) ? at : null),
  number: (number) => (number !== null && Number.isSafeInteger(number) && number >= 0 ? number : null),
  person: (json) => [json === null ? null : tryJson(json)].find(isPerson) ?? null,
  people: (json) => listOf(tryJson(json)).filter(isPerson),
  record: readRecord,
};

/** Returns the instant if it can be shown, else the epoch. */
function instantOf(at: number): number {
  return isInstant(at) ? at : 0;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function readTexts(json: string): string[] {
  return listOf(tryJson(json)).filter((text) => typeof text === "string");
}

function isSection(value: unknown): value is Section {
  if (typeof value !== "object" || value === null || !("name" in value && "level" in value && "start" in value))
    return false;
  const { name, level, start } = value;
  return typeof name === "string" && typeof level === "number" && Number.isSafeInteger(start) && Number(start) >= 0;
}

function isPerson(value: unknown): value is ItemPerson {
  if (typeof value !== "object" || value === null || !("name" in value && "entityId" in value && "claimed" in value))
    return false;
  const { name, entityId, claimed } = value;
  const isId = entityId === null || typeof entityId === "string";
  return typeof name === "string" && isId && typeof claimed === "boolean";
}

function readRecord(json: string): Record<string, FieldValue> {
  const value = tryJson(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, FieldValue] => isFieldValue(entry[1])),
  );
}

function isFieldValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}
