import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import type { ItemOp } from "#storage/item-batch.ts";

/** Counts the texts of new items against their workspace's quota. */
export function countTexts(quotas: Pick<QuotaKeeper, "noteText">, workspaceId: string, ops: readonly ItemOp[]): void {
  for (const op of ops) {
    if (op.type === "upsert" && op.item.text.state === "text") quotas.noteText(workspaceId, op.item.text.text.length);
  }
}
