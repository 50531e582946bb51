import { type Kysely, sql } from "kysely";

/**
 * Which containers an item lives in, what a source finds its content by, what it answers, what a source keeps besides its
 * cursor, and the items that are to be listed again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("item_entities")
    .addColumn("isHome", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  // Every container of these is a folder that the file is in, or the repository.
  await sql`update item_entities set "isHome" = 1 where "role" = 'container' and exists (
    select 1 from items i where i."workspaceId" = item_entities."workspaceId" and i."kbId" = item_entities."kbId"
      and i."providerId" in ('filesystem', 'git'))`.execute(db);
  await sql`create index item_entities_homes on item_entities ("workspaceId", "entityId", "kbId") where "isHome" = 1`.execute(
    db,
  );
  await db.schema.alterTable("items").addColumn("replyTo", "text").execute();
  await db.schema.alterTable("items").addColumn("contentRef", "text").execute();
  await db.schema
    .createTable("source_state")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("source_state_key", ["workspaceId", "connectorId", "key"])
    .addForeignKeyConstraint(
      "source_state_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (c) => c.onDelete("cascade"),
    )
    .execute();
  await db.schema
    .createTable("relist_items")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("externalId", "text", (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("relist_items_key", ["workspaceId", "connectorId", "externalId"])
    .addForeignKeyConstraint(
      "relist_items_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (c) => c.onDelete("cascade"),
    )
    .execute();
}
