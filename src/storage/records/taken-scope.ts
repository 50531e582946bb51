import type { Scope } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import type { API_TOKENS, GRANTS } from "#storage/tables/credentials.ts";
import type { Whose } from "./whose.ts";

/**
 * Replaces a scope by a lesser one in a person's living tokens or grants. An access token never has a scope that its
 * grant lost. @returns how many had the scope
 */
export async function takeScope(
  sql: SqlHandles,
  { workspaceId, userId }: Omit<Whose, "at">,
  table: typeof API_TOKENS | typeof GRANTS,
  taken: Scope,
  instead: Scope,
): Promise<number> {
  const living = { userId, revokedAt: null };
  const credentials = inWorkspace(sql, workspaceId, table);
  const rows = await credentials.select(living).select("scopes").distinct().execute();
  let count = 0;
  for (const { scopes } of rows) {
    const held = table.columns.scopes.read(scopes);
    if (!held.includes(taken)) continue;
    const left = [...new Set(held.map((scope) => (scope === taken ? instead : scope)))];
    count += await credentials.update({ ...living, scopes }, { scopes: left });
  }
  return count;
}
