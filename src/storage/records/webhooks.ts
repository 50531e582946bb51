import { onSame } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { CONNECTOR_WEBHOOKS, CONNECTORS, WEBHOOK_SUBSCRIPTIONS } from "#storage/tables/connectors.ts";

/** The id of a connector with that of its workspace. */
export interface ConnectorAddress {
  workspaceId: string;
  connectorId: string;
}

/** Finds the connectors to which apps' notifications belong, across workspaces. */
// Raw: across workspaces.
export function makeWebhookLookup(sql: SqlHandles) {
  const connectors = acrossWorkspaces(sql, CONNECTORS);
  return {
    /** Returns the sealed secret of a connector that is not being deleted. */
    find: (connectorId: string) =>
      acrossWorkspaces(sql, CONNECTOR_WEBHOOKS)
        .select({ connectorId })
        .innerJoin("connectors", onSame(CONNECTORS, CONNECTOR_WEBHOOKS, "connectorId"))
        .select(["connectors.workspaceId", "connectors.connectorId", "connectors.providerId"])
        .select("connector_webhooks.sealed")
        .where("connectors.state", "!=", "deleting")
        .executeTakeFirst(),

    /**
     * Returns active connectors of these kinds that have no subscription, or one that is due or was made for another
     * config, scope or secret.
     */
    listUnsubscribed: (providerIds: readonly string[], now: number, limit: number) =>
      connectors
        .select({ state: "active" })
        .leftJoin("webhook_subscriptions", onSame(WEBHOOK_SUBSCRIPTIONS, CONNECTORS, "connectorId"))
        .leftJoin("connector_webhooks", onSame(CONNECTOR_WEBHOOKS, CONNECTORS, "connectorId"))
        .select(["connectors.workspaceId", "connectors.connectorId"])
        .where("connectors.providerId", "in", providerIds)
        .where((eb) =>
          eb.or([
            eb("webhook_subscriptions.connectorId", "is", null),
            eb("webhook_subscriptions.dueAt", "<=", now),
            eb("webhook_subscriptions.scopeVersion", "<>", eb.ref("connectors.scopeVersion")),
            eb("webhook_subscriptions.secretMadeAt", "<>", eb.ref("connector_webhooks.madeAt")),
          ]),
        )
        .limit(limit)
        .execute(),

    /** Returns the active connectors of an app. */
    listActive: (providerId: string) =>
      connectors.select({ providerId, state: "active" }).select(["workspaceId", "connectorId"]).execute(),
  };
}
