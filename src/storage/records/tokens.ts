import type { Selectable } from "kysely";
import { Role, Scope } from "#api/common.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ApiTokensTable } from "#storage/schema.ts";
import type { WithMembership } from "./sessions.ts";
import { withoutScope } from "./taken-scope.ts";

/** Instants are epoch milliseconds. */
export interface TokenRecord {
  tokenId: string;
  workspaceId: string;
  userId: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  /** As stored; at expiry what is shown is `expiresAt`. */
  revokedAt: number | null;
  /** The OAuth grant it dies with; null when a session made or adopted it. Source: S28. */
  grantId: string | null;
}

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
export function makeTokenLookup(sql: SqlHandles) {
  return {
    /** Undefined when its person is no member of its workspace any more, or the grant that made it has ended. */
    async findToken(hash: string, now: number): Promise<(TokenRecord & WithMembership) | undefined> {
      const [row] = await FIND_TOKEN(sql.read, hash, now);
      return row && { ...toToken(row), role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
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
  return {
    async find(tokenId: string): Promise<TokenRecord | undefined> {
      const row = await sql.read
        .selectFrom("api_tokens")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .executeTakeFirst();
      return row && toToken(row);
    },

    /** Neither revoked nor expired, newest first. */
    async listActive(userId: string, now: number): Promise<TokenRecord[]> {
      const rows = await sql.read
        .selectFrom("api_tokens")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .where("revokedAt", "is", null)
        .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)]))
        .orderBy("createdAt", "desc")
        .orderBy("tokenId", "desc")
        .execute();
      return rows.map(toToken);
    },

    async insert(token: TokenRecord & { hash: string }): Promise<void> {
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
          createdAt: token.createdAt,
          lastUsedAt: token.lastUsedAt,
          expiresAt: token.expiresAt,
          revokedAt: token.revokedAt,
          grantId: token.grantId,
        })
        .execute();
    },

    /** Sets `revokedAt` if it is not set yet. */
    async revoke(tokenId: string, at: number): Promise<void> {
      await sql.write
        .updateTable("api_tokens")
        .set({ revokedAt: at })
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .where("revokedAt", "is", null)
        .execute();
    },

    /** Frees it from the grant that made it. */
    async adopt(tokenId: string): Promise<void> {
      await sql.write
        .updateTable("api_tokens")
        .set({ grantId: null })
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
        .execute();
    },

    /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
    async markUsed(tokenId: string, at: number, unlessAfter: number): Promise<void> {
      await sql.write
        .updateTable("api_tokens")
        .set({ lastUsedAt: at })
        .where("workspaceId", "=", workspaceId)
        .where("tokenId", "=", tokenId)
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
export async function endTokensOf(sql: SqlHandles, { at, ...whose }: Whose): Promise<number> {
  const { numUpdatedRows } = await living(sql, whose).set({ revokedAt: at }).executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Puts a lesser scope in the place of one in the living tokens of a person. @returns how many had it */
export async function takeScopeOfTokens(sql: SqlHandles, whose: Whose, taken: Scope, instead: Scope): Promise<number> {
  const rows = await sql.write
    .selectFrom("api_tokens")
    .select(["tokenId", "scopes"])
    .where("workspaceId", "=", whose.workspaceId)
    .where("userId", "=", whose.userId)
    .where("revokedAt", "is", null)
    .execute();
  let count = 0;
  for (const { tokenId, scopes } of rows) {
    const left = withoutScope(scopes, taken, instead);
    if (left === undefined) continue;
    await living(sql, whose).set({ scopes: left }).where("tokenId", "=", tokenId).execute();
    count++;
  }
  return count;
}

function living(sql: SqlHandles, { workspaceId, userId }: Omit<Whose, "at">) {
  return sql.write
    .updateTable("api_tokens")
    .where("workspaceId", "=", workspaceId)
    .where("userId", "=", userId)
    .where("revokedAt", "is", null);
}

function toToken(row: Selectable<ApiTokensTable>): TokenRecord {
  return {
    tokenId: row.tokenId,
    workspaceId: row.workspaceId,
    userId: row.userId,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes.split(" ").map((scope) => Scope.parse(scope)),
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    grantId: row.grantId,
  };
}
