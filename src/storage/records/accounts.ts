import type { Principal } from "#core/principals.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { firstOf, recordsOf } from "#storage/results.ts";
import { ACCOUNT_FLOWS, PROVIDER_ACCOUNTS } from "#storage/tables/accounts.ts";
import { IDENTITIES } from "#storage/tables/identities.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { makeTokenLock } from "./token-lock.ts";
import type { Whose } from "./whose.ts";

/** A person's own account at another service. Instants are epoch milliseconds. */
export type AccountRecord = RecordOf<typeof PROVIDER_ACCOUNTS>;
export type AccountWay = AccountRecord["way"];

export type AccountPatch = Partial<Omit<AccountRecord, "accountId" | "userId" | "providerId" | "createdAt">>;

/** A redirect to a provider, or the account that was found at its end. Instants are epoch milliseconds. */
export type AccountFlowRecord = RecordOf<typeof ACCOUNT_FLOWS>;
export type FlowStage = AccountFlowRecord["stage"];

/** Reads and writes people's own accounts at other services. */
export function makeAccountStore(sql: SqlHandles, workspaceId: string) {
  const accounts = inWorkspace(sql, workspaceId, PROVIDER_ACCOUNTS);
  const going = (where: { userId: string } | { principal: Principal }) =>
    accounts.select(where).selectAll().where("state", "!=", "ended");
  return {
    ...makeTokenLock(sql, workspaceId, PROVIDER_ACCOUNTS, (accountId) => ({ accountId }), { state: "active" }),

    /** Returns an account, also one that has ended. */
    find: (accountId: string) => accounts.find({ accountId }),

    /** Returns a person's accounts, oldest first. */
    listOf: (userId: string) =>
      recordsOf(PROVIDER_ACCOUNTS, going({ userId }).orderBy("createdAt").orderBy("accountId")),

    /** Returns the account that is this user of a source. */
    findByPrincipal: (principal: Principal) => firstOf(PROVIDER_ACCOUNTS, going({ principal })),

    insert: accounts.insert,

    /** Makes the check at the provider due for every connected account. */
    async scheduleNow(dueAt: number): Promise<void> {
      await accounts.updating({ state: "active" }).set({ dueAt }).where("dueAt", ">", dueAt).execute();
    },

    /** Changes an account. New tokens raise its version. */
    update: (accountId: string, patch: AccountPatch) => accounts.update({ accountId }, patch),

    /**
     * Distrusts the identity that each account reported until the account confirms it again. Every check is due now.
     */
    async invalidateAll(now: number): Promise<void> {
      const rows = await accounts
        .updating({ state: "active" })
        .set({ dueAt: now, tries: 0, confirmedAt: 0 })
        .returning("accountId")
        .execute();
      const identities = inWorkspace(sql, workspaceId, IDENTITIES);
      for (const { accountId } of rows) await identities.update({ connectorId: accountId }, { toldAt: 0 });
    },

    remove: (accountId: string) => accounts.remove({ accountId }),
  };
}

/** Reads and writes redirects to providers, and reads accounts that are due for a check, across workspaces. */
// Raw: a flow is found by its hash, before its workspace is known, and swept across workspaces.
export function makeAccountFlowStore(sql: SqlHandles) {
  const flows = acrossWorkspaces(sql, ACCOUNT_FLOWS);
  const lapsed = (now: number, where: { flowHash?: string } = {}) =>
    flows.select(where).where("expiresAt", "<=", now).where("stage", "in", STAGES_WITH_TOKENS);
  return {
    insert: flows.insert,

    find: (flowHash: string, stage: FlowStage) => flows.find({ flowHash, stage }),

    /** Takes a flow out if it hasn't expired; exactly one caller gets it. */
    take: (flowHash: string, stage: FlowStage, now: number) =>
      firstOf(ACCOUNT_FLOWS, flows.deleting({ flowHash, stage }).where("expiresAt", ">", now).returningAll()),

    remove: (flowHash: string) => flows.remove({ flowHash }),

    /** Deletes flows that have expired, except flows with tokens, which must be revoked first. */
    async sweep(now: number): Promise<void> {
      await flows.deleting().where("expiresAt", "<=", now).where("stage", "not in", STAGES_WITH_TOKENS).execute();
    },

    /** Returns flows with tokens that can no longer be confirmed. */
    listLapsed: (now: number, limit: number) =>
      lapsed(now).select(["workspaceId", "flowHash"]).orderBy("expiresAt").limit(limit).execute(),

    findLapsed: (flowHash: string, now: number) => firstOf(ACCOUNT_FLOWS, lapsed(now, { flowHash }).selectAll()),

    /** Returns accounts that are due for a check at their provider, the longest due first. */
    listDue: (now: number, limit: number) =>
      acrossWorkspaces(sql, PROVIDER_ACCOUNTS)
        .select()
        .select(["workspaceId", "accountId"])
        .where("dueAt", "<=", now)
        .orderBy("dueAt")
        .limit(limit)
        .execute(),
  };
}

/** The stages in which a flow holds the provider's tokens until the person confirms the account. */
const STAGES_WITH_TOKENS: FlowStage[] = ["found", "intent_found"];

/**
 * Ends the flows of a person, or to a provider or connection. A flow with tokens lapses, so that its tokens are revoked
 * first.
 */
// Raw: the workspace isn't part of a flow's key: `whose` names it.
export async function endFlows(
  sql: SqlHandles,
  whose: { workspaceId: string } & ({ userId: string } | { providerId: string }),
): Promise<void> {
  const flows = acrossWorkspaces(sql, ACCOUNT_FLOWS);
  await flows.updating(whose).set({ expiresAt: 0 }).where("stage", "in", STAGES_WITH_TOKENS).execute();
  await flows.deleting(whose).where("stage", "not in", STAGES_WITH_TOKENS).execute();
}

/** Ends the accounts of a member who leaves. Their tokens are revoked as soon as possible. Source: S13. */
export async function endAccountsOf(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<void> {
  const rows = await inWorkspace(sql, workspaceId, PROVIDER_ACCOUNTS)
    .updating({ userId })
    .set({ state: "ended", stateReason: null, dueAt: at, tries: 0 })
    .returning("accountId")
    .execute();
  await endFlows(sql, { workspaceId, userId });
  const accountIds = rows.map(({ accountId }) => accountId);
  await inWorkspace(sql, workspaceId, IDENTITIES).deleting().where("connectorId", "in", accountIds).execute();
}
