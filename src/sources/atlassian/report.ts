import { digestOf as digestOfAll } from "#sources/digest.ts";
import { accessKeyOf } from "#core/access-key.ts";
import type { StoredItems } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import { reportItems as reportByVersion } from "#sources/seen.ts";

/** Reports items; those stored under the same version are only named. */
export function reportItems(stored: StoredItems, items: readonly SourceItem[]): ReturnType<typeof reportByVersion> {
  // An access check may have stored another access since, under the same version.
  return reportByVersion(
    stored,
    items,
    async ({ access, externalId, partOf }) =>
      partOf === undefined && access !== undefined && (await stored.accessKey(externalId)) !== accessKeyOf(access),
  );
}

/** No title or name there has half as many. */
const MOST_CHARS = 1_000;

/** A title or name on one line. */
export function readable(text: string): string {
  return text
    .slice(0, MOST_CHARS)
    .replace(/[\p{Cc}\p{Surrogate}\s]+/gu, " ")
    .trim();
}

export function digestOf(...of: readonly unknown[]): string {
  return digestOfAll(of, 22);
}
