import type { Scope } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { API_TOKENS, GRANTS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { pageOf, type PageRequest } from "./pages.ts";
import { withoutScope } from "./taken-scope.ts";

/** An OAuth client that a person let into one workspace. Instants are epoch milliseconds. */
export type GrantRecord = RecordOf<typeof GRANTS>;

/** The OAuth grants of one workspace. */
export function makeGrantStore(sql: SqlHandles, workspaceId: string) {
  const grants = inWorkspace(sql, workspaceId, GRANTS);
  return {
    find: (grantId: string): Promise<GrantRecord | undefined> => grants.find({ grantId }),

    /** Living ones of a person, by (createdAt, grantId) descending. */
    async list({ userId, now, ...page }: PageRequest & { userId: string; now: number }): Promise<GrantRecord[]> {
      const living = grants.select({ userId, revokedAt: null }).selectAll().where("expiresAt", ">", now);
      return (await pageOf(living, ["createdAt", "grantId"], "desc", page).execute()).map(GRANTS.read);
    },

    insert: grants.insert,
  };
}

/**
 * Ends the living grants of a person, in one workspace or in all, with their codes, their tokens and the personal
 * access tokens that they made. Call it in the transaction of the act.
 *
 * @returns how many there were
 */
// Raw: of a person in all workspaces, or in the one that `of` names.
export async function endGrantsOf(
  sql: SqlHandles,
  of: { userId?: string; workspaceId?: string },
  at: number,
): Promise<number> {
  let query = sql.write.selectFrom("grants").select(["workspaceId", "grantId"]).where("revokedAt", "is", null);
  if (of.userId !== undefined) query = query.where("userId", "=", of.userId);
  if (of.workspaceId !== undefined) query = query.where("workspaceId", "=", of.workspaceId);
  const rows = await query.execute();
  for (const row of rows) await endGrant(sql, row, at);
  return rows.length;
}

/**
 * Puts a lesser scope in the place of one in the living grants of a person; an access token has no scope that its grant
 * lost. @returns how many had it
 */
export async function takeScopeOfGrants(
  sql: SqlHandles,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  taken: Scope,
  instead: Scope,
): Promise<number> {
  const grants = inWorkspace(sql, workspaceId, GRANTS);
  const rows = await grants.select({ userId, revokedAt: null }).select(["grantId", "scopes"]).execute();
  let count = 0;
  for (const { grantId, scopes } of rows.map(GRANTS.read)) {
    const left = withoutScope(scopes, taken, instead);
    if (left !== undefined) count += await grants.update({ grantId }, { scopes: left });
  }
  return count;
}

/** Ends one grant and everything that depends on it. */
export async function endGrant(
  sql: SqlHandles,
  { workspaceId, grantId }: { workspaceId: string; grantId: string },
  at: number,
): Promise<void> {
  for (const table of [GRANTS, API_TOKENS]) {
    await inWorkspace(sql, workspaceId, table).update({ grantId, revokedAt: null }, { revokedAt: at });
  }
  await sql.write.deleteFrom("oauth_records").where("grantId", "=", grantId).execute();
}
