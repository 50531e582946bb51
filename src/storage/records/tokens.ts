import type { ConnectorCaller } from "#storage/access/actor.ts";
import { compiledQuery } from "#storage/compiled-query.ts";
import { nullOr, onSame } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { recordsOf } from "#storage/results.ts";
import { CONNECTOR_KEYS, CONNECTORS } from "#storage/tables/connectors.ts";
import { API_TOKENS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { MEMBERS } from "#storage/tables/people.ts";
import { membershipIn, memberships, type WithMembership } from "./memberships.ts";
import type { Whose } from "./whose.ts";

/** Instants are epoch milliseconds. */
export type TokenRecord = RecordOf<typeof API_TOKENS>;

const FIND_TOKEN = compiledQuery((read, hash: string, now: number) =>
  memberships(read)
    .innerJoin("api_tokens", onSame(API_TOKENS, MEMBERS, "userId"))
    .leftJoin("grants", "grants.grantId", "api_tokens.grantId")
    .selectAll("api_tokens")
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
    /**
     * Returns a token; undefined when its person is no longer a member of its workspace, or the grant that made it has
     * ended.
     */
    async findToken(hash: string, now: number): Promise<(TokenRecord & WithMembership) | undefined> {
      const [row] = await FIND_TOKEN(sql.read, hash, now);
      return row && { ...API_TOKENS.read(row), ...membershipIn(row) };
    },

    /** Returns a live key of a connector that is not being deleted. */
    findConnectorKey: (hash: string, now: number): Promise<Omit<ConnectorCaller, "origin"> | undefined> =>
      acrossWorkspaces(sql, CONNECTOR_KEYS)
        .select({ hash, revokedAt: null })
        .innerJoin("connectors", onSame(CONNECTORS, CONNECTOR_KEYS, "connectorId"))
        .select(["connector_keys.workspaceId", "connector_keys.connectorId", "connector_keys.keyId"])
        .where((eb) => nullOr(eb, "connector_keys.expiresAt", ">", now))
        .where("connectors.state", "!=", "deleting")
        .executeTakeFirst(),
  };
}

/** Reads and writes the personal access tokens of one workspace. */
export function makeTokenStore(sql: SqlHandles, workspaceId: string) {
  const tokens = inWorkspace(sql, workspaceId, API_TOKENS);
  return {
    find: (tokenId: string) => tokens.find({ tokenId }),

    /** Returns the tokens that are neither revoked nor expired, newest first. */
    listActive: (userId: string, now: number) =>
      recordsOf(
        API_TOKENS,
        tokens
          .select({ userId, revokedAt: null })
          .selectAll()
          .where((eb) => nullOr(eb, "expiresAt", ">", now))
          .orderBy("createdAt", "desc")
          .orderBy("tokenId", "desc"),
      ),

    insert: tokens.insert,

    /** Sets `revokedAt` if it is not set yet. */
    revoke: (tokenId: string, at: number) => tokens.update({ tokenId, revokedAt: null }, { revokedAt: at }),

    /** Makes the token independent of the grant that made it. */
    adopt: (tokenId: string) => tokens.update({ tokenId }, { grantId: null }),

    /** Writes `lastUsedAt`, unless the stored time is later than `unlessAfter`. */
    async markUsed(tokenId: string, at: number, unlessAfter: number): Promise<void> {
      await tokens
        .updating({ tokenId })
        .set({ lastUsedAt: at })
        .where((eb) => nullOr(eb, "lastUsedAt", "<=", unlessAfter))
        .execute();
    },
  };
}

/** Ends the living tokens of a person in one workspace. @returns how many */
export function endTokensOf(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<number> {
  return inWorkspace(sql, workspaceId, API_TOKENS).update({ userId, revokedAt: null }, { revokedAt: at });
}
