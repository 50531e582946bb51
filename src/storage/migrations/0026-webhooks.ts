import type { Kysely } from "kysely";

/** What the apps of connectors sign their notifications with, sealed by the vault. The row goes with its connector. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("connector_webhooks")
    .addColumn("workspaceId", "text", (column) => column.notNull())
    .addColumn("connectorId", "text", (column) => column.notNull())
    .addColumn("sealed", "text", (column) => column.notNull())
    .addColumn("madeAt", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("connector_webhooks_key", ["workspaceId", "connectorId"])
    .addForeignKeyConstraint(
      "connector_webhooks_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
  // A notification names the connector before its workspace is known.
  await db.schema.createIndex("connector_webhooks_connector").on("connector_webhooks").column("connectorId").execute();
}
