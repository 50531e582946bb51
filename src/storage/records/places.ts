import { sql as raw } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { MEMBERSHIPS } from "#storage/tables/access.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** Removes a principal from every group of the workspace, whichever connector reported the group. */
export async function dropFromGroups(sql: SqlHandles, workspaceId: string, principal: string): Promise<void> {
  await inWorkspace(sql, workspaceId, MEMBERSHIPS).remove({ memberPrincipal: principal });
}

/**
 * Removes an id from the readers of every connector and connection, so that a person or group that comes back with this
 * id gets no access.
 */
export async function dropFromConnectors(
  sql: SqlHandles,
  workspaceId: string,
  column: "memberIds" | "groupIds",
  id: string,
): Promise<void> {
  await dropFromLists(sql, { table: "connectors", key: "connectorId", column }, workspaceId, id);
  await dropFromLists(sql, { table: "connections", key: "connectionId", column }, workspaceId, id);
}

interface Lists {
  table: "connectors" | "connections";
  key: "connectorId" | "connectionId";
  column: "memberIds" | "groupIds";
}

async function dropFromLists(
  sql: SqlHandles,
  { table, key, column }: Lists,
  workspaceId: string,
  id: string,
): Promise<void> {
  const { rows } = await raw<{ id: string; ids: string }>`
    select ${raw.ref(key)} as id, ${raw.ref(column)} as ids from ${raw.table(table)}
    where "workspaceId" = ${workspaceId} and ${raw.ref(column)} like ${`%"${id}"%`}`.execute(sql.write);
  for (const row of rows) {
    const ids = CONNECTORS.columns[column].read(row.ids).filter((other) => other !== id);
    await raw`
      update ${raw.table(table)} set ${raw.ref(column)} = ${JSON.stringify(ids)}
      where "workspaceId" = ${workspaceId} and ${raw.ref(key)} = ${row.id}`.execute(sql.write);
  }
}
