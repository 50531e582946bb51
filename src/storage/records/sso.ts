import type { SqlHandles } from "#storage/handles.ts";

/**
 * A person's identity at the single sign-on provider: by (issuer, subject), never by address. Instants are epoch
 * milliseconds.
 */
export interface SsoIdentityRecord {
  issuer: string;
  subject: string;
  userId: string;
  /** Label by which the person recognises it. */
  label: string;
  createdAt: number;
}

/** One redirect to the provider. Instants are epoch milliseconds. */
export interface SsoFlowRecord {
  stateHash: string;
  /** SHA-256 of the cookie that binds the flow to a browser. */
  browserHash: string;
  /** The session to link; null for a sign-in. */
  sessionId: string | null;
  /** Verifier and nonce, sealed by the vault. */
  sealed: string;
  returnTo: string;
  createdAt: number;
  expiresAt: number;
}

/** Identities at the single sign-on provider and the redirects to it, across workspaces. */
export function makeSsoStore(sql: SqlHandles) {
  return {
    async findIdentity(issuer: string, subject: string): Promise<SsoIdentityRecord | undefined> {
      return await sql.read
        .selectFrom("sso_identities")
        .selectAll()
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .executeTakeFirst();
    },

    /** Oldest first. */
    async identitiesOf(userId: string): Promise<SsoIdentityRecord[]> {
      return await sql.read
        .selectFrom("sso_identities")
        .selectAll()
        .where("userId", "=", userId)
        .orderBy("createdAt")
        .orderBy("subject")
        .execute();
    },

    /** False when this identity is already linked. */
    async insertIdentity(identity: SsoIdentityRecord): Promise<boolean> {
      const result = await sql.write
        .insertInto("sso_identities")
        .values(identity)
        .onConflict((oc) => oc.columns(["issuer", "subject"]).doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n;
    },

    /** All of them, or those that were linked after this moment. */
    async removeIdentitiesOf(userId: string, linkedAfter?: number): Promise<void> {
      const query = sql.write.deleteFrom("sso_identities").where("userId", "=", userId);
      await (linkedAfter === undefined ? query : query.where("createdAt", ">", linkedAfter)).execute();
    },

    async insertFlow(flow: SsoFlowRecord): Promise<void> {
      await sql.write.insertInto("sso_flows").values(flow).execute();
    },

    /** Takes the flow of a browser out; exactly one caller gets it. */
    async takeFlow(stateHash: string, browserHash: string): Promise<SsoFlowRecord | undefined> {
      return await sql.write
        .deleteFrom("sso_flows")
        .where("stateHash", "=", stateHash)
        .where("browserHash", "=", browserHash)
        .returningAll()
        .executeTakeFirst();
    },

    /** Deletes what expired before. */
    async sweepFlows(before: number): Promise<void> {
      await sql.write.deleteFrom("sso_flows").where("expiresAt", "<", before).execute();
    },
  };
}
