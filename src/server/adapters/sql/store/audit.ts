import type { Selectable } from "kysely";
import type { AuditRecord, AuditStore } from "#server/ports/store/audit.ts";
import type { SqlHandles } from "../handles.ts";
import type { AuditTable } from "../schema.ts";
import { toDate } from "../times.ts";

/** The audit rows of one workspace; rows are only ever added. */
export function makeAuditStore(sql: SqlHandles, workspaceId: string): AuditStore {
  return {
    async append(record) {
      await sql.write
        .insertInto("audit")
        .values((eb) => ({
          ...record,
          workspaceId,
          // One writer at a time: the next number is nobody else's.
          seq: eb
            .selectFrom("audit as earlier")
            .select((inner) => inner(inner.fn.coalesce(inner.fn.max("earlier.seq"), inner.lit(0)), "+", 1).as("next"))
            .where("earlier.workspaceId", "=", workspaceId),
          at: record.at.getTime(),
          details: JSON.stringify(record.details),
        }))
        .execute();
    },

    async list({ limit, before, action, userId }) {
      let query = sql.read.selectFrom("audit").selectAll().where("workspaceId", "=", workspaceId);
      if (before !== undefined) query = query.where("seq", "<", before);
      if (action !== undefined) query = query.where("action", "=", action);
      if (userId !== undefined) query = query.where("actorUserId", "=", userId);
      const rows = await query.orderBy("seq", "desc").limit(limit).execute();
      return rows.map(toRecord);
    },
  };
}

function toRecord(row: Selectable<AuditTable>): AuditRecord {
  return {
    seq: row.seq,
    at: toDate(row.at),
    actorUserId: row.actorUserId,
    credential: row.credential,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    outcome: row.outcome === "refused" ? "refused" : "done",
    ip: row.ip,
    requestId: row.requestId,
    // Written by `append` only.
    details: JSON.parse(row.details) as Record<string, unknown>,
  };
}
