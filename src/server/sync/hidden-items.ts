import { groupsAlways } from "#storage/access/item-clocks.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";

/** The number of items that one transaction removes. It occupies the writer for some milliseconds. */
const SLICE = 100;

/**
 * Hides everything of a connector until the items that it read before are removed, and has everything read again. Used
 * when the connector reads another place, or with another account. Call it in the transaction of that change, and call
 * `removeHidden` after it.
 *
 * @returns the changes to the connector
 * Source: S60.
 */
export async function hideItems(
  { connectors, itemWrites, access }: Pick<WorkspaceStore, "connectors" | "itemWrites" | "access">,
  connectorId: string,
  now: number,
): Promise<Pick<ConnectorRecord, "withheldAt">> {
  await itemWrites.invalidateReading(connectorId);
  await connectors.update(connectorId, { withheldAt: now });
  await access.raiseEpoch();
  return { withheldAt: now };
}

/**
 * Removes the items that a hidden connector had read elsewhere, even if the removal guard objects, and shows the
 * remaining items. Running it twice, or during a run, does no harm. If it stops halfway, the next call continues.
 */
export async function removeHidden(
  { store, now }: { store: Store; now: () => number },
  workspaceId: string,
  connectorId: string,
): Promise<void> {
  const { connectors, itemWrites } = store.in(workspaceId);
  const connector = await connectors.find(connectorId);
  if (!connector || connector.withheldAt === null) return;
  const always = groupsAlways(connector);
  const { highest } = await itemWrites.guardOf(connectorId, now());
  for (;;) {
    const kbIds = await itemWrites.listReadElsewhere(connectorId, SLICE);
    if (kbIds.length === 0) break;
    const ops = [{ type: "remove", kbIds, ifElsewhere: true }] as const;
    const result = await itemWrites.applyBatch({ connectorId, always, highest, now: now(), ops });
    // The connector is being deleted, and the purge removes everything.
    if (!result.isApplied) return;
  }
  await store.transaction(async (tx) => {
    const workspace = tx.in(workspaceId);
    if (await workspace.itemWrites.showAgain(connectorId)) await workspace.access.raiseEpoch();
  });
}
