import { sql, type Kysely } from "kysely";

/**
 * A run that a person asks for waits until users and groups are read. Beside the schedule stand when somebody may have them
 * read again, and until when what notifications asked for is paid for. Groups that notifications name are read by a job of
 * their own from here on: runs of them that are open read everything.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("syncs").addColumn("people", "text").execute();
  await db.schema.alterTable("identity_schedules").addColumn("askedAt", "bigint").execute();
  await db.schema.alterTable("identity_schedules").addColumn("paidUntil", "bigint").execute();
  await sql`update syncs set "items" = null where "mode" = 'identities' and "finishedAt" is null`.execute(db);
}
