import { sql, type Kysely } from "kysely";

/** Targets of events, the events, their deliveries to each target, and the connector states already sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("event_targets")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("targetId", "text", (c) => c.notNull())
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("types", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("pausedFor", "text")
    .addColumn("pausedAt", "bigint")
    .addColumn("sealed", "text", (c) => c.notNull())
    .addColumn("previousUntil", "bigint")
    .addColumn("createdBy", "text")
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("failingSince", "bigint")
    .addColumn("dueAt", "bigint")
    .addColumn("leaseOwner", "text")
    .addColumn("leaseUntil", "bigint")
    .addPrimaryKeyConstraint("event_targets_key", ["workspaceId", "targetId"])
    .execute();
  // Only targets that something waits for.
  await sql`create index event_targets_due on event_targets ("dueAt") where "dueAt" is not null`.execute(db);

  await db.schema
    .createTable("events")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("eventId", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("at", "bigint", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("events_key", ["workspaceId", "eventId"])
    .execute();

  await db.schema
    .createTable("event_deliveries")
    // The order in which they are sent.
    .addColumn("seq", "integer", (c) => c.primaryKey().autoIncrement())
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("deliveryId", "text", (c) => c.notNull())
    .addColumn("targetId", "text", (c) => c.notNull())
    .addColumn("eventId", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("isReplay", "integer", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("triedAt", "bigint")
    .addColumn("endedAt", "bigint")
    .addColumn("status", "integer")
    .addColumn("code", "text")
    .addUniqueConstraint("event_deliveries_id", ["workspaceId", "deliveryId"])
    .addForeignKeyConstraint(
      "event_deliveries_target",
      ["workspaceId", "targetId"],
      "event_targets",
      ["workspaceId", "targetId"],
      (fk) => fk.onDelete("cascade"),
    )
    .addForeignKeyConstraint(
      "event_deliveries_event",
      ["workspaceId", "eventId"],
      "events",
      ["workspaceId", "eventId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
  await db.schema
    .createIndex("event_deliveries_by_target")
    .on("event_deliveries")
    .columns(["workspaceId", "targetId", "state", "seq"])
    .execute();
  await db.schema
    .createIndex("event_deliveries_by_event")
    .on("event_deliveries")
    .columns(["workspaceId", "eventId"])
    .execute();

  await db.schema
    .createTable("event_marks")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("value", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("event_marks_key", ["workspaceId", "connectorId", "type"])
    .addForeignKeyConstraint(
      "event_marks_connector",
      ["workspaceId", "connectorId"],
      "connectors",
      ["workspaceId", "connectorId"],
      (fk) => fk.onDelete("cascade"),
    )
    .execute();
}
