import { cleanField, cleanLine, MAX_CHARS } from "#api/clean.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import { fieldKey } from "#text/field-terms.ts";
import type { FieldFilter } from "#storage/search-index.ts";

/** The maximum number of fields in one query's filters. */
export const MAX_FIELD_FILTERS = 8;
/** The number of newest visible items whose fields are sampled for suggestions. */
export const SAMPLED_ITEMS = 200;
const OFFERED = 5;

/** Returns `name:value` as shown in a sentence. */
export function pairText({ key, value }: FieldFilter): string {
  return cleanLine(`${key}:${value}`, 80);
}

/**
 * Returns the note for a field that no visible item has. It suggests only fields and values of `items`, which are
 * visible.
 */
export function unknownFieldNote(asked: FieldFilter, items: readonly Pick<ItemRecord, "fields">[]): string {
  const key = fieldKey(asked.key);
  const names = new Map<string, { name: string; count: number }>();
  const values = new Map<string, number>();
  for (const { fields } of items) {
    for (const [name, value] of Object.entries(fields)) {
      const known = names.get(fieldKey(name)) ?? { name, count: 0 };
      names.set(fieldKey(name), { ...known, count: known.count + 1 });
      if (fieldKey(name) !== key) continue;
      for (const one of typeof value === "object" ? value : [String(value)])
        values.set(one, (values.get(one) ?? 0) + 1);
    }
  }
  const what = `nothing you can see has the field ${pairText(asked)}.`;
  if (values.size > 0) return `${what} Its values are, for example: ${most([...values])}.`;
  if (names.size === 0) return `${what} The newest items that you can see have no fields.`;
  return `${what} Fields are, for example: ${most([...names.values()].map(({ name, count }) => [name, count]))}.`;
}

/** Returns the most frequent values, then by name. */
function most(counted: [string, number][]): string {
  return counted
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, OFFERED)
    .map(([text]) => cleanField(text, MAX_CHARS.label).replaceAll(";", ","))
    .join("; ");
}
