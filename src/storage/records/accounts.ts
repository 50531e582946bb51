import type { Principal } from "#core/principals.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { ACCOUNT_FLOWS, PROVIDER_ACCOUNTS } from "#storage/tables/accounts.ts";
import { IDENTITIES } from "#storage/tables/identities.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** A person's own account at another service. Instants are epoch milliseconds. */
export type AccountRecord = RecordOf<typeof PROVIDER_ACCOUNTS>;
export type AccountWay = AccountRecord["way"];

export type AccountPatch = Partial<Omit<AccountRecord, "accountId" | "userId" | "providerId" | "createdAt">>;

/** A redirect to a provider, or the account found at its end. Instants are epoch milliseconds. */
export type AccountFlowRecord = RecordOf<typeof ACCOUNT_FLOWS>;
export type FlowStage = AccountFlowRecord["stage"];

/** People's own accounts at other services. */
export function makeAccountStore(sql: SqlHandles, workspaceId: string) {
  const accounts = inWorkspace(sql, workspaceId, PROVIDER_ACCOUNTS);
  const free = { lockedBy: null, lockedUntil: null };
  return {
    /** Ended ones too. */
    find: (accountId: string): Promise<AccountRecord | undefined> => accounts.find({ accountId }),

    /** A person's, oldest first. */
    async listOf(userId: string): Promise<AccountRecord[]> {
      const rows = await accounts
        .select({ userId })
        .selectAll()
        .where("state", "!=", "ended")
        .orderBy("createdAt")
        .orderBy("accountId")
        .execute();
      return rows.map(PROVIDER_ACCOUNTS.read);
    },

    /** The account that is this user of a source. */
    async findByPrincipal(principal: Principal): Promise<AccountRecord | undefined> {
      const row = await accounts.select({ principal }).selectAll().where("state", "!=", "ended").executeTakeFirst();
      return row && PROVIDER_ACCOUNTS.read(row);
    },

    insert: accounts.insert,

    /** Makes the provider check of every connected account due. */
    async hasten(dueAt: number): Promise<void> {
      await accounts.updating({ state: "active" }).set({ dueAt }).where("dueAt", ">", dueAt).execute();
    },

    /** Changes what the account is; other tokens raise its version. */
    async update(accountId: string, patch: AccountPatch): Promise<void> {
      await accounts.update({ accountId }, patch);
    },

    /**
     * Lets exactly one caller renew the tokens, until it has stored them or the time is up.
     *
     * @param version  of the tokens that are too old
     * @returns false when another caller holds the lock, or the tokens have changed
     */
    async lock(accountId: string, version: number, lock: { by: string; now: number; until: number }): Promise<boolean> {
      const { numUpdatedRows } = await accounts
        .updating({ accountId, version, state: "active" })
        .set({ lockedBy: lock.by, lockedUntil: lock.until })
        .where((eb) => eb.or([eb("lockedUntil", "is", null), eb("lockedUntil", "<=", lock.now)]))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** Stores the lock holder's new tokens and releases the lock. False when the caller no longer holds it. */
    async putLocked(
      accountId: string,
      lockedBy: string,
      tokens: Pick<AccountRecord, "sealed" | "expiresAt">,
    ): Promise<boolean> {
      const { numUpdatedRows } = await accounts
        .updating({ accountId, lockedBy })
        .set((eb) => ({ ...tokens, ...free, version: eb("version", "+", 1) }))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async unlock(accountId: string, lockedBy: string): Promise<void> {
      await accounts.update({ accountId, lockedBy }, free);
    },

    /** Puts another envelope over the same tokens, unless they were replaced meanwhile. */
    async reseal(accountId: string, before: string, after: string): Promise<void> {
      await accounts.update({ accountId, sealed: before }, { sealed: after });
    },

    /** Distrusts what accounts said until they confirm it again; every check is due now. */
    async doubtAll(now: number): Promise<void> {
      const rows = await accounts
        .updating({ state: "active" })
        .set({ dueAt: now, tries: 0, confirmedAt: 0 })
        .returning("accountId")
        .execute();
      const identities = inWorkspace(sql, workspaceId, IDENTITIES);
      for (const { accountId } of rows) await identities.update({ connectorId: accountId }, { toldAt: 0 });
    },

    async remove(accountId: string): Promise<void> {
      await accounts.remove({ accountId });
    },
  };
}

/** Redirects to providers, and accounts due for a check, across workspaces. */
// Raw: a flow is found by its hash, before its workspace is known, and swept across workspaces.
export function makeAccountFlowStore(sql: SqlHandles) {
  return {
    async insert(flow: AccountFlowRecord): Promise<void> {
      await sql.write.insertInto("account_flows").values(flow).execute();
    },

    async find(flowHash: string, stage: AccountFlowRecord["stage"]): Promise<AccountFlowRecord | undefined> {
      const row = await sql.read
        .selectFrom("account_flows")
        .selectAll()
        .where("flowHash", "=", flowHash)
        .where("stage", "=", stage)
        .executeTakeFirst();
      return row && ACCOUNT_FLOWS.read(row);
    },

    /** Takes the flow out if it hasn't expired; exactly one caller gets it. */
    async take(
      flowHash: string,
      stage: AccountFlowRecord["stage"],
      now: number,
    ): Promise<AccountFlowRecord | undefined> {
      const row = await sql.write
        .deleteFrom("account_flows")
        .where("flowHash", "=", flowHash)
        .where("stage", "=", stage)
        .where("expiresAt", ">", now)
        .returningAll()
        .executeTakeFirst();
      return row && ACCOUNT_FLOWS.read(row);
    },

    async remove(flowHash: string): Promise<void> {
      await sql.write.deleteFrom("account_flows").where("flowHash", "=", flowHash).execute();
    },

    /** Deletes what has expired, but for flows with tokens: those are to be revoked first. */
    async sweep(now: number): Promise<void> {
      await sql.write
        .deleteFrom("account_flows")
        .where("expiresAt", "<=", now)
        .where("stage", "not in", STAGES_WITH_TOKENS)
        .execute();
    },

    /** Flows with tokens that can no longer be confirmed. */
    async listLapsed(now: number, limit: number): Promise<Pick<AccountFlowRecord, "workspaceId" | "flowHash">[]> {
      return sql.read
        .selectFrom("account_flows")
        .select(["workspaceId", "flowHash"])
        .where("expiresAt", "<=", now)
        .where("stage", "in", STAGES_WITH_TOKENS)
        .orderBy("expiresAt")
        .limit(limit)
        .execute();
    },

    async findLapsed(flowHash: string, now: number): Promise<AccountFlowRecord | undefined> {
      const row = await sql.read
        .selectFrom("account_flows")
        .selectAll()
        .where("flowHash", "=", flowHash)
        .where("expiresAt", "<=", now)
        .where("stage", "in", STAGES_WITH_TOKENS)
        .executeTakeFirst();
      return row && ACCOUNT_FLOWS.read(row);
    },

    /** Accounts due for a check at their provider, the longest due first. */
    async listDue(now: number, limit: number): Promise<{ workspaceId: string; accountId: string }[]> {
      return sql.read
        .selectFrom("provider_accounts")
        .select(["workspaceId", "accountId"])
        .where("dueAt", "<=", now)
        .orderBy("dueAt")
        .limit(limit)
        .execute();
    },
  };
}

/** Stages that hold the provider's tokens until the person confirms the account. */
const STAGES_WITH_TOKENS: FlowStage[] = ["found", "intent_found"];

/** Ends the flows of a person, or to a provider or connection. One with tokens lapses, so that they are revoked first. */
// Raw: the workspace isn't part of a flow's key: `whose` names it.
export async function endFlows(
  sql: SqlHandles,
  whose: { workspaceId: string } & ({ userId: string } | { providerId: string }),
): Promise<void> {
  await sql.write
    .updateTable("account_flows")
    .set({ expiresAt: 0 })
    .where((eb) => eb.and(whose))
    .where("stage", "in", STAGES_WITH_TOKENS)
    .execute();
  await sql.write
    .deleteFrom("account_flows")
    .where((eb) => eb.and(whose))
    .where("stage", "not in", STAGES_WITH_TOKENS)
    .execute();
}

/** Ends the accounts of a member who leaves; their tokens are revoked as soon as possible. Source: S13. */
export async function endAccountsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
): Promise<void> {
  const rows = await inWorkspace(sql, workspaceId, PROVIDER_ACCOUNTS)
    .updating({ userId })
    .set({ state: "ended", stateReason: null, dueAt: at, tries: 0 })
    .returning("accountId")
    .execute();
  await endFlows(sql, { workspaceId, userId });
  const accountIds = rows.map(({ accountId }) => accountId);
  await inWorkspace(sql, workspaceId, IDENTITIES).deleting().where("connectorId", "in", accountIds).execute();
}
