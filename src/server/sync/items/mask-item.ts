import { updateFields, WORD_FIELDS, type WordField } from "#api/item-fields.ts";
import { maskSecrets } from "#text/secrets/mask.ts";
import { beforeOpenToken } from "#text/secrets/tokens.ts";
import type { SourceItem, SourceValues } from "#sources/item.ts";

/**
 * Masks secrets in everything that an item from a source shows, including its key, people, containers and place, and
 * its text if the source sent one. Its identifiers at the source (externalId, url) stay. Source: S37.
 *
 * @returns the item and the number of secrets that were masked
 */
export function maskItem(item: SourceItem): { item: SourceItem; count: number } {
  let count = 0;
  const mask = (text: string): string => {
    const masked = maskSecrets(text);
    count += masked.cuts.length;
    return masked.text;
  };
  const masked: SourceItem = { ...item };
  updateFields<WordField, SourceValues>(WORD_FIELDS, masked, {
    title: (title) => mask(beforeCutToken(title)),
    text: (text) => text && mask(text),
    path: (folders) => folders?.map(mask),
    texts: (texts) => texts?.map(mask),
    record: (fields) => fields && maskRecord(fields, mask),
  });
  const named = <Named extends { name: string }>(one: Named): Named => ({ ...one, name: mask(one.name) });
  if (item.key !== undefined) masked.key = mask(item.key);
  if (item.place !== undefined) masked.place = mask(item.place);
  if (item.author !== undefined) masked.author = named(item.author);
  if (item.assignees !== undefined) masked.assignees = item.assignees.map(named);
  if (item.people !== undefined) masked.people = item.people.map(named);
  if (item.containers !== undefined) masked.containers = item.containers.map(named);
  if (item.content.type === "inline") masked.content = { type: "inline", text: mask(item.content.text) };
  return { item: masked, count };
}

/**
 * Sources cut long titles, and the cut may be inside a token. Some sources mark the cut. Others cut without a mark, at
 * this many characters or more.
 */
const SHORTEST_CUT_TITLE = 200;

function beforeCutToken(title: string): string {
  const isMarked = title.endsWith("…");
  if (!isMarked && title.length < SHORTEST_CUT_TITLE) return title;
  const shown = isMarked ? title.slice(0, -1) : title;
  const kept = beforeOpenToken(shown);
  return kept.length === shown.length ? title : `${kept.trimEnd()}…`;
}

function maskRecord(fields: NonNullable<SourceItem["fields"]>, mask: (text: string) => string) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [mask(name), maskValue(value, mask)] as const),
  );
}

type FieldValue = NonNullable<SourceItem["fields"]>[string];

function maskValue(value: FieldValue, mask: (text: string) => string): FieldValue {
  if (typeof value === "string") return mask(value);
  return Array.isArray(value) ? value.map(mask) : value;
}
