import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { isoOf } from "#core/instant.ts";
import type { AuditTable } from "./schema.ts";

export interface AuditRecord {
  /** Counts up per workspace, without gaps. */
  seq: number;
  /** Epoch milliseconds. */
  at: number;
  actorUserId: string | null;
  credential: string;
  action: string;
  targetType: string;
  targetId: string;
  outcome: "done" | "refused";
  ip: string | null;
  requestId: string | null;
  details: Record<string, unknown>;
}

/** A row with its place in the chain. Both hashes are null in rows from before there was one. */
export interface AuditRow extends AuditRecord {
  workspaceId: string;
  /** The `hash` of the row before; null in the first row of the chain. */
  previousHash: string | null;
  /** SHA-256 of `chainText`, hex. */
  hash: string | null;
}

/** What a row says before it has its place. */
export type NewAuditRecord = Omit<AuditRecord, "seq">;

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
  return { ...row, details, hash };
}

export function toAuditRow(row: Selectable<AuditTable>): AuditRow {
  return {
    workspaceId: row.workspaceId,
    seq: row.seq,
    at: row.at,
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

/**
 * What an audit row's hash is made of: the row as the export shows it, without `hash`, as JSON with the keys of every
 * object in alphabetical order and no white space (RFC 8785 for the values that stand in rows). `previousHash` is part
 * of it, so that each row vouches for all before it.
 */
export function chainText(row: Omit<AuditRow, "hash">): string {
  const { workspaceId, seq, at, actorUserId, credential, action, targetType, targetId, outcome } = row;
  const { ip, requestId, details, previousHash } = row;
  return canonicalJson({
    workspaceId,
    seq,
    at: isoOf(at),
    actorUserId,
    credential,
    action,
    targetType,
    targetId,
    outcome,
    ip,
    requestId,
    details,
    previousHash,
  });
}

/** JSON with sorted keys and without white space; what JSON does not know (`undefined`) is left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
