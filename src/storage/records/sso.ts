import type { SqlHandles } from "#storage/handles.ts";
import { toDate } from "#storage/times.ts";

/** Who somebody is at the provider of single sign-on: by (issuer, subject), never by address. */
export interface SsoIdentityRecord {
  issuer: string;
  subject: string;
  userId: string;
  /** What the person recognises it by. */
  label: string;
  createdAt: Date;
}

/** One trip to the provider. */
export interface SsoFlowRecord {
  stateHash: string;
  /** SHA-256 of the cookie that ties the trip to a browser. */
  browserHash: string;
  /** The session that wants to be linked; null for a sign-in. */
  sessionId: string | null;
  /** Verifier and nonce, sealed by the vault. */
  sealed: string;
  returnTo: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Identities at the provider of single sign-on and the trips to it, across workspaces. */
export function makeSsoStore(sql: SqlHandles) {
  return {
    async findIdentity(issuer: string, subject: string): Promise<SsoIdentityRecord | undefined> {
      const row = await sql.read
        .selectFrom("sso_identities")
        .selectAll()
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .executeTakeFirst();
      return row && { ...row, createdAt: toDate(row.createdAt) };
    },

    /** Oldest first. */
    async identitiesOf(userId: string): Promise<SsoIdentityRecord[]> {
      const rows = await sql.read
        .selectFrom("sso_identities")
        .selectAll()
        .where("userId", "=", userId)
        .orderBy("createdAt")
        .orderBy("subject")
        .execute();
      return rows.map((row) => ({ ...row, createdAt: toDate(row.createdAt) }));
    },

    /** False when somebody has this identity already. */
    async insertIdentity(identity: SsoIdentityRecord): Promise<boolean> {
      const result = await sql.write
        .insertInto("sso_identities")
        .values({ ...identity, createdAt: identity.createdAt.getTime() })
        .onConflict((oc) => oc.columns(["issuer", "subject"]).doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n;
    },

    /** All of them, or those that were linked after this moment. */
    async removeIdentitiesOf(userId: string, linkedAfter?: Date): Promise<void> {
      const query = sql.write.deleteFrom("sso_identities").where("userId", "=", userId);
      await (linkedAfter === undefined ? query : query.where("createdAt", ">", linkedAfter.getTime())).execute();
    },

    async insertFlow(flow: SsoFlowRecord): Promise<void> {
      await sql.write
        .insertInto("sso_flows")
        .values({ ...flow, createdAt: flow.createdAt.getTime(), expiresAt: flow.expiresAt.getTime() })
        .execute();
    },

    /** Takes the flow out; exactly one caller gets it. */
    async takeFlow(stateHash: string): Promise<SsoFlowRecord | undefined> {
      const row = await sql.write
        .deleteFrom("sso_flows")
        .where("stateHash", "=", stateHash)
        .returningAll()
        .executeTakeFirst();
      return row && { ...row, createdAt: toDate(row.createdAt), expiresAt: toDate(row.expiresAt) };
    },

    /** Deletes what expired before. */
    async sweepFlows(before: Date): Promise<void> {
      await sql.write.deleteFrom("sso_flows").where("expiresAt", "<", before.getTime()).execute();
    },
  };
}
