import { type Kysely, sql } from "kysely";

/**
 * Ends what still runs with credentials of people who left before their leaving did so itself. A connector whose owner
 * left is `needs_owner`; one of a person who is still here asks for new credentials.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isMember = (column: string) =>
    sql`exists (select 1 from members m where m."workspaceId" = connectors."workspaceId" and m."userId" = ${sql.ref(column)})`;
  const hasLeftCredentials = sql`exists (
    select 1 from connector_credentials c
    where c."workspaceId" = connectors."workspaceId" and c."connectorId" = connectors."connectorId"
      and not exists (select 1 from members m where m."workspaceId" = c."workspaceId" and m."userId" = c."givenBy")
  )`;
  const reason =
    "Its owner left the workspace, and what it signed in with was deleted. It waits for someone to take it over.";
  const otherReason = "Whoever gave its credentials left the workspace, so they were deleted.";
  await sql`
    update connectors set "state" = 'needs_owner', "stateReason" = ${reason}, "nextRunAt" = null
    where "state" <> 'deleting' and not ${isMember("connectors.ownerUserId")}
      and (${hasLeftCredentials} or "accountId" is not null or "connectionId" is not null)
  `.execute(db);
  await sql`
    update connectors set "state" = 'needs_reauth', "stateReason" = ${otherReason}, "nextRunAt" = null
    where "state" in ('active', 'error', 'needs_reauth') and ${isMember("connectors.ownerUserId")} and ${hasLeftCredentials}
  `.execute(db);
  await sql`
    delete from connector_credentials where not exists (
      select 1 from members m
      where m."workspaceId" = connector_credentials."workspaceId" and m."userId" = connector_credentials."givenBy"
    )
  `.execute(db);
}
