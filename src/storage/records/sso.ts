import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { firstOf, recordsOf } from "#storage/results.ts";
import { SSO_FLOWS, SSO_IDENTITIES } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** Reads and writes identities at the single sign-on provider and the redirects to it, across workspaces. */
export function makeSsoStore(sql: SqlHandles) {
  const identities = acrossWorkspaces(sql, SSO_IDENTITIES);
  const flows = acrossWorkspaces(sql, SSO_FLOWS);
  return {
    findIdentity: (issuer: string, subject: string) => identities.find({ issuer, subject }),

    /** Returns a person's identities, oldest first. */
    identitiesOf: (userId: string) =>
      recordsOf(SSO_IDENTITIES, identities.select({ userId }).selectAll().orderBy("createdAt").orderBy("subject")),

    /** Links an identity. Returns false when it is already linked. */
    insertIdentity: async (identity: RecordOf<typeof SSO_IDENTITIES>): Promise<boolean> =>
      (await identities.insert(identity, {})) === 1,

    /** Removes all identities of a person, or only those that were linked after this time. */
    async removeIdentitiesOf(userId: string, linkedAfter?: number): Promise<void> {
      const query = identities.deleting({ userId });
      await (linkedAfter === undefined ? query : query.where("createdAt", ">", linkedAfter)).execute();
    },

    insertFlow: (flow: RecordOf<typeof SSO_FLOWS>) => flows.insert(flow),

    /** Takes out the flow of a browser; exactly one caller gets it. */
    takeFlow: (stateHash: string, browserHash: string) =>
      firstOf(SSO_FLOWS, flows.deleting({ stateHash, browserHash }).returningAll()),

    /** Deletes flows that expired before this time. */
    async sweepFlows(before: number): Promise<void> {
      await flows.deleting().where("expiresAt", "<", before).execute();
    },
  };
}
