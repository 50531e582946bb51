import { table, words } from "./table.ts";

const { text, integer, instant, json, nullable, hidden } = words;

/** Who belongs to a group principal, as its reporter said. Members may be groups themselves. */
export const MEMBERSHIPS = table("memberships", ["workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy"], {
  groupPrincipal: text,
  memberPrincipal: text,
  /** `kb` for the service's own groups, else the connector that reported the row. */
  reportedBy: text,
});

/** Counters of a workspace's permission model. */
export const ACCESS_STATE = table("access_state", ["workspaceId"], {
  /** Rises with every change to memberships, roles, connector access or state. */
  epoch: integer,
  nextListId: integer,
  nextAclId: integer,
});

export const ACCESS_LISTS = table("access_lists", ["workspaceId", "listId"], {
  listId: integer,
  /** Sorted. */
  principals: json<string[]>(),
  /** Lookup key; see `listDigest`. */
  digest: integer,
});

export const ACCESSES = table("accesses", ["workspaceId", "aclId"], {
  /** 0 (no one) is never stored. */
  aclId: integer,
  /** Ascending list ids, comma-joined. */
  listIds: text,
});

/** The audit. A row is hashed as it is stored: see `storage/audit-chain.ts`. */
export const AUDIT = table("audit", ["workspaceId", "seq"], {
  /** Counts up per workspace. */
  seq: integer,
  at: instant,
  actorUserId: nullable(text),
  /** `session:ses_…`, `pat:tok_…`, `system`. */
  credential: text,
  action: text,
  targetType: text,
  targetId: text,
  outcome: text,
  ip: nullable(text),
  requestId: nullable(text),
  /** JSON; no secrets, no titles. */
  details: text,
  /** The `hash` of the row before; null in rows from before the chain. */
  previousHash: hidden(nullable(text)),
  /** SHA-256 over the previous hash and this row, hex. */
  hash: hidden(nullable(text)),
});
