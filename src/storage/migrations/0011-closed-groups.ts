import { type Kysely, sql } from "kysely";

/** Owners of groups, groups that only they change, links that were carried by hand, and acts by what they changed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("groups").addColumn("ownerUserId", "text").execute();
  await db.schema
    .alterTable("groups")
    .addColumn("isClosed", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  // Who made a group owns it, as far as the audit still knows and while they are here.
  await sql`
    update groups set "ownerUserId" = (
      select a."actorUserId" from audit a
      join members m on m."workspaceId" = a."workspaceId" and m."userId" = a."actorUserId"
      where a."workspaceId" = groups."workspaceId" and a."action" = 'group.created' and a."targetId" = groups."groupId"
      limit 1
    )
  `.execute(db);
  await db.schema.alterTable("users").addColumn("resetLinkAt", "bigint").execute();
  await db.schema.alterTable("users").addColumn("resetLinkBy", "text").execute();
  await db.schema
    .createIndex("audit_by_target")
    .on("audit")
    .columns(["workspaceId", "targetId", "seq"])
    .where(sql<boolean>`"action" <> 'items.read'`)
    .execute();
}
