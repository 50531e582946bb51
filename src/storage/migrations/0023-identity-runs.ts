import { type Kysely, sql } from "kysely";

/** When the users and groups of a connector are read next; its runs are among the syncs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("identity_schedules")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("nextRunAt", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("identity_schedules_key", ["workspaceId", "connectorId"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema.createIndex("identity_schedules_due").on("identity_schedules").columns(["nextRunAt"]).execute();
}
