import type { Kysely } from "kysely";

/** When work of a workspace was last taken up, so that the one that waits the longest is next. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("workspace_turns")
    .addColumn("workspaceId", "text", (c) => c.primaryKey().notNull())
    .addColumn("servedAt", "integer", (c) => c.notNull())
    .execute();
}
