import { type Selectable, sql as raw } from "kysely";
import {
  type AuditRecord,
  type AuditRow,
  type NewAuditRecord,
  nextRow,
  NO_CHAIN,
  toAuditRow,
  type AppendAuditArgs,
} from "#storage/audit-chain.ts";
import { callWriter, type SqlHandles } from "#storage/handles.ts";
import { READ_ACTION, type JoinReadsArgs, JOINED_AT_ONCE } from "#storage/read-rows.ts";
import type { AuditTable } from "#storage/schema.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { AUDIT } from "#storage/tables/access.ts";

export interface AuditListOptions {
  limit: number;
  /** Only rows with a `seq` below this one. */
  before?: number;
  /** Only rows with exactly this action. Without it, all rows but reads, which far outnumber the others. */
  action?: string | undefined;
  userId?: string | undefined;
  credential?: string;
  /** Only rows from this time on, in epoch milliseconds like `until`. */
  since?: number;
  /** Only rows before this time. */
  until?: number;
}

export type AuditStore = ReturnType<typeof makeAuditStore>;

/** A literal, not a parameter, because SQLite would otherwise not use the partial index. */
const IS_ACT = raw<boolean>`"action" <> ${raw.lit(READ_ACTION)}`;

function toRecord(row: Selectable<AuditTable>): AuditRecord {
  const { workspaceId: _workspace, previousHash: _previous, hash: _hash, ...record } = toAuditRow(row);
  return record;
}

/** Reads and writes the audit rows of one workspace. Rows are only ever added, and swept from the beginning. */
export function makeAuditStore(sql: SqlHandles, workspaceId: string) {
  const audit = inWorkspace(sql, workspaceId, AUDIT);
  return {
    /** Appends a row to the chain. Call it in the transaction of the act. */
    async append(record: NewAuditRecord): Promise<void> {
      // There is one writer at a time, and a transaction holds it, so no one else can take the next number.
      const end = await audit.select().select(["seq", "hash"]).orderBy("seq", "desc").limit(1).executeTakeFirst();
      // Raw: a row is stored as it was hashed.
      await sql.write
        .insertInto("audit")
        .values(nextRow(workspaceId, end ?? NO_CHAIN, record))
        .execute();
    },

    /**
     * Appends rows in a separate transaction, after the requests that wait for an answer. Reads are then on disk and
     * wait for `joinReads`. Not inside a transaction.
     */
    async appendMany(records: readonly NewAuditRecord[]): Promise<void> {
      const args: AppendAuditArgs = { workspaceId, records };
      await callWriter(sql, "appendAudit", args);
    },

    /** Joins the waiting reads and appends them to the chain. Not inside a transaction. */
    async joinReads(): Promise<void> {
      const args: JoinReadsArgs = { workspaceId };
      while ((await callWriter<number>(sql, "joinReads", args)) >= JOINED_AT_ONCE);
    },

    /** Returns rows, newest first. */
    async list({ limit, before, action, userId, credential, since, until }: AuditListOptions): Promise<AuditRecord[]> {
      let query = audit.select().selectAll();
      if (before !== undefined) query = query.where("seq", "<", before);
      query = action === undefined ? query.where(IS_ACT) : query.where("action", "=", action);
      if (userId !== undefined) query = query.where("actorUserId", "=", userId);
      if (credential !== undefined) query = query.where("credential", "=", credential);
      if (since !== undefined) query = query.where("at", ">=", since);
      if (until !== undefined) query = query.where("at", "<", until);
      return (await query.orderBy("seq", "desc").limit(limit).execute()).map(toRecord);
    },

    /** Returns acts of these kinds on any of these targets, newest first. */
    async listByTarget(
      targetIds: readonly string[],
      { actions, since, before, limit }: { actions: readonly string[]; since: number; before?: number; limit: number },
    ): Promise<AuditRecord[]> {
      if (targetIds.length === 0) return [];
      let query = audit
        .select()
        .selectAll()
        .where("targetId", "in", targetIds)
        .where(IS_ACT)
        .where("action", "in", actions)
        .where("at", ">=", since);
      if (before !== undefined) query = query.where("seq", "<", before);
      return (await query.orderBy("seq", "desc").limit(limit).execute()).map(toRecord);
    },

    /** Returns rows of the chain after this `seq`, the oldest first. */
    async readChain({ after, limit, since }: { after: number; limit: number; since?: number }): Promise<AuditRow[]> {
      let query = audit.select().selectAll().where("seq", ">", after);
      if (since !== undefined) query = query.where("at", ">=", since);
      return (await query.orderBy("seq").limit(limit).execute()).map(toAuditRow);
    },

    /**
     * Deletes rows from before this time, at most `limit`, only from the beginning of the chain. The newest row stays,
     * because the next one continues from it.
     *
     * @returns how many were deleted; fewer than `limit` = nothing is left to delete
     */
    async sweep(before: number, limit: number): Promise<number> {
      const oldest = audit.select().select(["seq", "at"]);
      const rows = await oldest
        .orderBy("seq")
        .limit(limit + 1)
        .execute();
      // The last row that was read stays: either it is the newest, or more rows follow.
      const kept = rows.findIndex((row, place) => row.at >= before || place === rows.length - 1);
      const last = kept <= 0 ? undefined : rows[kept - 1];
      if (last === undefined) return 0;
      await audit.deleting().where("seq", "<=", last.seq).execute();
      return kept;
    },
  };
}
