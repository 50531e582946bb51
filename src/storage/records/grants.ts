import { defined } from "#core/defined.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { recordsOf } from "#storage/results.ts";
import { API_TOKENS, GRANTS, OAUTH_RECORDS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { pageOf, type PageRequest } from "./pages.ts";

/** An OAuth client that a person allowed in one workspace. Instants are epoch milliseconds. */
export type GrantRecord = RecordOf<typeof GRANTS>;

/** Reads and writes the OAuth grants of one workspace. */
export function makeGrantStore(sql: SqlHandles, workspaceId: string) {
  const grants = inWorkspace(sql, workspaceId, GRANTS);
  return {
    find: (grantId: string) => grants.find({ grantId }),

    /** Returns living grants of a person, by (createdAt, grantId) descending. */
    list({ userId, now, ...page }: PageRequest & { userId: string; now: number }): Promise<GrantRecord[]> {
      const living = grants.select({ userId, revokedAt: null }).selectAll().where("expiresAt", ">", now);
      return recordsOf(GRANTS, pageOf(living, ["createdAt", "grantId"], "desc", page));
    },

    insert: grants.insert,
  };
}

/**
 * Ends the living grants of a person, in one workspace or in all, with their codes, their tokens and the personal
 * access tokens that were made with them. Call it in the transaction of the act.
 *
 * @returns how many there were
 */
// Raw: of a person in all workspaces, or in one.
export async function endGrantsOf(
  sql: SqlHandles,
  { userId, workspaceId }: { userId?: string; workspaceId?: string },
  at: number,
): Promise<number> {
  // Read through the writer, because the next write depends on it.
  const grants = acrossWorkspaces({ read: sql.write }, GRANTS);
  const living = grants.select({ revokedAt: null, ...defined({ userId, workspaceId }) });
  const rows = await living.select(["workspaceId", "grantId"]).execute();
  for (const row of rows) await endGrant(sql, row, at);
  return rows.length;
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
  await acrossWorkspaces(sql, OAUTH_RECORDS).remove({ grantId });
}
