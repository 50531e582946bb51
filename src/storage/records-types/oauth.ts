import type { GrantRecord } from "./grants.ts";
import type { WithMembership } from "./sessions.ts";

/** A client that registered itself. */
export interface OAuthClientRecord {
  clientId: string;
  metadata: Record<string, unknown>;
  /** Where it registered from. */
  ip: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** A code, token, interaction or device code of the authorization server. */
export interface OAuthRecord {
  model: string;
  /** SHA-256 of the identifier, which for codes and tokens is the secret itself. */
  idHash: string;
  /** JSON, sealed. */
  sealed: string;
  grantId: string | null;
  userCodeHash: string | null;
  consumedAt: Date | null;
  expiresAt: Date | null;
}

/** What an access token leads to, as it stands now. */
export interface OAuthAccess extends WithMembership {
  sealed: string;
  expiresAt: Date | null;
  grant: GrantRecord;
}

/** What the authorization server keeps; none of it is bound to a workspace before a person decides. */
export interface OAuthStore {
  findClient(clientId: string): Promise<OAuthClientRecord | undefined>;
  insertClient(client: OAuthClientRecord): Promise<void>;
  /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
  markClientUsed(clientId: string, at: Date, unlessAfter: Date): Promise<void>;
  /**
   * Deletes clients that nobody used since `unusedSince`, and of those never used the oldest beyond `keepUnused`.
   * A client of a living grant stays.
   */
  sweepClients(options: { unusedSince: Date; keepUnused: number; now: Date }): Promise<number>;

  find(model: string, idHash: string): Promise<OAuthRecord | undefined>;
  findByUserCode(userCodeHash: string): Promise<OAuthRecord | undefined>;
  /** Writes the record; one that is there keeps its `consumedAt`. */
  save(record: Omit<OAuthRecord, "consumedAt">): Promise<void>;
  /** True for exactly one caller. */
  consume(model: string, idHash: string, at: Date): Promise<boolean>;
  remove(model: string, idHash: string): Promise<void>;
  /** Deletes what expired before `now`. @returns how many */
  sweep(now: Date): Promise<number>;

  /** By the hash of an access token; undefined when its person is no member of the grant's workspace any more. */
  findAccess(idHash: string): Promise<OAuthAccess | undefined>;
  findGrant(grantId: string): Promise<GrantRecord | undefined>;
  /** Moves the grant's end and writes `lastUsedAt`. */
  extendGrant(grantId: string, at: Date, expiresAt: Date): Promise<void>;
  /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
  markGrantUsed(grantId: string, at: Date, unlessAfter: Date): Promise<void>;
  /**
   * Ends one grant with everything that hangs on it: codes, tokens, personal access tokens that it made.
   *
   * @returns the grant as it was; undefined for an unknown one and for one that had ended before
   */
  endGrant(grantId: string, at: Date): Promise<GrantRecord | undefined>;
  /**
   * Ends the grants of a person, in one workspace or in all of them. Call it in the transaction of the act.
   *
   * @returns how many living ones there were
   */
  endGrantsOf(of: { userId: string; workspaceId?: string }, at: Date): Promise<number>;
}
