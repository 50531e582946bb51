import { type Kysely, sql } from "kysely";

/** What was shown waits here until it is joined into rows of the audit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "waiting_reads" (
    "workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade,
    "number" integer not null,
    "record" text not null,
    primary key ("workspaceId", "number")
  ) without rowid`.execute(db);
}
