import type { Kysely } from "kysely";

/**
 * The groups of a member come from the index alone. Of 1.1 million memberships those of a person with 500 groups took
 * 460 ms: without the last two columns SQLite took the table's own key and walked over all of the workspace.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex("memberships_by_member").execute();
  await db.schema
    .createIndex("memberships_by_member")
    .on("memberships")
    .columns(["workspaceId", "memberPrincipal", "groupPrincipal", "reportedBy"])
    .execute();
}
