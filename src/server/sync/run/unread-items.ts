import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import { isMirror } from "#server/sync/clocks.ts";
import type { ItemCache as KnownItems } from "./item-cache.ts";

/** The run that named an item and could not read it. */
interface UnreadItem {
  source: Pick<Source, "spec">;
  sync: Pick<SyncRecord, "mode">;
  judge(access: SourceAccess): SourceAccess;
}

type KnownItem = Pick<KnownItems, "find">;

/**
 * Keeps the stored text, readable by those who may read both the stored and the listed version, and has the item listed
 * again soon.
 */
export function relisted({ judge }: Pick<UnreadItem, "judge">, { externalId, access, partOf }: SourceItem) {
  const listed = { access: access === undefined ? null : judge(access), parentExternalId: partOf ?? null };
  const ops: ItemOp[] = [{ type: "relist", externalId, listed }];
  return { ops, bytes: 0, seen: [externalId] };
}

/**
 * Handles an item that was listed and can't be found. Either it is gone, or its source doesn't show it any more. A
 * complete listing removes it. Until then, no one can read it.
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
