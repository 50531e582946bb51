import type { ChangeNotification } from "#sources/change-notifications.ts";
import type { WebhookChange } from "#sources/webhook.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { RequestedRun } from "./request.ts";

type Run = Pick<RequestedRun, "mode" | "items">;

/** Reading more items than this at once costs no less than a walk. */
const MANY_ITEMS = 200;

/**
 * Returns the cheapest run that covers a change notification. The run names only items that exist in the store. For a
 * stored item that no longer exists at the source, a run must list everything, because only that run has safety limits
 * and detects renames.
 */
export async function runForNotification(
  { itemWrites }: WorkspaceStore,
  connector: ConnectorRecord,
  notification: ChangeNotification,
): Promise<Run | undefined> {
  if (notification.t === "anything") return { mode: "incremental" };
  const { connectorId } = connector;
  for (const id of notification.changed.length > MANY_ITEMS ? [] : notification.gone) {
    if (await itemWrites.findStored(connectorId, id)) return { mode: "incremental" };
    const [below] = await itemWrites.listStored(connectorId, `${id}/`, 1);
    if (below?.externalId.startsWith(`${id}/`)) return { mode: "incremental" };
  }
  return runForItems(connector, notification.changed);
}

/** Returns the cheapest run that covers a webhook's changes; undefined if only groups have changed. */
export function runForWebhook(connector: ConnectorRecord, changes: readonly WebhookChange[]): Run | undefined {
  if (changes.some(({ t }) => t === "delta" || t === "containers")) return { mode: "incremental" };
  return runForItems(connector, [...new Set(changes.flatMap((each) => (each.t === "items" ? each.externalIds : [])))]);
}

/**
 * Returns `incremental` even if no first full run has ended. A first run reads everything anyway, and a second full run
 * would be wasted.
 */
function runForItems({ lastFullAt }: ConnectorRecord, items: readonly string[]): Run | undefined {
  if (items.length === 0) return undefined;
  return lastFullAt === null || items.length > MANY_ITEMS ? { mode: "incremental" } : { mode: "items", items };
}
