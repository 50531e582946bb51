import { isInside } from "#core/child-ids.ts";
import type { ItemRows } from "./item-rows.ts";

/** The living parts of an item that were made of its content and are not among these, by their ids. */
export function partsBeside(rows: Pick<ItemRows, "childrenOf">, externalId: string, keep: readonly string[]): string[] {
  const kept = new Set(keep);
  return rows
    .childrenOf(externalId)
    .map((part) => part.externalId)
    .filter((id) => !kept.has(id) && isInside(externalId, id));
}

/**
 * The parts of an item follow it to its new id with their kbIds. One whose new id is taken keeps its old one and goes with
 * the sweep: what took it is the part now.
 */
export function moveParts(rows: Pick<ItemRows, "childrenOf" | "find" | "set">, from: string, to: string): void {
  for (const part of rows.childrenOf(from)) {
    const isMade = isInside(from, part.externalId);
    const id = isMade ? `${to}${part.externalId.slice(from.length)}` : part.externalId;
    if (isMade && rows.find(id)) continue;
    rows.set(part.kbId, { parentExternalId: to, ...(isMade && { externalId: id }) });
    if (isMade) moveParts(rows, part.externalId, id);
  }
}
