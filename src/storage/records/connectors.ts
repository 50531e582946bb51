import type { Selectable, Updateable } from "kysely";
import type { Scope } from "#core/scope.ts";
import type {
  ConnectorPatch,
  ConnectorRecord,
  ConnectorState,
  ConnectorStore,
  Visibility,
} from "#storage/records-types/connectors.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ConnectorsTable } from "#storage/schema.ts";

/** Connectors and their keys, on SQL. */
export function makeConnectorStore(sql: SqlHandles, workspaceId: string): ConnectorStore {
  const openKeys = (now: number) =>
    sql.read
      .selectFrom("connector_keys")
      .selectAll()
      .where("workspaceId", "=", workspaceId)
      .where("revokedAt", "is", null)
      .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)]))
      .orderBy("createdAt", "desc")
      .orderBy("keyId");

  return {
    async create(connector) {
      const { connectorId, providerId, createdAt, createdBy, ...rest } = connector;
      // A whole record gives every column.
      const row = toRow(rest) as Omit<ConnectorsTable, "workspaceId">;
      await sql.write
        .insertInto("connectors")
        .values({ ...row, workspaceId, connectorId, providerId, createdAt, createdBy })
        .execute();
    },
    async find(connectorId) {
      const row = await sql.read
        .selectFrom("connectors")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async list() {
      const rows = await sql.read
        .selectFrom("connectors")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .orderBy("createdAt")
        .orderBy("connectorId")
        .execute();
      return rows.map(toRecord);
    },
    async update(connectorId, patch) {
      const row = toRow(patch);
      if (Object.keys(row).length === 0) return;
      await sql.write
        .updateTable("connectors")
        .set(row)
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },
    async remove(connectorId) {
      await sql.write
        .deleteFrom("connectors")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },
    async addKey(key) {
      await sql.write
        .insertInto("connector_keys")
        .values({ workspaceId, ...key })
        .execute();
    },
    async listKeys(connectorId, now) {
      return openKeys(now).where("connectorId", "=", connectorId).execute();
    },
    async listKeysMadeBy(userId, now) {
      return openKeys(now).where("createdBy", "=", userId).execute();
    },
    async findCredentials(connectorId) {
      return sql.read
        .selectFrom("connector_credentials")
        .select(["connectorId", "sealed", "givenBy", "givenAt"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
    },
    async addCredentials(credentials) {
      await sql.write
        .insertInto("connector_credentials")
        .values({ workspaceId, ...credentials })
        .execute();
    },
    async resealCredentials(connectorId, before, after) {
      await sql.write
        .updateTable("connector_credentials")
        .set({ sealed: after })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("sealed", "=", before)
        .execute();
    },
    async deleteCredentials(connectorId) {
      await sql.write
        .deleteFrom("connector_credentials")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },
    async endKeys(keyIds, endsAt) {
      if (keyIds.length === 0) return;
      await sql.write
        .updateTable("connector_keys")
        .set({ expiresAt: endsAt })
        .where("workspaceId", "=", workspaceId)
        .where("keyId", "in", [...keyIds])
        .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", endsAt)]))
        .execute();
    },
  };
}

function toRow(patch: ConnectorPatch): Updateable<ConnectorsTable> {
  const { memberIds, groupIds, config, scope, cursor, ...plain } = patch;
  return {
    ...plain,
    ...(memberIds && { memberIds: JSON.stringify(memberIds) }),
    ...(groupIds && { groupIds: JSON.stringify(groupIds) }),
    ...(config && { config: JSON.stringify(config) }),
    ...(scope && { scope: JSON.stringify(scope) }),
    ...(cursor !== undefined && { cursor: cursor === null ? null : JSON.stringify(cursor) }),
  };
}

/** JSON and closed sets are written by `toRow` only, from the types named here. */
function toRecord(row: Selectable<ConnectorsTable>): ConnectorRecord {
  const { workspaceId: _workspaceId, ...plain } = row;
  return {
    ...plain,
    visibility: row.visibility as Visibility,
    state: row.state as ConnectorState,
    memberIds: JSON.parse(row.memberIds) as string[],
    groupIds: JSON.parse(row.groupIds) as string[],
    config: JSON.parse(row.config) as Record<string, unknown>,
    scope: JSON.parse(row.scope) as Scope,
    cursor: row.cursor === null ? null : (JSON.parse(row.cursor) as unknown),
  };
}
