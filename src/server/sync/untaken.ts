import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { ItemOp } from "#storage/batch/item-batch.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import { isMirror } from "./clocks.ts";
import type { Known as KnownItems } from "./known.ts";

/** The run that named an item and could not take it. */
interface Untaken {
  source: Pick<Source, "spec">;
  sync: Pick<SyncRecord, "mode">;
  judge(access: SourceAccess): SourceAccess;
}

type Known = Pick<KnownItems, "find">;

/** The text that is stored stays, for those who may read it and the listed one, and it is listed again soon. */
export function relisted({ judge }: Pick<Untaken, "judge">, { externalId, access, partOf }: SourceItem) {
  const listed = { access: access === undefined ? null : judge(access), parentExternalId: partOf ?? null };
  const ops: ItemOp[] = [{ type: "relist", externalId, listed }];
  return { ops, bytes: 0, seen: [externalId] };
}

/**
 * An item that was listed and can't be found is gone, or its source does not show it any more. A complete listing takes it
 * away; until another one says which, nobody reads it.
 */
export function vanished({ source, sync }: Pick<Untaken, "source" | "sync">, { externalId }: SourceItem, known: Known) {
  const ops: ItemOp[] = [];
  if (known.find(externalId) && isMirror(source.spec)) {
    ops.push({ type: "clock", externalIds: [externalId], at: null, cause: "refused" });
    if (sync.mode !== "full") ops.push({ type: "relist", externalId });
  }
  return { ops, bytes: 0, isVanished: true };
}
