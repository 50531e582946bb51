import { type Kysely, sql } from "kysely";

/**
 * Items know how often they are still read again because the time of their file was over before its end, and connectors
 * since when they are their owner's: only of runs since then is an owner told what was left out. Who took one over before
 * is not known here, so that time begins now.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("items").addColumn("cutRetries", "integer").execute();
  await db.schema.alterTable("connectors").addColumn("ownedSince", "bigint").execute();
  await sql`update connectors set "ownedSince" = cast(unixepoch('subsec') * 1000 as integer)`.execute(db);
  await sql`create index items_by_cut on items ("workspaceId", "connectorId") where "cutRetries" > 0`.execute(db);
}
