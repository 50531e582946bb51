import { type Kysely, sql } from "kysely";

/**
 * Who paused a connector, what of it was read elsewhere or by someone else, and that every connector of a person who
 * left waits for an owner. The audit says who paused those already paused.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("connectors").addColumn("pausedBy", "text").execute();
  await db.schema.alterTable("connectors").addColumn("withheldAt", "integer").execute();
  await db.schema
    .alterTable("items")
    .addColumn("readElsewhere", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`
    create index "items_read_elsewhere" on "items" ("workspaceId", "connectorId", "externalId")
    where "readElsewhere" = 1 and "removedAt" is null
  `.execute(db);
  await sql`
    update connectors set "pausedBy" = (
      select a."actorUserId" from audit a
      where a."workspaceId" = connectors."workspaceId" and a."targetId" = connectors."connectorId"
        and a."action" = 'connector.paused' order by a."seq" desc limit 1
    ) where "state" = 'paused'
  `.execute(db);
  const reason = "Its owner left the workspace. Someone has to take it over.";
  await sql`
    update connectors set "state" = 'needs_owner', "stateReason" = ${reason}, "nextRunAt" = null
    where "state" not in ('deleting', 'needs_owner')
      and not exists (
        select 1 from members m
        where m."workspaceId" = connectors."workspaceId" and m."userId" = connectors."ownerUserId"
      )
      and not exists (
        select 1 from connector_keys k
        where k."workspaceId" = connectors."workspaceId" and k."connectorId" = connectors."connectorId"
      )
  `.execute(db);
}
