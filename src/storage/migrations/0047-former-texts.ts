import { type Kysely, sql } from "kysely";

/**
 * Items know since when their content can't be read while the former text stays: so long and no longer is it shown. Of
 * earlier failures are unknown, so their time begins with the next try.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("items").addColumn("formerSince", "bigint").execute();
  await sql`create index items_by_former on items ("formerSince") where "formerSince" is not null`.execute(db);
}
