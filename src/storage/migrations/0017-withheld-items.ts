import { type Kysely, sql } from "kysely";

/**
 * Items hidden from everyone until their effective access is computed again. No foreign keys: thousands of rows come in
 * one transaction, and the writer drops those whose items are gone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("withheld_items")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("kbId", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("withheld_items_key", ["workspaceId", "connectorId", "kbId"])
    .modifyEnd(sql`without rowid`)
    .execute();
}
