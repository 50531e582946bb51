import { type Kysely, sql } from "kysely";

/** Uploads of push connectors. Column rules: `schema.ts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("push_uploads")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("uploadId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("mode", "text", (c) => c.notNull())
    .addColumn("name", "text")
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("lines", "bigint", (c) => c.notNull())
    .addColumn("counts", "text", (c) => c.notNull())
    .addColumn("troubles", "text", (c) => c.notNull())
    .addColumn("unnamed", "bigint", (c) => c.notNull())
    .addColumn("isHeld", "bigint", (c) => c.notNull())
    .addColumn("sweptItems", "bigint", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("touchedAt", "bigint", (c) => c.notNull())
    .addColumn("finishedAt", "bigint")
    .addPrimaryKeyConstraint("push_uploads_key", ["workspaceId", "uploadId"])
    .addForeignKeyConstraint(
      "push_uploads_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
  await db.schema
    .createIndex("push_uploads_by_connector")
    .on("push_uploads")
    .columns(["workspaceId", "connectorId", "touchedAt"])
    .execute();
  // Asked with every batch of pushed items: which set is open here.
  await db.schema
    .createIndex("push_uploads_open_sets")
    .on("push_uploads")
    .columns(["workspaceId", "connectorId"])
    .where(sql<boolean>`"mode" = 'set' and "state" in ('open', 'ending')`)
    .execute();
}
