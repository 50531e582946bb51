import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { canonicalJson, chainText } from "./records-types/audit-chain.ts";
import type { AuditRow, NewAuditRecord } from "./records-types/audit.ts";
import type { AuditTable } from "./schema.ts";
import { toDate } from "./times.ts";

/** The end of a workspace's chain; a fresh one begins at nothing. */
export interface ChainEnd {
  seq: number;
  hash: string | null;
}

export const NO_CHAIN: ChainEnd = { seq: 0, hash: null };

/** The columns of the row that comes next. */
export function nextRow(workspaceId: string, end: ChainEnd, record: NewAuditRecord): Selectable<AuditTable> {
  const details = canonicalJson(record.details);
  const row = {
    ...record,
    // As it will be read again: what JSON does not know is gone.
    details: JSON.parse(details) as Record<string, unknown>,
    workspaceId,
    seq: end.seq + 1,
    previousHash: end.hash,
  };
  const hash = createHash("sha256").update(chainText(row)).digest("hex");
  return { ...row, at: record.at.getTime(), details, hash };
}

export function toAuditRow(row: Selectable<AuditTable>): AuditRow {
  return {
    workspaceId: row.workspaceId,
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
    // Written by `nextRow` only.
    details: JSON.parse(row.details) as Record<string, unknown>,
    previousHash: row.previousHash,
    hash: row.hash,
  };
}
