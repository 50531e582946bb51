import { type Kysely, sql } from "kysely";

/** In which containers the groups that syncs tell of are: the listing of one ends those that it does not name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("source_groups").dropColumn("slice").execute();
  await db.schema
    .createTable("group_homes")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("entityId", "text", (c) => c.notNull())
    .addColumn("groupPrincipal", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("group_homes_key", ["workspaceId", "entityId", "groupPrincipal"])
    .addForeignKeyConstraint(
      "group_homes_group",
      ["workspaceId", "groupPrincipal"],
      "source_groups",
      ["workspaceId", "groupPrincipal"],
      (fk) => fk.onDelete("cascade"),
    )
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createIndex("group_homes_by_group")
    .on("group_homes")
    .columns(["workspaceId", "groupPrincipal"])
    .execute();
}
