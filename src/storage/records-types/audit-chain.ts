import type { AuditRow } from "./audit.ts";

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
    at: at.toISOString(),
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
  if (value instanceof Date) return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
