/** Reports unchanged items by their id only: nothing of such an item is read or written again. */
import { inChunks } from "#core/in-chunks.ts";
import type { StoredItems } from "./context.ts";
import type { SourceItem } from "./item.ts";
import type { Outcome } from "./outcomes.ts";

/** The most ids in one `seen` event. */
export const SEEN_IDS = 500;

type Seen = Extract<Outcome, { t: "seen" }>;
type Named = Seen | Extract<Outcome, { t: "upsert" }>;

/** Reports that the stored items with these ids still exist. */
export function reportSeen(ids: readonly string[]): Seen[] {
  return [...inChunks(ids, SEEN_IDS)].map((externalIds) => ({ t: "seen", externalIds }));
}

/**
 * Reports items. An item that is stored with the same version is reported by its id only.
 *
 * @param hasChanged  called for each item with the same version: returns whether anything else about the item changed
 */
export async function reportItems(
  stored: Pick<StoredItems, "version">,
  items: readonly SourceItem[],
  hasChanged: (item: SourceItem) => Promise<boolean> = () => Promise.resolve(false),
): Promise<Named[]> {
  const events: Named[] = [];
  const same: string[] = [];
  for (const item of items) {
    const { externalId, version } = item;
    const isSame = version !== undefined && (await stored.version(externalId)) === version;
    if (isSame && !(await hasChanged(item))) same.push(externalId);
    else events.push({ t: "upsert", item });
  }
  return [...events, ...reportSeen(same)];
}
