import type { Selectable } from "kysely";
import { Role, Scope } from "#api/common.ts";
import type { TokenLookup, TokenRecord, TokenStore } from "#storage/records-types/tokens.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ApiTokensTable } from "#storage/schema.ts";
import { toColumn, toDate, toDateOrNull } from "#storage/times.ts";

/** Secrets by their hash, across workspaces. */
export function makeTokenLookup(sql: SqlHandles): TokenLookup {
  return {
    async findToken(hash, now) {
      const row = await sql.read
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
            eb("grants.revokedAt", "is", null).and("grants.expiresAt", ">", now.getTime()),
          ]),
        )
        .executeTakeFirst();
      return row && { ...toToken(row), role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
    },

    async findConnectorKey(hash, now) {
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
        .where((eb) =>
          eb.or([eb("connector_keys.expiresAt", "is", null), eb("connector_keys.expiresAt", ">", now.getTime())]),
        )
        .where("connectors.state", "!=", "deleting")
        .executeTakeFirst();
    },
  };
}

/** The personal access tokens of one workspace. */
export function makeTokenStore(sql: SqlHandles, workspaceId: string): TokenStore {
  return {
    async find(tokenId) {
      const row = await sql.read
        .selectFrom("api_tokens")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .executeTakeFirst();
      return row && toToken(row);
    },

    async listActive(userId, now) {
      const rows = await sql.read
        .selectFrom("api_tokens")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .where("revokedAt", "is", null)
        .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now.getTime())]))
        .orderBy("createdAt", "desc")
        .orderBy("tokenId", "desc")
        .execute();
      return rows.map(toToken);
    },

    async insert(token) {
      await sql.write
        .insertInto("api_tokens")
        .values({
          workspaceId,
          tokenId: token.tokenId,
          userId: token.userId,
          name: token.name,
          prefix: token.prefix,
          hash: token.hash,
          scopes: token.scopes.join(" "),
          createdAt: token.createdAt.getTime(),
          lastUsedAt: toColumn(token.lastUsedAt),
          expiresAt: toColumn(token.expiresAt),
          revokedAt: toColumn(token.revokedAt),
          grantId: token.grantId,
        })
        .execute();
    },

    async revoke(tokenId, at) {
      await sql.write
        .updateTable("api_tokens")
        .set({ revokedAt: at.getTime() })
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .where("revokedAt", "is", null)
        .execute();
    },

    async adopt(tokenId) {
      await sql.write
        .updateTable("api_tokens")
        .set({ grantId: null })
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .execute();
    },

    async markUsed(tokenId, at, unlessAfter) {
      await sql.write
        .updateTable("api_tokens")
        .set({ lastUsedAt: at.getTime() })
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<=", unlessAfter.getTime())]))
        .execute();
    },
  };
}

function toToken(row: Selectable<ApiTokensTable>): TokenRecord {
  return {
    tokenId: row.tokenId,
    workspaceId: row.workspaceId,
    userId: row.userId,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes.split(" ").map((scope) => Scope.parse(scope)),
    createdAt: toDate(row.createdAt),
    lastUsedAt: toDateOrNull(row.lastUsedAt),
    expiresAt: toDateOrNull(row.expiresAt),
    revokedAt: toDateOrNull(row.revokedAt),
    grantId: row.grantId,
  };
}
