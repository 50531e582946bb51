import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { WEBHOOK_SUBSCRIPTIONS } from "#storage/tables/connectors.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** The subscription of a connector at its provider, or why there is none. */
export type WebhookSubscriptionRecord = RecordOf<typeof WEBHOOK_SUBSCRIPTIONS>;

/** Reads and writes the subscriptions of the workspace's connectors to notifications of their apps. */
export function makeWebhookSubscriptionStore(sql: SqlHandles, workspaceId: string) {
  const subscriptions = inWorkspace(sql, workspaceId, WEBHOOK_SUBSCRIPTIONS);
  return {
    find: (connectorId: string) => subscriptions.find({ connectorId }),

    /** Replaces the connector's subscription. */
    put: (made: WebhookSubscriptionRecord) => subscriptions.insert(made, made),

    remove: (connectorId: string) => subscriptions.remove({ connectorId }),
  };
}
