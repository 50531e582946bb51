import type { Kysely } from "kysely";

/** What connectors sign in with, sealed by the vault. The row goes with its connector. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("connector_credentials")
    .addColumn("workspaceId", "text", (column) => column.notNull())
    .addColumn("connectorId", "text", (column) => column.notNull())
    .addColumn("sealed", "text", (column) => column.notNull())
    .addColumn("givenBy", "text", (column) => column.notNull())
    .addColumn("givenAt", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("connector_credentials_key", ["workspaceId", "connectorId"])
    .addForeignKeyConstraint(
      "connector_credentials_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
}
