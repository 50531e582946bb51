import { Role, type Scope } from "#api/common.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { API_TOKENS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import type { WithMembership } from "./sessions.ts";
import { withoutScope } from "./taken-scope.ts";

/** Instants are epoch milliseconds. */
export type TokenRecord = RecordOf<typeof API_TOKENS>;

// Raw: found by its hash, before its workspace is known.
const FIND_TOKEN = compiledQuery((read, hash: string, now: number) =>
  read
    .selectFrom("api_tokens")
    .innerJoin("members", (join) =>
      join
        .onRef("members.workspaceId", "=", "api_tokens.workspaceId")
        .onRef("members.userId", "=", "api_tokens.userId"),
    )
    .innerJoin("users", "users.userId", "api_tokens.userId")
    .innerJoin("workspaces", "workspaces.workspaceId", "api_tokens.workspaceId")
    .leftJoin("grants", "grants.grantId", "api_tokens.grantId")
    .selectAll("api_tokens")
    .select(["members.role", "users.timeZone as ownZone", "workspaces.timeZone as workspaceZone"])
    .where("api_tokens.hash", "=", hash)
    .where((eb) =>
      eb.or([
        eb("api_tokens.grantId", "is", null),
        eb("grants.revokedAt", "is", null).and("grants.expiresAt", ">", now),
      ]),
    ),
);

/** Finds a secret by its SHA-256, before its workspace is known. */
// Raw: found by its hash, before its workspace is known.
export function makeTokenLookup(sql: SqlHandles) {
  return {
    /** Undefined when its person isn't a member of its workspace any more, or the grant that made it has ended. */
    async findToken(hash: string, now: number): Promise<(TokenRecord & WithMembership) | undefined> {
      const [row] = await FIND_TOKEN(sql.read, hash, now);
      return row && { ...API_TOKENS.read(row), role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
    },

    /** A live key of a connector that is not being deleted. */
    async findConnectorKey(hash: string, now: number): Promise<Omit<ConnectorCaller, "origin"> | undefined> {
      return sql.read
        .selectFrom("connector_keys")
        .innerJoin("connectors", (join) =>
          join
            .onRef("connectors.workspaceId", "=", "connector_keys.workspaceId")
            .onRef("connectors.connectorId", "=", "connector_keys.connectorId"),
        )
        .select(["connector_keys.workspaceId", "connector_keys.connectorId", "connector_keys.keyId"])
        .where("connector_keys.hash", "=", hash)
        .where("connector_keys.revokedAt", "is", null)
        .where((eb) => eb.or([eb("connector_keys.expiresAt", "is", null), eb("connector_keys.expiresAt", ">", now)]))
        .where("connectors.state", "!=", "deleting")
        .executeTakeFirst();
    },
  };
}

/** The personal access tokens of one workspace. */
export function makeTokenStore(sql: SqlHandles, workspaceId: string) {
  const tokens = inWorkspace(sql, workspaceId, API_TOKENS);
  return {
    find: (tokenId: string): Promise<TokenRecord | undefined> => tokens.find({ tokenId }),

    /** Neither revoked nor expired, newest first. */
    async listActive(userId: string, now: number): Promise<TokenRecord[]> {
      const rows = await tokens
        .select({ userId, revokedAt: null })
        .selectAll()
        .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)]))
        .orderBy("createdAt", "desc")
        .orderBy("tokenId", "desc")
        .execute();
      return rows.map(API_TOKENS.read);
    },

    insert: tokens.insert,

    /** Sets `revokedAt` if it is not set yet. */
    async revoke(tokenId: string, at: number): Promise<void> {
      await tokens.update({ tokenId, revokedAt: null }, { revokedAt: at });
    },

    /** Frees it from the grant that made it. */
    async adopt(tokenId: string): Promise<void> {
      await tokens.update({ tokenId }, { grantId: null });
    },

    /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
    async markUsed(tokenId: string, at: number, unlessAfter: number): Promise<void> {
      await tokens
        .updating({ tokenId })
        .set({ lastUsedAt: at })
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<=", unlessAfter)]))
        .execute();
    },
  };
}

interface Whose {
  workspaceId: string;
  userId: string;
  at: number;
}

/** Ends the living tokens of a person in one workspace. @returns how many */
export function endTokensOf(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<number> {
  return inWorkspace(sql, workspaceId, API_TOKENS).update({ userId, revokedAt: null }, { revokedAt: at });
}

/** Puts a lesser scope in the place of one in the living tokens of a person. @returns how many had it */
export async function takeScopeOfTokens(
  sql: SqlHandles,
  { workspaceId, userId }: Whose,
  taken: Scope,
  instead: Scope,
): Promise<number> {
  const tokens = inWorkspace(sql, workspaceId, API_TOKENS);
  const rows = await tokens.select({ userId, revokedAt: null }).select(["tokenId", "scopes"]).execute();
  let count = 0;
  for (const { tokenId, scopes } of rows.map(API_TOKENS.read)) {
    const left = withoutScope(scopes, taken, instead);
    if (left !== undefined) count += await tokens.update({ tokenId }, { scopes: left });
  }
  return count;
}
