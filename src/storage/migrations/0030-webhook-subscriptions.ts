import type { Kysely } from "kysely";

/** Subscriptions to notifications that connectors have at their providers. The row goes with its connector. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("webhook_subscriptions")
    .addColumn("workspaceId", "text", (column) => column.notNull())
    .addColumn("connectorId", "text", (column) => column.notNull())
    .addColumn("data", "text")
    .addColumn("expiresAt", "bigint")
    .addColumn("dueAt", "bigint")
    .addColumn("scopeVersion", "integer", (column) => column.notNull())
    .addColumn("secretMadeAt", "bigint", (column) => column.notNull())
    .addColumn("tries", "integer", (column) => column.notNull())
    .addColumn("problem", "text")
    .addPrimaryKeyConstraint("webhook_subscriptions_key", ["workspaceId", "connectorId"])
    .addForeignKeyConstraint(
      "webhook_subscriptions_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
}
