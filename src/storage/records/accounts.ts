import type { Selectable } from "kysely";
import type { Principal } from "#core/principals.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { AccountFlowsTable, ProviderAccountsTable } from "#storage/schema.ts";

/** `ended`: nobody has it any more, and its tokens are to be revoked at the provider. */
export type AccountState = "active" | "needs_reauth" | "ended";
/** Connected at the provider, or by a token that the person made there. */
export type AccountWay = "oauth" | "token";

/** A person's own account at another service. Instants are epoch milliseconds. */
export interface AccountRecord {
  accountId: string;
  userId: string;
  providerId: string;
  /** The instance, as `normalizeBaseUrl` writes it. */
  baseUrl: string;
  /** Who they are there. */
  principal: Principal;
  label: string;
  login: string | null;
  scopes: readonly string[];
  way: AccountWay;
  /** The tokens, sealed by the vault. */
  sealed: string;
  /** Counts the tokens that it had. */
  version: number;
  expiresAt: number | null;
  state: AccountState;
  stateReason: string | null;
  /** When the provider last said who it is. */
  confirmedAt: number;
  /** When the provider is asked next; null = when somebody connects it again. */
  dueAt: number | null;
  /** Failed tries to ask since. */
  tries: number;
  createdAt: number;
}

export type AccountPatch = Partial<Omit<AccountRecord, "accountId" | "userId" | "providerId" | "createdAt">>;

/** Of an account; of a connection, whose ID stands for the provider then. */
export type FlowStage = "away" | "found" | "intent" | "intent_away" | "intent_found" | "elicitation";

/** A way to a provider, or what was found at its end. Instants are epoch milliseconds. */
export interface AccountFlowRecord {
  flowHash: string;
  workspaceId: string;
  userId: string;
  sessionId: string;
  providerId: string;
  stage: FlowStage;
  sealed: string;
  returnTo: string;
  createdAt: number;
  expiresAt: number;
}

/** People's own accounts at other services. */
export function makeAccountStore(sql: SqlHandles, workspaceId: string) {
  const some = () => sql.read.selectFrom("provider_accounts").selectAll().where("workspaceId", "=", workspaceId);
  const one = (accountId: string) =>
    sql.write
      .updateTable("provider_accounts")
      .where("workspaceId", "=", workspaceId)
      .where("accountId", "=", accountId);

  return {
    /** Ended ones too. */
    async find(accountId: string): Promise<AccountRecord | undefined> {
      const row = await some().where("accountId", "=", accountId).executeTakeFirst();
      return row && toRecord(row);
    },

    /** A person's, oldest first. */
    async listOf(userId: string): Promise<AccountRecord[]> {
      const rows = await some()
        .where("userId", "=", userId)
        .where("state", "!=", "ended")
        .orderBy("createdAt")
        .orderBy("accountId")
        .execute();
      return rows.map(toRecord);
    },

    /** Whose it is to be this user of a source. */
    async findByPrincipal(principal: Principal): Promise<AccountRecord | undefined> {
      const row = await some().where("principal", "=", principal).where("state", "!=", "ended").executeTakeFirst();
      return row && toRecord(row);
    },

    async insert({ scopes, ...account }: AccountRecord): Promise<void> {
      const free = { lockedBy: null, lockedUntil: null };
      await sql.write
        .insertInto("provider_accounts")
        .values({ workspaceId, ...account, ...free, scopes: JSON.stringify(scopes) })
        .execute();
    },

    /** Changes what the account is; other tokens raise its version. */
    /** Providers are asked of all who are connected. */
    async hasten(dueAt: number): Promise<void> {
      await sql.write
        .updateTable("provider_accounts")
        .set({ dueAt })
        .where("workspaceId", "=", workspaceId)
        .where("state", "=", "active")
        .where("dueAt", ">", dueAt)
        .execute();
    },

    async update(accountId: string, { scopes, ...patch }: AccountPatch): Promise<void> {
      await one(accountId)
        .set({ ...patch, ...(scopes && { scopes: JSON.stringify(scopes) }) })
        .execute();
    },

    /**
     * Lets one caller alone get new tokens, until it has put them or the time is up.
     *
     * @param version  of the tokens that are too old
     * @returns false when somebody else does, or there are other tokens by now
     */
    async lock(accountId: string, version: number, lock: { by: string; now: number; until: number }): Promise<boolean> {
      const { numUpdatedRows } = await one(accountId)
        .set({ lockedBy: lock.by, lockedUntil: lock.until })
        .where("version", "=", version)
        .where("state", "=", "active")
        .where((eb) => eb.or([eb("lockedUntil", "is", null), eb("lockedUntil", "<=", lock.now)]))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** Puts the tokens that the holder of the lock got, and gives the lock back. False when it is not its any more. */
    async putLocked(
      accountId: string,
      by: string,
      tokens: Pick<AccountRecord, "sealed" | "expiresAt">,
    ): Promise<boolean> {
      const { numUpdatedRows } = await one(accountId)
        .set((eb) => ({ ...tokens, version: eb("version", "+", 1), lockedBy: null, lockedUntil: null }))
        .where("lockedBy", "=", by)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async unlock(accountId: string, by: string): Promise<void> {
      await one(accountId).set({ lockedBy: null, lockedUntil: null }).where("lockedBy", "=", by).execute();
    },

    /** Puts another envelope over the same tokens, unless they were replaced meanwhile. */
    async reseal(accountId: string, before: string, after: string): Promise<void> {
      await one(accountId).set({ sealed: after }).where("sealed", "=", before).execute();
    },

    /** What accounts said is not believed until they say it again; each is asked now. */
    async doubtAll(now: number): Promise<void> {
      const rows = await sql.write
        .updateTable("provider_accounts")
        .set({ dueAt: now, tries: 0, confirmedAt: 0 })
        .where("workspaceId", "=", workspaceId)
        .where("state", "=", "active")
        .returning("accountId")
        .execute();
      for (const { accountId } of rows) {
        await sql.write
          .updateTable("identities")
          .set({ toldAt: 0 })
          .where("workspaceId", "=", workspaceId)
          .where("connectorId", "=", accountId)
          .execute();
      }
    },

    async remove(accountId: string): Promise<void> {
      await sql.write
        .deleteFrom("provider_accounts")
        .where("workspaceId", "=", workspaceId)
        .where("accountId", "=", accountId)
        .execute();
    },
  };
}

/** Ways to providers, and accounts that are due, across workspaces. */
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
      return row && toFlow(row);
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
      return row && toFlow(row);
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

    /** Flows with tokens that nobody can confirm any more. */
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
      return row && toFlow(row);
    },

    /** Accounts whose provider is to be asked now, the longest due first. */
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

/** What was found at a provider, with the tokens that it gave, until the person says that it is them. */
const STAGES_WITH_TOKENS: FlowStage[] = ["found", "intent_found"];

/** Ends the flows of a person, or to a provider or connection. One with tokens lapses, so that they are revoked first. */
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

/** A member leaves: nobody has their accounts any more, and the tokens are revoked as soon as may be. Source: S13. */
export async function endAccountsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
): Promise<void> {
  const rows = await sql.write
    .updateTable("provider_accounts")
    .set({ state: "ended", stateReason: null, dueAt: at, tries: 0 })
    .where("workspaceId", "=", workspaceId)
    .where("userId", "=", userId)
    .returning("accountId")
    .execute();
  await endFlows(sql, { workspaceId, userId });
  await sql.write
    .deleteFrom("identities")
    .where("workspaceId", "=", workspaceId)
    .where(
      "connectorId",
      "in",
      rows.map(({ accountId }) => accountId),
    )
    .execute();
}

function toRecord(row: Selectable<ProviderAccountsTable>): AccountRecord {
  const { workspaceId: _workspaceId, lockedBy: _lockedBy, lockedUntil: _lockedUntil, scopes, ...rest } = row;
  return {
    ...rest,
    // All three are written from these types only.
    scopes: JSON.parse(scopes) as string[],
    way: row.way as AccountWay,
    state: row.state as AccountState,
  };
}

function toFlow(row: Selectable<AccountFlowsTable>): AccountFlowRecord {
  // Written from this union only.
  return { ...row, stage: row.stage as AccountFlowRecord["stage"] };
}
