import { groupsAlways } from "#storage/access/item-clocks.ts";
import { inChunks } from "#core/in-chunks.ts";
import { defined } from "#core/defined.ts";
import type { BatchResult, ItemBatch, ItemOp } from "#storage/item-batch.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { ConnectorDeps } from "./deps.ts";

const PAGE = 2_000;
/** Removals per batch; a batch blocks the writer for some milliseconds. */
const SLICE = 100;

/** Yields every present item of a connector, by externalId. */
export async function* walkStored(workspace: WorkspaceStore, connectorId: string): AsyncGenerator<StoredItem, void> {
  for (let after = ""; ;) {
    const page = await workspace.itemWrites.listStored(connectorId, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.externalId;
  }
}

/** Removes items at a person's request, so the guard over removals isn't applied. */
export async function removeItems(
  deps: Pick<ConnectorDeps, "store" | "clock">,
  workspaceId: string,
  connectorId: string,
  kbIds: readonly string[],
): Promise<void> {
  for (const chunk of inChunks(kbIds, SLICE)) {
    await applyOps(deps, workspaceId, connectorId, [{ type: "remove", kbIds: chunk }]);
  }
}

/**
 * Applies ops that don't belong to a run.
 *
 * @returns the outcomes; undefined if the connector is being deleted
 * @throws ApiError as `ItemWriteStore.applyBatch`
 */
export async function applyOps(
  { store, clock }: Pick<ConnectorDeps, "store" | "clock">,
  workspaceId: string,
  connectorId: string,
  ops: readonly ItemOp[],
  { upload, expects, trace }: Pick<ItemBatch, "upload" | "expects" | "trace"> = {},
): Promise<Extract<BatchResult, { isApplied: true }> | undefined> {
  const { itemWrites, connectors } = store.in(workspaceId);
  const now = clock.now();
  const connector = await connectors.find(connectorId);
  if (!connector) return undefined;
  const result = await itemWrites.applyBatch({
    connectorId,
    always: groupsAlways(connector),
    highest: (await itemWrites.guardOf(connectorId, now)).highest,
    now,
    ops,
    ...defined({ upload, expects, trace }),
  });
  return result.isApplied ? result : undefined;
}
