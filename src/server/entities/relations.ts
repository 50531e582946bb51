import type { ShownEntity } from "#storage/records/entities.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import type { EntityRelationRecord } from "./types.ts";

const MAX_RELATIONS = 20;

/**
 * Returns other people and things on the same visible items, the most frequent first, each with the newest item that
 * shows it. `newest` is in the order of time.
 */
export function relationsOf(
  shown: readonly ShownEntity[],
  entityIds: readonly string[],
  newest: readonly ItemRecord[],
): EntityRelationRecord[] {
  const rank = new Map(newest.map(({ kbId }, at) => [kbId, at]));
  const related = new Map<string, EntityRelationRecord & { at: number }>();
  for (const one of shown) {
    const at = rank.get(one.kbId);
    if (at === undefined || entityIds.includes(one.entityId)) continue;
    const key = `${one.entityId} ${one.role}`;
    const known = related.get(key);
    if (known === undefined) {
      const { role, entityId, type, name, claimed, kbId } = one;
      related.set(key, { role, entityId, type, name, claimed, itemCount: 1, kbId, at });
      continue;
    }
    known.itemCount += 1;
    if (at < known.at) Object.assign(known, { at, kbId: one.kbId, name: one.name });
  }
  return [...related.values()]
    .sort((a, b) => b.itemCount - a.itemCount || a.at - b.at)
    .slice(0, MAX_RELATIONS)
    .map(({ at: _at, ...relation }) => relation);
}
