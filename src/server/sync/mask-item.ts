import { maskSecrets } from "#text/secrets/mask.ts";
import type { SourceItem } from "#sources/contract.ts";

/**
 * An item as its source gave it, without the secrets in what is shown of it: title, path, labels, fields, and the text if it
 * came with one. What names it at its source (externalId, url) stays. Source: S37.
 *
 * @returns the item and how many secrets were taken out
 */
export function maskItem(item: SourceItem): { item: SourceItem; count: number } {
  let count = 0;
  const mask = (text: string): string => {
    const masked = maskSecrets(text);
    count += masked.cuts.length;
    return masked.text;
  };
  const masked: SourceItem = { ...item, title: mask(item.title) };
  if (item.path !== undefined) masked.path = item.path.map(mask);
  if (item.labels !== undefined) masked.labels = item.labels.map(mask);
  if (item.fields !== undefined) {
    masked.fields = Object.fromEntries(
      Object.entries(item.fields).map(([name, value]) => [mask(name), maskValue(value, mask)] as const),
    );
  }
  if (item.content.type === "inline") masked.content = { type: "inline", text: mask(item.content.text) };
  return { item: masked, count };
}

type FieldValue = NonNullable<SourceItem["fields"]>[string];

function maskValue(value: FieldValue, mask: (text: string) => string): FieldValue {
  if (typeof value === "string") return mask(value);
  return Array.isArray(value) ? value.map(mask) : value;
}
