import { isInside } from "#core/child-ids.ts";
import type { ItemRows } from "./item-rows.ts";

/** Returns the living child items that were made from an item's content, without these, by their ids. */
export function childrenBeside(
  rows: Pick<ItemRows, "childrenOf">,
  externalId: string,
  keep: readonly string[],
): string[] {
  const kept = new Set(keep);
  return rows
    .childrenOf(externalId)
    .map((child) => child.externalId)
    .filter((id) => !kept.has(id) && isInside(externalId, id));
}

/**
 * Moves the child items of an item to its new id with their kbIds. If a child's new id is taken, the child keeps its
 * old id and is swept: the item that has the new id replaces it.
 */
export function moveChildren(rows: Pick<ItemRows, "childrenOf" | "find" | "set">, from: string, to: string): void {
  for (const child of rows.childrenOf(from)) {
    const isMade = isInside(from, child.externalId);
    const id = isMade ? `${to}${child.externalId.slice(from.length)}` : child.externalId;
    if (isMade && rows.find(id)) continue;
    rows.set(child.kbId, { parentExternalId: to, ...(isMade && { externalId: id }) });
    if (isMade) moveChildren(rows, child.externalId, id);
  }
}
