import { type Kysely, sql } from "kysely";

/**
 * Keys, people, places and containers of items are masked as titles are. What was stored before that is masked once, by the
 * job that follows a workspace's setting. Rows that say nothing secret stay as they are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert or ignore into jobs ("jobId", "workspaceId", "type", "dedupeKey", "payload", "priority", "runAt", "attempt", "createdAt")
    select 'apply_secrets_now:' || w."workspaceId", w."workspaceId", 'apply_secrets',
      'apply_secrets_now:' || w."workspaceId", '{}', 30, at.ms, 0, at.ms
    from workspaces w, (select cast(unixepoch('subsec') * 1000 as integer) as ms) at
    where w."secrets" = 'mask'
  `.execute(db);
}
