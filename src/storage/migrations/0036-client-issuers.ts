import type { Kysely } from "kysely";

/** The authorization server for which an admin's own client of a provider server is: its secret goes nowhere else. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("provider_servers").addColumn("issuer", "text").execute();
}
