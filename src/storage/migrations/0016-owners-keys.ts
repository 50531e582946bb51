import { type Kysely, sql } from "kysely";

const ENDED = "Its key was made by someone other than its owner, so it was ended. Its owner makes the new one.";

/**
 * Ends keys of push connectors that someone other than the owner made, by rotating: such a key opens every item to
 * anyone who holds it (docs/decisions/0024). Remembers when the operator set a person's password.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A migration has no clock: no one is served yet.
  const now = Date.now();
  await db.schema.alterTable("users").addColumn("passwordSetAt", "bigint").execute();
  const isOthers = sql`k."revokedAt" is null and (k."expiresAt" is null or k."expiresAt" > ${now})
    and k."createdBy" <> connectors."ownerUserId"`;
  await sql`
    update connectors set "stateReason" = ${ENDED}
    where "state" in ('active', 'paused') and exists (
      select 1 from connector_keys k
      where k."workspaceId" = connectors."workspaceId" and k."connectorId" = connectors."connectorId" and ${isOthers}
    )
  `.execute(db);
  await sql`
    update connector_keys as k set "revokedAt" = ${now}
    where exists (
      select 1 from connectors
      where connectors."workspaceId" = k."workspaceId" and connectors."connectorId" = k."connectorId" and ${isOthers}
    )
  `.execute(db);
}
