import { type Kysely, sql } from "kysely";

/**
 * An item's own access next to the effective one. Of children that were stored before, the own access is not known:
 * they had their parent's. They are hidden from everyone until they are sent again, with what is in them, and so that
 * they are sent their versions go.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("items").addColumn("ownAclId", "bigint").execute();
  await sql`update items set "ownAclId" = "aclId" where "parentExternalId" is null`.execute(db);
  await db.schema
    .createIndex("items_by_own_access")
    .on("items")
    .columns(["workspaceId", "kbId", "ownAclId"])
    .where(sql<boolean>`"parentExternalId" is not null and "ownAclId" is not null`)
    .execute();
  await sql`create temporary table untold as ${UNTOLD}`.execute(db);
  await closeInIndex(db);
  await sql`
    update items set "ownAclId" = -1, "version" = null
    where "parentExternalId" is not null and instr("externalId", '!//') = 0`.execute(db);
  await sql`
    update items set "aclId" = 0, "indexState" = case "indexState" when 'held' then 'held' else 'unsearchable' end
    where ("workspaceId", "kbId") in (select "workspaceId", "kbId" from untold)`.execute(db);
  await sql`drop table untold`.execute(db);
}

/** Children that are no files inside files, and all that is below them. */
const UNTOLD = sql`
  with recursive untold("workspaceId", "connectorId", "externalId", "kbId") as (
    select "workspaceId", "connectorId", "externalId", "kbId" from items
    where "parentExternalId" is not null and instr("externalId", '!//') = 0
    union
    select i."workspaceId", i."connectorId", i."externalId", i."kbId" from untold u
    join items i on i."workspaceId" = u."workspaceId" and i."connectorId" = u."connectorId"
      and i."parentExternalId" = u."externalId"
  )
  select "workspaceId", "kbId" from untold`;

/** Rows of the index's log of accesses, as the writer writes them; numbers are packed as `packKey` packs them. */
async function closeInIndex(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert or replace into index_access (id, no, kbId, aclId)
    select s.no * 4294967296 + s.aclSeq + row_number() over (partition by s.no order by u."kbId"), s.no, u."kbId", 0
    from untold u join index_state s on s.workspaceId = u."workspaceId"`.execute(db);
  await sql`
    update index_state set aclSeq = aclSeq + (select count(*) from untold u where u."workspaceId" = index_state.workspaceId)
    where workspaceId is not null`.execute(db);
}
