import { cut } from "#api/clean.ts";
import type { FieldValue } from "#api/common.ts";
import { fieldKey, fieldName } from "#text/field-terms.ts";
import type { SourceItem } from "#sources/item.ts";
import { storable } from "./storable-text.ts";

/**
 * The maximum number of fields of one item, and the maximum length of a text, of a list, and of a text in a list, in
 * UTF-16 code units.
 */
const MAX_FIELDS = 100;
const OWN_LIMITS = { textChars: 10_000, values: 200, valueChars: 1_000 };
/** A document may come from an unknown author, so a claim is limited to the length of a line. */
const CLAIM_LIMITS = { textChars: 1_000, values: 100, valueChars: 300 };

/** Field names that a document can't claim, because they state the item's identity, its origin or its readers. */
const RESERVED = new Set(
  "kbid externalid connectorid providerid workspaceid aclid access acl principal principals permissions visibility".split(
    " ",
  ),
);

/** Fields that formats give as text although they are numbers or lists, such as `12` pages and `budget, plan`. */
const COUNTS = new Set(
  "pages unreadablePages slides sheets chapters cells rows columns messages captions attachments width height".split(
    " ",
  ),
);
const LISTS: Readonly<Record<string, RegExp>> = { keywords: /[,;]/, to: /,/, cc: /,/ };

/**
 * Returns the `fields` of an item: the source's fields, then the document's claims under names that the source doesn't
 * use. A field that the source gives as null is absent, and no claim replaces it. Two spellings of a name are one
 * field.
 */
export function itemFields(
  own: SourceItem["fields"],
  claims: Readonly<Record<string, FieldValue>>,
): Record<string, FieldValue> {
  const fields: [string, FieldValue][] = [];
  const taken = new Set<string>();
  const add = (rawName: string, value: FieldValue | null, limits: typeof OWN_LIMITS) => {
    const name = fieldName(rawName);
    const key = fieldKey(name);
    if (key === "" || taken.has(key) || fields.length >= MAX_FIELDS) return;
    const kept = value === null ? undefined : keptValue(value, limits);
    if (value === null || kept !== undefined) taken.add(key);
    if (kept !== undefined) fields.push([name, kept]);
  };
  for (const [name, value] of Object.entries(own ?? {})) add(name, value, OWN_LIMITS);
  for (const [name, value] of Object.entries(claims)) {
    if (!RESERVED.has(fieldKey(name))) add(name, typed(name, value), CLAIM_LIMITS);
  }
  return Object.fromEntries(fields);
}

function typed(name: string, value: FieldValue): FieldValue {
  if (typeof value !== "string") return value;
  if (COUNTS.has(name) && /^\d{1,15}$/.test(value)) return Number(value);
  const between = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
  return between === undefined ? value : value.split(between, CLAIM_LIMITS.values);
}

function keptValue(value: FieldValue, limits: typeof OWN_LIMITS): FieldValue | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  const kept = (text: string, maxChars: number) => cut(storable(text.slice(0, 4 * maxChars)).trim(), maxChars);
  if (typeof value === "string") return kept(value, limits.textChars) || undefined;
  const values = value.slice(0, limits.values).map((text) => kept(text, limits.valueChars));
  const present = values.filter((text) => text !== "");
  return present.length > 0 ? present : undefined;
}
