import { type Kysely, sql } from "kysely";

/** Items know how often they are still read again because the time of their file was over before its end. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("items").addColumn("cutRetries", "integer").execute();
  await sql`create index items_by_cut on items ("workspaceId", "connectorId") where "cutRetries" > 0`.execute(db);
}
