import type { Selectable } from "kysely";
import { Scope } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { GrantsTable } from "#storage/schema.ts";
import type { RowsAfter } from "./people.ts";
import { withoutScope } from "./taken-scope.ts";

/** An OAuth client that a person let into one workspace. Instants are epoch milliseconds. */
export interface GrantRecord {
  grantId: string;
  workspaceId: string;
  userId: string;
  clientId: string;
  clientName: string;
  /** Where the client is sent back to: a host, or "this computer". */
  place: string;
  scopes: Scope[];
  isDevice: boolean;
  /** When the person last proved themselves before deciding. */
  authenticatedAt: number;
  createdAt: number;
  lastUsedAt: number | null;
  /** When its last token ends; each refresh moves it. */
  expiresAt: number;
  revokedAt: number | null;
}

/** The OAuth grants of one workspace. */
export function makeGrantStore(sql: SqlHandles, workspaceId: string) {
  return {
    async find(grantId: string): Promise<GrantRecord | undefined> {
      const row = await sql.read
        .selectFrom("grants")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("grantId", "=", grantId)
        .executeTakeFirst();
      return row && toGrant(row);
    },

    /** Living ones of a person, by (createdAt, grantId) descending. */
    async list({
      userId,
      now,
      limit,
      after,
    }: {
      userId: string;
      now: number;
      limit: number;
      after?: RowsAfter;
    }): Promise<GrantRecord[]> {
      let query = sql.read
        .selectFrom("grants")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now);
      if (after) {
        query = query.where((eb) =>
          eb.or([eb("createdAt", "<", after.value), eb("createdAt", "=", after.value).and("grantId", "<", after.id)]),
        );
      }
      const rows = await query.orderBy("createdAt", "desc").orderBy("grantId", "desc").limit(limit).execute();
      return rows.map(toGrant);
    },

    async insert(grant: GrantRecord): Promise<void> {
      await sql.write
        .insertInto("grants")
        .values({
          ...grant,
          workspaceId,
          scopes: grant.scopes.join(" "),
          isDevice: grant.isDevice ? 1 : 0,
          authenticatedAt: grant.authenticatedAt,
          createdAt: grant.createdAt,
          lastUsedAt: grant.lastUsedAt,
          expiresAt: grant.expiresAt,
          revokedAt: grant.revokedAt,
        })
        .execute();
    },
  };
}

/**
 * Ends the living grants of a person, in one workspace or in all, with their codes, their tokens and the personal
 * access tokens that they made. Call it in the transaction of the act.
 *
 * @returns how many there were
 */
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
  const rows = await sql.write
    .selectFrom("grants")
    .select(["grantId", "scopes"])
    .where("workspaceId", "=", workspaceId)
    .where("userId", "=", userId)
    .where("revokedAt", "is", null)
    .execute();
  let count = 0;
  for (const { grantId, scopes } of rows) {
    const left = withoutScope(scopes, taken, instead);
    if (left === undefined) continue;
    await sql.write
      .updateTable("grants")
      .set({ scopes: left })
      .where("workspaceId", "=", workspaceId)
      .where("grantId", "=", grantId)
      .execute();
    count++;
  }
  return count;
}

/** Ends one grant and everything that hangs on it. */
export async function endGrant(
  sql: SqlHandles,
  { workspaceId, grantId }: { workspaceId: string; grantId: string },
  at: number,
): Promise<void> {
  await sql.write
    .updateTable("grants")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("grantId", "=", grantId)
    .where("revokedAt", "is", null)
    .execute();
  await sql.write
    .updateTable("api_tokens")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("grantId", "=", grantId)
    .where("revokedAt", "is", null)
    .execute();
  await sql.write.deleteFrom("oauth_records").where("grantId", "=", grantId).execute();
}

/** A row of the table as the port gives it. */
export function toGrant(row: Selectable<GrantsTable>): GrantRecord {
  return {
    grantId: row.grantId,
    workspaceId: row.workspaceId,
    userId: row.userId,
    clientId: row.clientId,
    clientName: row.clientName,
    place: row.place,
    scopes: row.scopes.split(" ").map((scope) => Scope.parse(scope)),
    isDevice: row.isDevice === 1,
    authenticatedAt: row.authenticatedAt,
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
  };
}
