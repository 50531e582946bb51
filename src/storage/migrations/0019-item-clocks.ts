import { type Kysely, sql } from "kysely";

/**
 * Clocks of mirrored permissions: items whose permissions were not looked at together with the rest of their connector, the
 * instants that such clocks stand at, and what a refusal of everything and the proof of freshness need to know of a connector.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Until now no source mirrored permissions: where access is set here nothing grows old.
  await sql`update connectors set "aclCheckedAt" = null`.execute(db);
  await db.schema
    .alterTable("workspaces")
    .addColumn("maxAclAgeMs", "bigint", (c) => c.notNull().defaultTo(86_400_000))
    .execute();
  await db.schema.alterTable("connectors").addColumn("refusedAt", "bigint").execute();
  await db.schema.alterTable("connectors").addColumn("proofTriedAt", "bigint").execute();
  await db.schema.alterTable("items").addColumn("ownClockAt", "bigint").execute();
  await db.schema.alterTable("items").addColumn("ownClockCause", "text").execute();
  await db.schema.alterTable("items").addColumn("ownClockBy", "text").execute();
  await sql`create index items_by_own_clock on items ("workspaceId", "connectorId", "ownClockAt", "kbId")
    where "ownClockAt" is not null`.execute(db);
  await db.schema
    .createTable("item_clocks")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("checkedAt", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("item_clocks_key", ["workspaceId", "connectorId", "checkedAt"])
    .addForeignKeyConstraint(
      "item_clocks_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .modifyEnd(sql`without rowid`)
    .execute();
}
