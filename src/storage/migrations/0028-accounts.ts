import type { Kysely } from "kysely";

/**
 * The account behind a cursor, a state and clocks: the account that a source reports, its scopes, and the credentials.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("connector_accounts")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("accountId", "text")
    .addColumn("scopes", "text")
    .addPrimaryKeyConstraint("connector_accounts_key", ["workspaceId", "connectorId"])
    .addForeignKeyConstraint(
      "connector_accounts_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
  // What is null was not noted: it differs from nothing.
  for (const column of ["account", "scopes", "credentials"]) {
    await db.schema.alterTable("connector_bindings").addColumn(column, "text").execute();
  }
  await db.schema
    .alterTable("connector_bindings")
    .addColumn("clocksFrom", "bigint", (c) => c.notNull().defaultTo(0))
    .execute();
}
