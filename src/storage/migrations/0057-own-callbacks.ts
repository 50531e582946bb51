import { type Kysely, sql } from "kysely";

/**
 * Each provider server has an address of its own to come back to. Null where an admin has registered kb with the one address
 * that all had. Source: S30.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("provider_servers").addColumn("callback", "text").execute();
  await sql`update provider_servers set callback = lower(hex(randomblob(8))) where "clientId" is null`.execute(db);
}
