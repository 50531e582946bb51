import { type Kysely, sql } from "kysely";

/** Whose connectors were taken over: what was read for them is not theirs when they come back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "former_owners" (
    "workspaceId" text not null,
    "connectorId" text not null,
    "userId" text not null,
    primary key ("workspaceId", "userId", "connectorId"),
    foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade
  ) without rowid`.execute(db);
}
