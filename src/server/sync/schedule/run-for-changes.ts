import type { ChangeNotification } from "#sources/change-notifications.ts";
import type { WebhookChange } from "#sources/webhook.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { RequestedRun } from "./request.ts";

type Run = Pick<RequestedRun, "mode" | "items">;

/** More items at once are no cheaper than a walk. */
const MANY_ITEMS = 200;

/**
 * The cheapest run that covers a change notification. Only existing items are named: a stored item that is gone needs a
 * run that lists everything, which has safety limits and detects renames.
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

/** The cheapest run that covers a webhook's changes; undefined when only groups have changed. */
export function runForWebhook(connector: ConnectorRecord, changes: readonly WebhookChange[]): Run | undefined {
  if (changes.some(({ t }) => t === "delta" || t === "containers")) return { mode: "incremental" };
  return runForItems(connector, [...new Set(changes.flatMap((each) => (each.t === "items" ? each.externalIds : [])))]);
}

/** `incremental` also before a first full run has ended: that run is full, and a second one would be wasted. */
function runForItems({ lastFullAt }: ConnectorRecord, items: readonly string[]): Run | undefined {
  if (items.length === 0) return undefined;
  return lastFullAt === null || items.length > MANY_ITEMS ? { mode: "incremental" } : { mode: "items", items };
}
