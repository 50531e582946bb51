import { digestOf as digestOfAll } from "#sources/digest.ts";
import { accessKeyOf } from "#core/access-key.ts";
import type { StoredItems } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import { reportItems as reportByVersion } from "#sources/seen.ts";

/** Reports items. An item that is stored with the same version is reported by its id only. */
export function reportItems(stored: StoredItems, items: readonly SourceItem[]): ReturnType<typeof reportByVersion> {
  // An access check may have stored another access under the same version since then.
  return reportByVersion(
    stored,
    items,
    async ({ access, externalId, partOf }) =>
      partOf === undefined && access !== undefined && (await stored.accessKey(externalId)) !== accessKeyOf(access),
  );
}

/** The most characters of a title or name. No real one has half as many. */
const MOST_CHARS = 1_000;

/** Returns a title or name on one line. */
export function readable(text: string): string {
  return text
    .slice(0, MOST_CHARS)
    .replace(/[\p{Cc}\p{Surrogate}\s]+/gu, " ")
    .trim();
}

export function digestOf(...of: readonly unknown[]): string {
  return digestOfAll(of, 22);
}
