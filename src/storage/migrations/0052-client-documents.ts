import { type Kysely, sql } from "kysely";

/** The last good copies of what OAuth clients say of themselves at their own identifiers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("client_documents")
    .addColumn("clientId", "text", (c) => c.primaryKey())
    .addColumn("metadata", "text", (c) => c.notNull())
    .addColumn("readAt", "bigint", (c) => c.notNull())
    .addColumn("deniedSince", "bigint")
    .addColumn("endedAt", "bigint")
    .execute();
  await sql`create index grants_by_client on grants ("clientId") where "revokedAt" is null`.execute(db);
}
