import type { Kysely } from "kysely";

/** Groups of connectors whose access is set here never grow old. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("source_groups")
    .addColumn("neverAges", "bigint", (c) => c.notNull().defaultTo(0))
    .execute();
}
