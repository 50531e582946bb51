import type { SsoStore } from "#storage/records-types/sso.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { toDate } from "#storage/times.ts";

/** Identities at the provider of single sign-on, and the trips to it. */
export function makeSsoStore(sql: SqlHandles): SsoStore {
  return {
    async findIdentity(issuer, subject) {
      const row = await sql.read
        .selectFrom("sso_identities")
        .selectAll()
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .executeTakeFirst();
      return row && { ...row, createdAt: toDate(row.createdAt) };
    },

    async identitiesOf(userId) {
      const rows = await sql.read
        .selectFrom("sso_identities")
        .selectAll()
        .where("userId", "=", userId)
        .orderBy("createdAt")
        .orderBy("subject")
        .execute();
      return rows.map((row) => ({ ...row, createdAt: toDate(row.createdAt) }));
    },

    async insertIdentity(identity) {
      const result = await sql.write
        .insertInto("sso_identities")
        .values({ ...identity, createdAt: identity.createdAt.getTime() })
        .onConflict((oc) => oc.columns(["issuer", "subject"]).doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n;
    },

    async removeIdentitiesOf(userId, linkedAfter) {
      const query = sql.write.deleteFrom("sso_identities").where("userId", "=", userId);
      await (linkedAfter === undefined ? query : query.where("createdAt", ">", linkedAfter.getTime())).execute();
    },

    async insertFlow(flow) {
      await sql.write
        .insertInto("sso_flows")
        .values({ ...flow, createdAt: flow.createdAt.getTime(), expiresAt: flow.expiresAt.getTime() })
        .execute();
    },

    async takeFlow(stateHash) {
      const row = await sql.write
        .deleteFrom("sso_flows")
        .where("stateHash", "=", stateHash)
        .returningAll()
        .executeTakeFirst();
      return row && { ...row, createdAt: toDate(row.createdAt), expiresAt: toDate(row.expiresAt) };
    },

    async sweepFlows(before) {
      await sql.write.deleteFrom("sso_flows").where("expiresAt", "<", before.getTime()).execute();
    },
  };
}
