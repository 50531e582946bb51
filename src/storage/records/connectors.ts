import { compiledQuery } from "#storage/compiled-query.ts";
import { nullOr } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { recordsOf } from "#storage/results.ts";
import {
  CONNECTOR_ACCOUNTS,
  CONNECTOR_BINDINGS,
  CONNECTOR_CREDENTIALS,
  CONNECTOR_KEYS,
  CONNECTOR_TENANTS,
  CONNECTOR_WEBHOOKS,
  CONNECTORS,
} from "#storage/tables/connectors.ts";
import { SOURCE_STATE } from "#storage/tables/items.ts";
import type { RecordOf } from "#storage/tables/table.ts";

export type { StoredScope } from "#storage/tables/connectors.ts";

/** A configured connector, which indexes one kind of source. Times are epoch milliseconds. */
export type ConnectorRecord = RecordOf<typeof CONNECTORS>;
export type ConnectorState = ConnectorRecord["state"];

/** The secret with which a connector's app signs its notifications. */
export type ConnectorWebhookRecord = RecordOf<typeof CONNECTOR_WEBHOOKS>;
/** The place and account for which a cursor and a state are valid; null = not recorded. */
export type Binding = RecordOf<typeof CONNECTOR_BINDINGS>;

export type ConnectorPatch = Partial<Omit<ConnectorRecord, "connectorId" | "providerId" | "createdAt">>;

// Compiled once: a push reads the connector for each of its slices, and a key is looked up for each request.
const FIND = compiledQuery((read, workspaceId: string, connectorId: string) =>
  inWorkspace({ read }, workspaceId, CONNECTORS).select({ connectorId }).selectAll(),
);
const LIST_KEYS = compiledQuery((read, workspaceId: string, connectorId: string, now: number) =>
  openKeys({ read }, workspaceId, now).where("connectorId", "=", connectorId),
);

/** Returns keys that are valid at this time, the newest first. */
export function openKeys(sql: Pick<SqlHandles, "read">, workspaceId: string, now: number) {
  return inWorkspace(sql, workspaceId, CONNECTOR_KEYS)
    .select({ revokedAt: null })
    .selectAll()
    .where((eb) => nullOr(eb, "expiresAt", ">", now))
    .orderBy("createdAt", "desc")
    .orderBy("keyId");
}

/** Reads and writes connectors and their keys. */
export function makeConnectorStore(sql: SqlHandles, workspaceId: string) {
  const connectors = inWorkspace(sql, workspaceId, CONNECTORS);
  const keys = inWorkspace(sql, workspaceId, CONNECTOR_KEYS);
  const credentials = inWorkspace(sql, workspaceId, CONNECTOR_CREDENTIALS);
  const webhooks = inWorkspace(sql, workspaceId, CONNECTOR_WEBHOOKS);
  const bindings = inWorkspace(sql, workspaceId, CONNECTOR_BINDINGS);
  const accounts = inWorkspace(sql, workspaceId, CONNECTOR_ACCOUNTS);

  return {
    create: connectors.insert,

    async find(connectorId: string): Promise<ConnectorRecord | undefined> {
      const [row] = await FIND(sql.read, workspaceId, connectorId);
      return row && CONNECTORS.read(row);
    },

    /** Returns all connectors of the workspace, the oldest first. A workspace has some hundred at most. */
    list: () => recordsOf(CONNECTORS, connectors.select().selectAll().orderBy("createdAt").orderBy("connectorId")),

    /** Returns the connectors that read with an account or through a connection and are not being deleted. */
    listOn: (way: { accountId: string } | { connectionId: string }) =>
      recordsOf(CONNECTORS, connectors.select(way).selectAll().where("state", "!=", "deleting").orderBy("connectorId")),

    update: (connectorId: string, patch: ConnectorPatch) => connectors.update({ connectorId }, patch),

    /** Deletes the record with its syncs, keys and everything else that depends on it. */
    async remove(connectorId: string): Promise<void> {
      await inWorkspace(sql, workspaceId, CONNECTOR_TENANTS).remove({ connectorId });
      await connectors.remove({ connectorId });
    },

    addKey: keys.insert,

    /** Returns keys that are valid at this time, the newest first. */
    listKeys: (connectorId: string, now: number) => LIST_KEYS(sql.read, workspaceId, connectorId, now),

    /** Returns the connectors of this workspace with an open key that this person made. */
    listKeysMadeBy: (userId: string, now: number) =>
      openKeys(sql, workspaceId, now).where("createdBy", "=", userId).execute(),

    findCredentials: (connectorId: string) => credentials.find({ connectorId }),

    addCredentials: credentials.insert,

    /** Replaces the envelope of the same secret, unless the secret was replaced in the meantime. */
    resealCredentials: (connectorId: string, before: string, after: string) =>
      credentials.update({ connectorId, sealed: before }, { sealed: after }),

    deleteCredentials: (connectorId: string) => credentials.remove({ connectorId }),

    /** Returns the sealed secret of the connector's webhook, if there is one. */
    findWebhook: (connectorId: string) => webhooks.find({ connectorId }),

    /** Replaces the secret of the connector's webhook. */
    putWebhook: (made: ConnectorWebhookRecord) => webhooks.insert(made, made),

    /** Deletes the secret of the connector's webhook. Notifications are refused until there is another one. */
    deleteWebhook: (connectorId: string) => webhooks.remove({ connectorId }),

    /** Returns the place and account for which the cursor and the state are valid. */
    findBinding: (connectorId: string) => bindings.find({ connectorId }),

    /** Sets the instant before which clocks of the connector's items are invalid. */
    believeFrom: (connectorId: string, clocksFrom: number) => bindings.update({ connectorId }, { clocksFrom }),

    bind: (connectorId: string, binding: Binding) => bindings.insert({ connectorId, ...binding }, binding),

    /** Returns the account of its credentials and their scopes, as the source last reported them. */
    findAccount: (connectorId: string) => accounts.find({ connectorId }),

    async setAccount(
      connectorId: string,
      checked: { accountId: string | undefined; scopes: readonly string[] | undefined },
    ): Promise<void> {
      const scopes = checked.scopes ? JSON.stringify([...new Set(checked.scopes)].sort()) : null;
      const row = { accountId: checked.accountId ?? null, scopes };
      await accounts.insert({ connectorId, ...row }, row);
    },

    /** Deletes the state that the source keeps in addition to its cursor. */
    dropState: (connectorId: string) => inWorkspace(sql, workspaceId, SOURCE_STATE).remove({ connectorId }),

    /** Makes keys end at `endsAt` unless they end sooner. */
    async endKeys(keyIds: readonly string[], endsAt: number): Promise<void> {
      if (keyIds.length === 0) return;
      await keys
        .updating({})
        .set({ expiresAt: endsAt })
        .where("keyId", "in", keyIds)
        .where((eb) => nullOr(eb, "expiresAt", ">", endsAt))
        .execute();
    },
  };
}
