import type { Kysely } from "kysely";

/**
 * Links by hand by their time, and all links of a member: people are told of the recent ones with each page. The index by
 * user holds all that is asked for. Without that SQLite walks the primary key, which begins with the workspace, instead: it
 * takes any workspace to have ten rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex("identity_joins_by_hand")
    .on("identity_joins")
    .columns(["workspaceId", "joinedAt", "connectorId", "joinedBy", "endedAt"])
    .where("basis" as never, "=", "admin")
    .execute();
  await db.schema.dropIndex("identity_joins_by_user").execute();
  const asked = ["basis", "joinedAt", "endedAt", "connectorId", "joinedBy", "endedBy", "endReason"];
  await db.schema
    .createIndex("identity_joins_by_user")
    .on("identity_joins")
    .columns(["workspaceId", "userId", ...asked])
    .execute();
}
