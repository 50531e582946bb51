import { type Kysely, sql } from "kysely";

/** What a workspace does with secrets in texts, and where some were taken out. Source: S37. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("workspaces")
    .addColumn("secrets", "text", (column) => column.notNull().defaultTo("mask"))
    .execute();
  await db.schema
    .alterTable("items")
    .addColumn("maskedSecrets", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  // Few items have any: counting them looks at those only.
  await db.schema
    .createIndex("items_masked")
    .on("items")
    .columns(["workspaceId", "connectorId", "maskedSecrets"])
    .where(sql<boolean>`"maskedSecrets" > 0 and "removedAt" is null`)
    .execute();
}
