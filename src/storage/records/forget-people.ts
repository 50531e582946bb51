import { sql as rawSql } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { IDENTITY_JOINS } from "#storage/tables/identities.ts";

/** Forgets the groups and users that a connector reported. Joins that it reported end with it, and are remembered. */
export async function forgetPeopleOf(
  sql: SqlHandles,
  { workspaceId, connectorId, at }: { workspaceId: string; connectorId: string; at: number },
): Promise<void> {
  await rawSql`
    delete from memberships where "workspaceId" = ${workspaceId} and "reportedBy" = 'kb'
      and ("groupPrincipal", "memberPrincipal") in (
        select j."principal", 'user:' || j."userId" from identity_joins j
        where j."workspaceId" = ${workspaceId} and j."connectorId" = ${connectorId} and j."endedAt" is null
      )
  `.execute(sql.write);
  await inWorkspace(sql, workspaceId, IDENTITY_JOINS)
    .updating({ connectorId, endedAt: null })
    .set({ endedAt: at, endReason: "connector_removed" })
    .execute();
  const pairs = (isThis: boolean) => {
    const of = rawSql`
      from identity_aliases a where a."workspaceId" = ${workspaceId}
        and (a."connectorId" = ${connectorId}) = ${isThis ? 1 : 0}`;
    return rawSql`select a."principal", a."alias" ${of} union select a."alias", a."principal" ${of}`;
  };
  await rawSql`
    delete from memberships where "workspaceId" = ${workspaceId} and "reportedBy" = 'kb'
      and ("groupPrincipal", "memberPrincipal") in (${pairs(true)})
      and ("groupPrincipal", "memberPrincipal") not in (${pairs(false)})
  `.execute(sql.write);
  for (const table of ["source_groups", "identities", "identity_aliases", "people_feeds"] as const) {
    await sql.write
      .deleteFrom(table)
      .where("workspaceId", "=", workspaceId)
      .where("connectorId", "=", connectorId)
      .execute();
  }
}
