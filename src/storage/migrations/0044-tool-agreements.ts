import { type Kysely, sql } from "kysely";

/**
 * What the owner of a connection agreed that kb calls with it, since when they are asked to agree again, and who mapped a
 * server's tools. Connections of before have agreed to what was mapped: tools that don't say that they only read are found
 * when they would be called. Source: S65.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("provider_servers").addColumn("mappedAt", "bigint").execute();
  await db.schema.alterTable("provider_servers").addColumn("mappedBy", "text").execute();
  await db.schema.alterTable("connections").addColumn("agreed", "text").execute();
  await db.schema.alterTable("connections").addColumn("waitingSince", "bigint").execute();
  await sql`
    update connections set agreed = (
      select mapping from provider_servers
      where provider_servers."workspaceId" = connections."workspaceId"
        and provider_servers."serverId" = connections."serverId"
    )
  `.execute(db);
}
