import type { Kysely } from "kysely";

/** Which file beside the database is the last one that it knows of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [column, type] of [
    ["markStep", "bigint"],
    ["markFile", "text"],
  ] as const) {
    await db.schema.alterTable("installation").addColumn(column, type).execute();
  }
}
