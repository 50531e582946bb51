import { type Kysely, sql } from "kysely";

/** People are found by the email address that items show. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index item_entities_by_email on item_entities ("workspaceId", lower("email"), "nameKey", "entityId")
    where "email" is not null`.execute(db);
}
