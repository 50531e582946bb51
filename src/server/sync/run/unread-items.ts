import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import { isMirror } from "#server/sync/clocks.ts";
import type { ItemCache as KnownItems } from "./item-cache.ts";

/** The run that named an item and could not take it. */
interface UnreadItem {
  source: Pick<Source, "spec">;
  sync: Pick<SyncRecord, "mode">;
  judge(access: SourceAccess): SourceAccess;
}

type KnownItem = Pick<KnownItems, "find">;

/** Keeps the stored text, for readers of both it and the listed version, and lists the item again soon. */
export function relisted({ judge }: Pick<UnreadItem, "judge">, { externalId, access, partOf }: SourceItem) {
  const listed = { access: access === undefined ? null : judge(access), parentExternalId: partOf ?? null };
  const ops: ItemOp[] = [{ type: "relist", externalId, listed }];
  return { ops, bytes: 0, seen: [externalId] };
}

/**
 * Handles an item that was listed and can't be found: it is gone, or its source does not show it any more. A complete
 * listing removes it; until one settles which, no one can read it.
 */
export function vanished(
  { source, sync }: Pick<UnreadItem, "source" | "sync">,
  { externalId }: SourceItem,
  known: KnownItem,
) {
  const ops: ItemOp[] = [];
  if (known.find(externalId) && isMirror(source.spec)) {
    ops.push({ type: "clock", externalIds: [externalId], at: null, cause: "refused" });
    if (sync.mode !== "full") ops.push({ type: "relist", externalId });
  }
  return { ops, bytes: 0, isVanished: true };
}
