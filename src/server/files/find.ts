import { ApiError } from "#api/errors.ts";
import type { FoundPassages as FoundInText } from "#text/snippet.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import { readItem, requireText } from "./content.ts";

export interface FoundPassages extends FoundInText {
  item: ItemRecord;
}

/** The number of tries for an item whose text is changing. Access is checked again in each try. */
const TRIES = 3;

/**
 * Returns the passages around the places where words or quoted phrases occur in an item's text. A search thread cuts
 * them from the same version of the text for which access was checked.
 *
 * @throws ApiError `not_found` when the item doesn't exist or the actor may not read it, `no_text`, `search_timeout`
 */
export async function findPassages(
  { policy, index }: { policy: Policy; index: Pick<SearchIndex, "find"> },
  actor: Actor,
  kbId: string,
  words: string,
): Promise<FoundPassages> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { item, viewer } = await readItem(policy, actor, kbId, async ({ viewer }, item) => ({ item, viewer }));
    requireText(item);
    if (item.textHash === null) return { item, passages: [], total: 0, isTotalExact: true };
    const found = await index.find({
      workspaceId: actor.workspaceId,
      viewer,
      item: { kbId, textHash: item.textHash },
      query: words,
    });
    if (found !== undefined) return { item, ...found };
  }
  throw new ApiError("unavailable", { message: "The item is changing right now. Try again in a moment." });
}
