import type { Kysely } from "kysely";

/** MCP servers of others, people's connections to them, and the secrets of both in rows of their own: deleted, they are gone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("provider_servers")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("serverId", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("slug", "text", (c) => c.notNull())
    .addColumn("authKind", "text", (c) => c.notNull())
    .addColumn("headerName", "text")
    .addColumn("clientId", "text")
    .addColumn("isEnabled", "integer", (c) => c.notNull())
    .addColumn("connectPolicy", "text", (c) => c.notNull())
    .addColumn("apps", "text")
    .addColumn("mapping", "text")
    .addColumn("health", "text", (c) => c.notNull())
    .addColumn("checkedAt", "bigint")
    .addColumn("latencyMs", "integer")
    .addColumn("failures", "integer", (c) => c.notNull())
    .addColumn("lastProblem", "text")
    .addColumn("dueAt", "bigint")
    .addColumn("serverInfo", "text")
    .addColumn("protocolVersion", "text")
    .addColumn("capabilities", "text")
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("createdBy", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("provider_servers_key", ["workspaceId", "serverId"])
    .addUniqueConstraint("provider_servers_url", ["workspaceId", "url"])
    .execute();
  await db.schema.createIndex("provider_servers_due").on("provider_servers").columns(["dueAt"]).execute();
  await db.schema
    .createTable("provider_server_secrets")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("serverId", "text", (c) => c.notNull())
    .addColumn("sealed", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("provider_server_secrets_key", ["workspaceId", "serverId"])
    .addForeignKeyConstraint(
      "provider_server_secrets_server",
      ["workspaceId", "serverId"],
      "provider_servers",
      ["workspaceId", "serverId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
  await db.schema
    .createTable("connections")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectionId", "text", (c) => c.notNull())
    .addColumn("serverId", "text", (c) => c.notNull())
    .addColumn("ownerUserId", "text", (c) => c.notNull())
    .addColumn("app", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("way", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("statusReason", "text")
    .addColumn("visibility", "text", (c) => c.notNull())
    .addColumn("memberIds", "text", (c) => c.notNull())
    .addColumn("groupIds", "text", (c) => c.notNull())
    .addColumn("accountId", "text")
    .addColumn("accountLabel", "text")
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("authorization", "text")
    .addColumn("pendingUntil", "bigint")
    .addColumn("lastUsedAt", "bigint")
    .addColumn("lastCheckedAt", "bigint")
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("connections_key", ["workspaceId", "connectionId"])
    .addForeignKeyConstraint(
      "connections_server",
      ["workspaceId", "serverId"],
      "provider_servers",
      ["workspaceId", "serverId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
  await db.schema
    .createIndex("connections_of_server")
    .on("connections")
    .columns(["workspaceId", "serverId", "createdAt", "connectionId"])
    .execute();
  await db.schema.createIndex("connections_pending").on("connections").columns(["pendingUntil"]).execute();
  await db.schema
    .createTable("connection_secrets")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectionId", "text", (c) => c.notNull())
    .addColumn("sealed", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("expiresAt", "bigint")
    .addColumn("lockedBy", "text")
    .addColumn("lockedUntil", "bigint")
    .addPrimaryKeyConstraint("connection_secrets_key", ["workspaceId", "connectionId"])
    .addForeignKeyConstraint(
      "connection_secrets_connection",
      ["workspaceId", "connectionId"],
      "connections",
      ["workspaceId", "connectionId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
}
