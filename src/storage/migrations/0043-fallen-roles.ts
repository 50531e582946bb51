import { type Kysely, sql } from "kysely";

/**
 * What roles that fell before this left behind: tokens of members with the scope of admins, and what members read with a
 * server's own secret. Invitations and password links are judged when they are used.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    update "api_tokens" set "scopes" = case
      when ' ' || "scopes" || ' ' like '% kb:api %' then trim(replace(' ' || "scopes" || ' ', ' kb:admin ', ' '))
      else trim(replace(' ' || "scopes" || ' ', ' kb:admin ', ' kb:api ')) end
    where "revokedAt" is null and ' ' || "scopes" || ' ' like '% kb:admin %' and exists (
      select 1 from "members" m where m."workspaceId" = "api_tokens"."workspaceId"
        and m."userId" = "api_tokens"."userId" and m."role" = 'member')`.execute(db);
  await sql`
    delete from "memberships" where exists (
      select 1 from "connections" c join "members" m on m."workspaceId" = c."workspaceId" and m."userId" = c."ownerUserId"
      where c."workspaceId" = "memberships"."workspaceId" and c."way" = 'server' and m."role" = 'member'
        and "memberships"."groupPrincipal" = 'group:connection:' || c."connectionId"
        and "memberships"."memberPrincipal" = 'user:' || c."ownerUserId")`.execute(db);
  await sql`update "access_state" set "epoch" = "epoch" + 1`.execute(db);
}
