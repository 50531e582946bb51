import { type Kysely, sql } from "kysely";

/** What the cursor and the state of a connector are good for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("connector_bindings")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("place", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("connector_bindings_key", ["workspaceId", "connectorId"])
    .addForeignKeyConstraint(
      "connector_bindings_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .modifyEnd(sql`without rowid`)
    .execute();
}
