import type { SqlHandles } from "#storage/handles.ts";

/** A connector across workspaces. */
export interface ConnectorAddress {
  workspaceId: string;
  connectorId: string;
}

/** Connectors that apps' notifications are for, across workspaces. */
// Raw: across workspaces.
export function makeWebhookLookup(sql: SqlHandles) {
  return {
    /** The sealed secret of a connector that is not being deleted. */
    async find(connectorId: string): Promise<(ConnectorAddress & { providerId: string; sealed: string }) | undefined> {
      return sql.read
        .selectFrom("connector_webhooks")
        .innerJoin("connectors", (join) =>
          join
            .onRef("connectors.workspaceId", "=", "connector_webhooks.workspaceId")
            .onRef("connectors.connectorId", "=", "connector_webhooks.connectorId"),
        )
        .select([
          "connector_webhooks.workspaceId",
          "connector_webhooks.connectorId",
          "connectors.providerId",
          "connector_webhooks.sealed",
        ])
        .where("connector_webhooks.connectorId", "=", connectorId)
        .where("connectors.state", "!=", "deleting")
        .executeTakeFirst();
    },

    /** Active connectors of these kinds that have no subscription, or one that is due or for something else. */
    async listUnsubscribed(providerIds: readonly string[], now: number, limit: number): Promise<ConnectorAddress[]> {
      return sql.read
        .selectFrom("connectors as c")
        .leftJoin("webhook_subscriptions as s", (join) =>
          join.onRef("s.workspaceId", "=", "c.workspaceId").onRef("s.connectorId", "=", "c.connectorId"),
        )
        .leftJoin("connector_webhooks as w", (join) =>
          join.onRef("w.workspaceId", "=", "c.workspaceId").onRef("w.connectorId", "=", "c.connectorId"),
        )
        .select(["c.workspaceId", "c.connectorId"])
        .where("c.providerId", "in", providerIds)
        .where("c.state", "=", "active")
        .where((eb) =>
          eb.or([
            eb("s.connectorId", "is", null),
            eb("s.dueAt", "<=", now),
            eb("s.scopeVersion", "<>", eb.ref("c.scopeVersion")),
            eb("s.secretMadeAt", "<>", eb.ref("w.madeAt")),
          ]),
        )
        .limit(limit)
        .execute();
    },

    /** The active connectors of an app. */
    async listActive(providerId: string): Promise<ConnectorAddress[]> {
      return sql.read
        .selectFrom("connectors")
        .select(["workspaceId", "connectorId"])
        .where("providerId", "=", providerId)
        .where("state", "=", "active")
        .execute();
    },
  };
}
