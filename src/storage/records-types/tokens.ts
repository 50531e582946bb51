import type { Scope } from "#api/common.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import type { WithMembership } from "./sessions.ts";

export interface TokenRecord {
  tokenId: string;
  workspaceId: string;
  userId: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  /** As stored; at expiry what is shown is `expiresAt`. */
  revokedAt: Date | null;
  /** The OAuth grant it dies with; null when a session made or adopted it. Source: S28. */
  grantId: string | null;
}

/** Finds a secret by its SHA-256, before its workspace is known. */
export interface TokenLookup {
  /** Undefined when its person is no member of its workspace any more, or the grant that made it has ended. */
  findToken(hash: string, now: Date): Promise<(TokenRecord & WithMembership) | undefined>;
  /** A live key of a connector that is not being deleted. */
  findConnectorKey(hash: string, now: Date): Promise<Omit<ConnectorCaller, "origin"> | undefined>;
}

export interface TokenStore {
  find(tokenId: string): Promise<TokenRecord | undefined>;
  /** Neither revoked nor expired, newest first. */
  listActive(userId: string, now: Date): Promise<TokenRecord[]>;
  insert(token: TokenRecord & { hash: string }): Promise<void>;
  /** Sets `revokedAt` if it is not set yet. */
  revoke(tokenId: string, at: Date): Promise<void>;
  /** Frees it from the grant that made it. */
  adopt(tokenId: string): Promise<void>;
  /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
  markUsed(tokenId: string, at: Date, unlessAfter: Date): Promise<void>;
}
