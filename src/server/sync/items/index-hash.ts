import { hash } from "node:crypto";
import { INDEXED_FIELDS } from "#api/item-fields.ts";
import type { PreparedItem } from "#storage/item-batch.ts";
import { ANALYZER_VERSION } from "#text/analyzer.ts";

/**
 * Returns a hash of everything that the index holds of an item apart from its access. If the hash is unchanged, the
 * item needs no indexing.
 */
export function hashOf(item: PreparedItem): string {
  const { text } = item;
  const held = [
    ANALYZER_VERSION,
    [item.providerId, item.source, item.parentExternalId],
    INDEXED_FIELDS.map((name) => item[name]),
    item.entities.map(({ entityId, role, name, nameKey, isHome }) => [
      entityId,
      role,
      name,
      nameKey,
      ...(isHome ? ["home"] : []),
    ]),
    text.state === "text" ? text.textHash : text.state,
    text.state === "none" ? text.reason : null,
  ];
  return hash("sha256", JSON.stringify(held), "base64url").slice(0, 22);
}
