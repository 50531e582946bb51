import { type Selectable, sql as raw } from "kysely";
import { type AuditRecord, READ_ACTION, type AuditStore } from "#storage/records-types/audit.ts";
import { nextRow, NO_CHAIN, toAuditRow } from "#storage/audit-chain.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { AuditTable } from "#storage/schema.ts";
import type { AppendAuditArgs } from "#storage/writer/append-audit.ts";

/** Written out, not as a parameter: only so the partial index is found. */
const IS_ACT = raw<boolean>`"action" <> ${raw.lit(READ_ACTION)}`;

function toRecord(row: Selectable<AuditTable>): AuditRecord {
  const { workspaceId: _workspace, previousHash: _previous, hash: _hash, ...record } = toAuditRow(row);
  return record;
}

/** The audit rows of one workspace; rows are only ever added, and swept from the beginning. */
export function makeAuditStore(sql: SqlHandles, workspaceId: string): AuditStore {
  return {
    async append(record) {
      // One writer at a time, and a transaction holds it: the next number is nobody else's.
      const end = await sql.write
        .selectFrom("audit")
        .select(["seq", "hash"])
        .where("workspaceId", "=", workspaceId)
        .orderBy("seq", "desc")
        .limit(1)
        .executeTakeFirst();
      await sql.write
        .insertInto("audit")
        .values(nextRow(workspaceId, end ?? NO_CHAIN, record))
        .execute();
    },

    async appendMany(records) {
      if (!sql.writer) throw new Error("Rows are appended in groups outside transactions only.");
      const args: AppendAuditArgs = { workspaceId, records };
      await sql.writer.call("appendAudit", args, "batch");
    },

    async list({ limit, before, action, userId, credential, since, until }) {
      let query = sql.read.selectFrom("audit").selectAll().where("workspaceId", "=", workspaceId);
      if (before !== undefined) query = query.where("seq", "<", before);
      query = action === undefined ? query.where(IS_ACT) : query.where("action", "=", action);
      if (userId !== undefined) query = query.where("actorUserId", "=", userId);
      if (credential !== undefined) query = query.where("credential", "=", credential);
      if (since !== undefined) query = query.where("at", ">=", since.getTime());
      if (until !== undefined) query = query.where("at", "<", until.getTime());
      return (await query.orderBy("seq", "desc").limit(limit).execute()).map(toRecord);
    },

    async listByTarget(targetIds, { actions, since, before, limit }) {
      if (targetIds.length === 0) return [];
      let query = sql.read
        .selectFrom("audit")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("targetId", "in", targetIds)
        .where(IS_ACT)
        .where("action", "in", actions)
        .where("at", ">=", since.getTime());
      if (before !== undefined) query = query.where("seq", "<", before);
      return (await query.orderBy("seq", "desc").limit(limit).execute()).map(toRecord);
    },

    async readChain({ after, limit, since }) {
      let query = sql.read
        .selectFrom("audit")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("seq", ">", after);
      if (since !== undefined) query = query.where("at", ">=", since.getTime());
      return (await query.orderBy("seq").limit(limit).execute()).map(toAuditRow);
    },

    async sweep(before, limit) {
      const oldest = sql.read.selectFrom("audit").select(["seq", "at"]).where("workspaceId", "=", workspaceId);
      const rows = await oldest
        .orderBy("seq")
        .limit(limit + 1)
        .execute();
      // The last row read stays: it is the newest, or there are more to come.
      const kept = rows.findIndex((row, place) => row.at >= before.getTime() || place === rows.length - 1);
      const last = kept <= 0 ? undefined : rows[kept - 1];
      if (last === undefined) return 0;
      await sql.write.deleteFrom("audit").where("workspaceId", "=", workspaceId).where("seq", "<=", last.seq).execute();
      return kept;
    },
  };
}
