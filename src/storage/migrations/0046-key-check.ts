import type { Kysely } from "kysely";

/** By which key the database was used: another one is refused at start. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("installation").addColumn("keyCheck", "text").execute();
}
