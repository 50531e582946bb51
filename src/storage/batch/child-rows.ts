import { isInside } from "#core/child-ids.ts";
import type { ItemRows } from "./item-rows.ts";

/** The living child items of an item that were made of its content and are not among these, by their ids. */
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
 * The child items of an item follow it to its new id with their kbIds. One whose new id is taken keeps its old one and goes with
 * the sweep: what took it is the child item now.
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
