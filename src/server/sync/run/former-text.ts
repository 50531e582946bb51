import { groupsAlways } from "#storage/access/item-clocks.ts";
import { FORMER_TEXT_MS, isFormer } from "#storage/item-batch.ts";
import type { ClaimedJob } from "#storage/records/queue.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { JobEnd, SyncDeps } from "#server/sync/deps.ts";
import type { ItemCache } from "./item-cache.ts";

/**
 * Whether the text of an item, or its child items, stay when its content is truncated or too large. They stay because
 * the item was read before and may be broken only for a few days. The rule is the same for every source.
 * Source: docs/decisions/0054.
 */
export function keepsFormer(known: Pick<ItemCache, "find" | "childrenOf">, externalId: string, now: number): boolean {
  const item = known.find(externalId);
  if (!item || !(item.hasText || known.childrenOf(externalId).length > 0)) return false;
  return item.formerSince === null || isFormer(item.formerSince, now);
}

/** The number of items whose text one transaction drops. */
const SLICE = 50;

/** Runs the job `end_former_texts`: drops the previous texts of items that could not be read again for too long. */
export async function endFormerTexts(
  { store, now }: Pick<SyncDeps, "store" | "now">,
  { workspaceId }: Pick<ClaimedJob, "workspaceId">,
  signal: AbortSignal,
): Promise<JobEnd> {
  const workspace = store.in(workspaceId);
  const since = now() - FORMER_TEXT_MS;
  for (;;) {
    if (signal.aborted) return { type: "again", at: now() };
    const due = await workspace.itemWrites.listFormer(since, SLICE);
    const [first] = due;
    if (!first) return { type: "done" };
    const kbIds = due.filter(({ connectorId }) => connectorId === first.connectorId).map(({ kbId }) => kbId);
    const isEnded = await endOf(workspace, first.connectorId, { kbIds, since, now: now() });
    // The connector is being deleted, with everything it has.
    if (!isEnded) return { type: "done" };
  }
}

async function endOf(
  { connectors, itemWrites }: Pick<WorkspaceStore, "connectors" | "itemWrites">,
  connectorId: string,
  { now, ...of }: { kbIds: string[]; since: number; now: number },
): Promise<boolean> {
  const connector = await connectors.find(connectorId);
  if (!connector) return false;
  const always = groupsAlways(connector);
  const ops = [{ type: "end_former" as const, ...of }];
  const { isApplied } = await itemWrites.applyBatch({ connectorId, always, highest: 0, now, ops });
  return isApplied;
}
