/** What is stored as it is now is only named: nothing of it is read or written again. */
import { inChunks } from "#core/in-chunks.ts";
import type { StoredItems } from "./context.ts";
import type { SourceItem } from "./item.ts";
import type { Outcome } from "./outcomes.ts";

/** Ids of one `seen` event at most. */
export const SEEN_IDS = 500;

type Seen = Extract<Outcome, { t: "seen" }>;
type Told = Seen | Extract<Outcome, { t: "upsert" }>;

/** What is stored under these ids stays. */
export function tellSeen(ids: readonly string[]): Seen[] {
  return [...inChunks(ids, SEEN_IDS)].map((externalIds) => ({ t: "seen", externalIds }));
}

/**
 * Items as they are now; those that are stored under the same version are only named.
 *
 * @param hasChanged  asked about those: whether something else of one is another
 */
export async function tellItems(
  stored: Pick<StoredItems, "version">,
  items: readonly SourceItem[],
  hasChanged: (item: SourceItem) => Promise<boolean> = () => Promise.resolve(false),
): Promise<Told[]> {
  const events: Told[] = [];
  const same: string[] = [];
  for (const item of items) {
    const { externalId, version } = item;
    const isSame = version !== undefined && (await stored.version(externalId)) === version;
    if (isSame && !(await hasChanged(item))) same.push(externalId);
    else events.push({ t: "upsert", item });
  }
  return [...events, ...tellSeen(same)];
}
