import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { isoOf } from "#core/instant.ts";
import type { AuditTable } from "./schema.ts";

export interface AuditRecord {
  /** Counts up in each workspace, without gaps. */
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

/**
 * A row with its position in the chain. Both hashes are null in rows that were written before the chain was introduced.
 */
export interface AuditRow extends AuditRecord {
  workspaceId: string;
  /** The `hash` of the previous row; null in the first row of the chain. */
  previousHash: string | null;
  /** SHA-256 of `chainText`, in hex. */
  hash: string | null;
}

/** The content of a row that has no position in the chain yet. */
export type NewAuditRecord = Omit<AuditRecord, "seq">;

/** Arguments that append rows to the end of a workspace's chain. */
export interface AppendAuditArgs {
  workspaceId: string;
  records: readonly NewAuditRecord[];
}

/** The end of a workspace's chain. The chain of a new workspace is empty. */
export interface ChainEnd {
  seq: number;
  hash: string | null;
}

export const NO_CHAIN: ChainEnd = { seq: 0, hash: null };

/** Returns the columns of the next row in the chain. */
export function nextRow(workspaceId: string, end: ChainEnd, record: NewAuditRecord): Selectable<AuditTable> {
  const details = canonicalJson(record.details);
  const row = {
    ...record,
    // The details as they will be read back: values that JSON can't represent are dropped.
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
    // Only `nextRow` writes this column.
    details: JSON.parse(row.details) as Record<string, unknown>,
    previousHash: row.previousHash,
    hash: row.hash,
  };
}

/**
 * Returns the text that an audit row's hash covers: the row as in the export, without `hash`, as JSON with the keys of
 * every object in alphabetical order and no white space (RFC 8785 for the values that rows contain). The text includes
 * `previousHash`, so each row vouches for all rows before it.
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

/** Returns JSON with sorted keys and without white space. Omits values that JSON can't represent (`undefined`). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
