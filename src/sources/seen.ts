/** An item whose stored version is current is only named: none of it is read or written again. */
import { inChunks } from "#core/in-chunks.ts";
import type { StoredItems } from "./context.ts";
import type { SourceItem } from "./item.ts";
import type { Outcome } from "./outcomes.ts";

/** The most ids of one `seen` event. */
export const SEEN_IDS = 500;

type Seen = Extract<Outcome, { t: "seen" }>;
type Named = Seen | Extract<Outcome, { t: "upsert" }>;

/** Reports that the stored items with these ids stay. */
export function reportSeen(ids: readonly string[]): Seen[] {
  return [...inChunks(ids, SEEN_IDS)].map((externalIds) => ({ t: "seen", externalIds }));
}

/**
 * Reports items; those stored under the same version are only named.
 *
 * @param hasChanged  called for those: whether anything else about the item changed
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
